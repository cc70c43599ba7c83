/* SPDX-License-Identifier: Apache-2.0 */
/* The longer computations of gbs_model_info() and gbs_model_draw_sizes(): private to src/run. */
#ifndef GBSI_ASK_INSPECT_H
#define GBSI_ASK_INSPECT_H

#include "chains/run.h"
#include "gibbsite/info.h"
#include "gibbsite/log_z.h"

/* Whether exact inference fits. @param run prepared. */
gbs_status gbsi_inspect_elimination(const gbsi_task *task, gbs_info *info, gbs_error *err);
/* Row sums of influence bounds. */
gbs_status gbsi_inspect_influence(const gbsi_graph *graph, gbs_info *info, gbs_error *err);
/* The memory that each kind of draw would need. @param run prepared, with something to sample.
 * @param sizes zeroed. */
gbs_status gbsi_inspect_draws(const gbs_run_options *asked, const gbs_ranks *spread,
                              const gbsi_engine *engine, const gbsi_run_memory *memory,
                              gbs_draw_sizes *sizes, gbs_error *err);

/* The sampled part of ln Z, by ladders of temperatures or by annealing: gibbsite/log_z.h. */

/* Estimate ln Z by ladders or by annealing, and fill the fields of the report in which the two
 * differ. The run's memory must have been allocated.
 * @param log_exact ln Z of the components that were summed exactly. */
gbs_status gbsi_log_z_by_ladders(gbs_run *run, gbsi_drive *drive, double log_exact,
                                 gbs_log_z_report *report, gbs_error *err);
gbs_status gbsi_log_z_by_annealing(gbs_run *run, gbsi_drive *drive, double log_exact,
                                   gbs_log_z_report *report, gbs_error *err);

#endif
