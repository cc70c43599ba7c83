/* SPDX-License-Identifier: Apache-2.0 */
/* Predicts the memory of a run, and compares it with the limit. */
#ifndef GBSI_DRIVE_RUN_MEMORY_H
#define GBSI_DRIVE_RUN_MEMORY_H

#include "chains/run.h"
#include "draw/surroundings.h"

/* Makes the estimate that all chains write to. If ranks share the chains, each rank has a part of
 * the estimate. */
gbs_status gbsi_run_new_estimate(const gbsi_task *task, const gbsi_engine *engine,
                                 gbsi_estimate **estimate, gbs_error *err);

/* Sets run->memory, and the prediction in the report, from the compiled plan. */
gbs_status gbsi_run_predict(gbs_run *run, gbs_error *err);

/* The largest number of bytes that a drawing method would take in this run, with the given options
 * instead of the run's own. @param room number of bytes available for the drawing method. @param
 * around neighbours of each variable in the plan; NULL: they are computed if needed. */
gbs_status gbsi_run_draw_bytes(const gbs_ranks *spread, const gbsi_engine *engine,
                               const gbs_run_options *options, uint64_t room,
                               const gbsi_surroundings *around, uint64_t *bytes, gbs_error *err);

/* Each function fails with GBS_ERR_LIMIT and the number of bytes if the run certainly does not fit
 * the limit. The first function is called when only the model is known. The second function is
 * called before compilation, when the sampled part is known. The third function is called when the
 * memory has been predicted. */
gbs_status gbsi_run_check_model(const gbs_run_options *options, const gbsi_problem *problem,
                                const gbsi_run_budget *budget, gbs_error *err);
gbs_status gbsi_run_check_part(const gbsi_task *task, const gbsi_estimates *estimates,
                               const gbsi_run_budget *budget, gbs_error *err);
gbs_status gbsi_run_check(const gbs_run_options *options, const gbsi_run_memory *memory,
                          const gbsi_run_budget *budget, gbs_error *err);

#endif
