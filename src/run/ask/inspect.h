/* SPDX-License-Identifier: Apache-2.0 */
/* The longer computations of gbs_model_info() and gbs_model_draw_sizes(); used only in src/run. */
#ifndef GBSI_ASK_INSPECT_H
#define GBSI_ASK_INSPECT_H

#include "chains/run.h"
#include "gibbsite/info.h"
#include "gibbsite/log_z.h"

/* Reports whether exact inference fits the limits. @param task task of a prepared run. */
gbs_status gbsi_inspect_elimination(const gbsi_task *task, gbs_info *info, gbs_error *err);
/* Reports row sums of influence bounds. */
gbs_status gbsi_inspect_influence(const gbsi_graph *graph, gbs_info *info, gbs_error *err);
/* Reports the memory that each drawing method would need, for a prepared run with variables to
 * sample. @param sizes zeroed. */
gbs_status gbsi_inspect_draws(const gbs_run_options *asked, const gbs_ranks *spread,
                              const gbsi_engine *engine, const gbsi_run_memory *memory,
                              gbs_draw_sizes *sizes, gbs_error *err);

/* The sampled part of ln Z, by ladders of temperatures or by annealing: gibbsite/log_z.h. */

/* Estimate ln Z of the sampled part by ladders or by annealing, and set the fields of the report
 * that differ between these methods. The run's memory must have been allocated. @param log_exact ln
 * Z of the components that were summed exactly. */
gbs_status gbsi_log_z_by_ladders(gbs_run *run, gbsi_drive *drive, double log_exact,
                                 gbs_log_z_report *report, gbs_error *err);
gbs_status gbsi_log_z_by_annealing(gbs_run *run, gbsi_drive *drive, double log_exact,
                                   gbs_log_z_report *report, gbs_error *err);

#endif
