/* SPDX-License-Identifier: Apache-2.0 */
/* Predicts the memory of a run, and compares it with the limit. */
#ifndef GBSI_DRIVE_RUN_MEMORY_H
#define GBSI_DRIVE_RUN_MEMORY_H

#include "chains/run.h"
#include "draw/surroundings.h"

/* Makes the estimate of all chains. If ranks share the chains, each rank has a part of the
 * estimate. */
gbs_status gbsi_run_new_estimate(const gbsi_task *task, const gbsi_engine *engine,
                                 gbsi_estimate **estimate, gbs_error *err);

/* Sets run->memory and the report's figure from the compiled plan. */
gbs_status gbsi_run_predict(gbs_run *run, gbs_error *err);

/* The largest number of bytes that a draw would take in this run, with the given options instead of
 * the run's own. @param room bytes available for the draw. @param around surroundings of the plan;
 * NULL: they are computed if needed. */
gbs_status gbsi_run_draw_bytes(const gbs_ranks *spread, const gbsi_engine *engine,
                               const gbs_run_options *options, uint64_t room,
                               const gbsi_surroundings *around, uint64_t *bytes, gbs_error *err);

/* Each function fails with GBS_ERR_LIMIT and the figure if the run certainly does not fit. The
 * first function knows only the model. The second function knows the sampled part before
 * compilation. The third function knows the prediction. */
gbs_status gbsi_run_check_model(const gbs_run_options *options, const gbsi_problem *problem,
                                const gbsi_run_budget *budget, gbs_error *err);
gbs_status gbsi_run_check_part(const gbsi_task *task, const gbsi_estimates *estimates,
                               const gbsi_run_budget *budget, gbs_error *err);
gbs_status gbsi_run_check(const gbs_run_options *options, const gbsi_run_memory *memory,
                          const gbsi_run_budget *budget, gbs_error *err);

#endif
