/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a run that is answered exactly. */
#ifndef GBSI_CHOOSE_EXACT_PART_H
#define GBSI_CHOOSE_EXACT_PART_H

#include "chains/run.h"
#include "cutset/cutset.h"
#include "trees/exact_plan.h"

/* The limits of junction trees, given the memory limit, if everything is to be answered by them. */
gbsi_exact_limits gbsi_run_exact_limits(const gbsi_task *task);

/* The bytes that exact answers of `auto` may take: from --memory-limit or, without it, 4 GiB. */
uint64_t gbsi_run_auto_bytes(const gbsi_task *task);

/* The methods that answer components exactly; a member is NULL if no component uses the method. */
typedef struct gbsi_exact_forms {
    gbsi_tree *tree;
    gbsi_sparse *sparse;
    gbsi_cutset *cutset;
} gbsi_exact_forms;

/* Chooses how `auto` answers components exactly: by trees, by sparse tables if these are quicker or
 * no tree is small enough, and by cutsets for components that have neither. Samples cannot be drawn
 * from cutsets.
 *
 * @param take  [components] out: 1 if a component has one of them.
 * @param forms out; the caller's to free, also after a failure. */
gbs_status gbsi_run_auto_forms(const gbsi_task *task, gbsi_exact_plan *plan, uint8_t *take,
                               gbsi_exact_forms *forms, gbs_error *err);

/* Fills run->exact: `auto` gives a tree, else a cutset, to as many components as its limits allow,
 * `exact` to all of them or fails with the figure. `auto` enumerates components that have no tree
 * but few states, unless a most probable state is asked for: then trees are made, and maximised
 * over. */
gbs_status gbsi_run_choose_exact(gbsi_task *task, gbsi_report *report, gbs_error *err);

/* Marginals of the exact components, if there are any, into run->exact_p; the trees are then freed
 * unless samples are wanted.
 * @return GBS_ERR_IMPOSSIBLE if no state has positive weight. */
gbs_status gbsi_run_exactly(gbsi_task *task, gbsi_sampling *sampling, gbsi_report *report,
                            gbsi_drive *drive, gbs_error *err);

/* ln of the sum over all states of the exact components, log_constant left out.
 * @return as gbsi_run_exactly(). */
gbs_status gbsi_run_exact_log_z(gbsi_task *task, gbsi_engine *engine, gbsi_estimates *estimates,
                                gbsi_drive *drive, double *log_z, gbs_error *err);

/* The data that are kept to draw samples from: the tables or, if those of all trees do not fit,
 * only the messages. */
gbsi_keep gbsi_run_draw_keep(const gbsi_task *task);

/* The most probable states of the variables of the exact components.
 *
 * @param state [model variables] out; others are left alone.
 * @return as gbsi_run_exactly(). */
gbs_status gbsi_run_exact_map(const gbs_run_options *options, const gbsi_problem *problem,
                              gbsi_engine *engine, gbsi_drive *drive, uint32_t *state,
                              gbs_error *err);

/* Draws exact samples in a run that is exact as a whole, as many as sweeps and chains ask for.
 * @return GBS_ERR_LIMIT where the tables of all trees at once do not fit. */
gbs_status gbsi_run_sample_exactly(const gbsi_task *task, gbsi_engine *engine, gbsi_report *report,
                                   gbsi_drive *drive, gbs_error *err);

#endif
