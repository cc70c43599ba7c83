/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the tables of several runners share, see chains/runner.h. */
#ifndef GBSI_DRIVE_RUNNERS_H
#define GBSI_DRIVE_RUNNERS_H

#include "base/digest.h"
#include "chains/run.h"

/* tempered.c: the runner that replaces plain chains that do not agree. */
extern const gbsi_runner gbsi_runner_ladders;

/* run_new.c and run_of_share.c: do the work of gbs_run_new_with() for a model, and for a share. */
gbs_status gbsi_run_new_of_model(const gbs_run_setup *setup, gbs_run **out, gbs_error *err);
gbs_status gbsi_run_new_of_share(const gbs_run_setup *setup, gbs_run **out, gbs_error *err);

/* prepare.c: compile the scan and its plan; take memory for chains and estimates. */
gbs_status gbsi_chains_compile(gbsi_task *task, gbsi_engine *engine, gbsi_report *report,
                               gbsi_watch *watch, gbs_error *err);
gbs_status gbsi_chains_prepare(gbs_run *run, gbs_error *err);

/* run_memory.c: the first two functions give the shape of the estimates: for a run without a plan,
 * and for a run with a plan. The next two functions predict memory: of chains with a plan, and of a
 * form that replaces the plan. The last function gives the bytes of the marginals that callers
 * request. @param result value of gbsi_result_bytes(). */
gbsi_estimate_shape gbsi_plain_shape(const gbsi_task *task, const gbsi_engine *engine);
gbsi_estimate_shape gbsi_chains_shape(const gbsi_task *task, const gbsi_engine *engine);
gbs_status gbsi_chains_bytes(gbs_run *run, gbsi_run_memory *m, gbs_error *err);
gbs_status gbsi_form_bytes(const gbsi_task *task, gbsi_sampling *sampling, gbsi_run_memory *m,
                           uint64_t result, gbs_error *err);
uint64_t gbsi_result_bytes(const gbs_model *model);

/* chains_start.c: the first function makes the decisions that are needed before the first pass. The
 * second function calls the first, and sets the starts of all chains. */
gbs_status gbsi_chains_decide(gbs_run *run, gbsi_drive *drive, gbs_error *err);
gbs_status gbsi_chains_start(gbs_run *run, gbsi_drive *drive, gbs_error *err);

/* chains_runner.c: members of the table of plain chains, whose draws go into
 * run->sampling.estimates. */
gbs_status gbsi_chains_advance(gbs_run *run, gbsi_drive *drive, gbs_error *err);
gbs_status gbsi_chains_errors(gbs_run *run, gbs_error *err);
gbs_status gbsi_chains_remark(gbs_run *run, gbs_error *err);
gbs_status gbsi_chains_check(const gbs_run *run, gbs_error *err);

/* verdict.c: writes the verdict on the estimates of the sampled variables. */
gbs_status gbsi_judge_sampled(gbs_run *run, gbs_error *err);

/* Sets the error that no marginal of the run can be read yet. */
gbs_status gbsi_no_draw_kept(gbs_error *err);
/* Replaces every NaN by a NaN with a fixed sign; other values are returned unchanged. */
double gbsi_one_nan(double value);

/* Adds the probabilities of all variables to a digest; if `errors` is set, adds their standard
 * errors instead. */
gbs_status gbsi_marginals_add(const gbs_run *run, bool errors, gbsi_digest *digest, gbs_error *err);
/* Makes a digest of the probabilities of all variables and then their standard errors; used as
 * gbsi_runner.digest. */
gbs_status gbsi_marginals_digest(gbs_run *run, char *text, gbs_error *err);

/* unsampled.c: the runner that gives the answer of belief propagation if the time is over. This
 * runner has no row in runners.def. */
extern const gbsi_runner gbsi_runner_first_answer;

#endif
