/* SPDX-License-Identifier: Apache-2.0 */
/* The components of a run that are answered exactly. */
#ifndef GBSI_CHOOSE_EXACT_PART_H
#define GBSI_CHOOSE_EXACT_PART_H

#include "chains/run.h"
#include "codewords/codewords.h"
#include "cutset/cutset.h"
#include "trees/exact_plan.h"

/* The limits of junction trees that follow from the memory limit, for a run in which junction trees
 * must answer all components. */
gbsi_exact_limits gbsi_run_exact_limits(const gbsi_task *task);

/* The number of bytes that exact answers of `auto` may take. This number follows from
 * --memory-limit or, without this option, from 4 GiB. */
uint64_t gbsi_run_auto_bytes(const gbsi_task *task);

/* The methods that answer components exactly; a member is NULL if no component uses the method. */
typedef struct gbsi_exact_forms {
    gbsi_tree *tree;
    gbsi_codewords *codewords;
    gbsi_sparse *sparse;
    gbsi_cutset *cutset;
} gbsi_exact_forms;

/* Chooses how `auto` answers components exactly. The first choice is trees. Codewords
 * or sparse tables replace a tree if they are quicker, or if no tree is small enough; components
 * without any of these get cutsets. Samples cannot be drawn from codewords and cutsets.
 * @param take [components] out: 1 if the component is answered exactly.
 * @param forms out; the caller must free them, also after a failure. */
gbs_status gbsi_run_auto_forms(const gbsi_task *task, gbsi_exact_plan *plan, uint8_t *take,
                               gbsi_exact_forms *forms, gbs_error *err);

/* Chooses the exact components, and sets task->problem.exact. `auto` gives a tree, or else
 * codewords, sparse tables or a cutset, to as many components as its limits allow. `exact` gives
 * one of these to all components, or fails with the size that exceeds the limit. `auto` enumerates
 * components that have no tree but few states. If the run is for a most probable state, these
 * components get trees instead. */
gbs_status gbsi_run_choose_exact(gbsi_task *task, gbsi_report *report, gbs_error *err);

/* Computes the marginals of the exact components, if there are any, into estimates.exact_p. The
 * trees are then freed unless the run gives draws. @return GBS_ERR_IMPOSSIBLE if no state has
 * positive weight. */
gbs_status gbsi_run_exactly(gbsi_task *task, gbsi_sampling *sampling, gbsi_report *report,
                            gbsi_drive *drive, gbs_error *err);

/* Computes ln of the sum over all states of the exact components. The sum leaves out log_constant.
 * @return as gbsi_run_exactly(). */
gbs_status gbsi_run_exact_log_z(gbsi_task *task, gbsi_engine *engine, gbsi_estimates *estimates,
                                gbsi_drive *drive, double *log_z, gbs_error *err);

/* The data that are kept for drawing samples: the tables of all trees, or only the messages between
 * cliques if the tables do not fit. */
gbsi_keep gbsi_run_draw_keep(const gbsi_task *task);

/* Finds the most probable states of the variables of the exact components. @param state [model
 * variables] out; entries of other variables are not changed. @return as gbsi_run_exactly(). */
gbs_status gbsi_run_exact_map(const gbs_run_options *options, const gbsi_problem *problem,
                              gbsi_engine *engine, gbsi_drive *drive, uint32_t *state,
                              gbs_error *err);

/* Draws exact samples in a run whose components are all exact. The number of samples is the number
 * of sweeps times the number of chains. @return GBS_ERR_LIMIT if the tables of all trees together
 * do not fit. */
gbs_status gbsi_run_sample_exactly(const gbsi_task *task, gbsi_engine *engine, gbsi_report *report,
                                   gbsi_drive *drive, gbs_error *err);

#endif
