/* SPDX-License-Identifier: Apache-2.0 */
/* Members of tables that several ways of running share, see chains/runner.h. */
#ifndef GBSI_DRIVE_RUNNERS_H
#define GBSI_DRIVE_RUNNERS_H

#include "base/digest.h"
#include "chains/run.h"

/* tempered.c: the runner that a run turns to whose plain chains disagree. */
extern const gbsi_runner gbsi_runner_ladders;

/* run_new.c and run_of_share.c: gbs_run_new_with() of a model, and of a share. */
gbs_status gbsi_run_new_of_model(const gbs_run_setup *setup, gbs_run **out, gbs_error *err);
gbs_status gbsi_run_new_of_share(const gbs_run_setup *setup, gbs_run **out, gbs_error *err);

/* prepare.c: the scan and its plan; memory for chains and estimates. */
gbs_status gbsi_chains_compile(gbsi_task *task, gbsi_engine *engine, gbsi_report *report,
                               gbsi_watch *watch, gbs_error *err);
gbs_status gbsi_chains_prepare(gbs_run *run, gbs_error *err);

/* run_memory.c: the shape of chains without a plan, and the memory of chains whose compiled form
 * is known. @param result bytes of the marginals that callers ask for. */
gbsi_estimate_shape gbsi_plain_shape(const gbsi_task *task, const gbsi_engine *engine);
gbsi_estimate_shape gbsi_chains_shape(const gbsi_task *task, const gbsi_engine *engine);
gbs_status gbsi_chains_bytes(gbs_run *run, gbsi_run_memory *m, gbs_error *err);
gbs_status gbsi_form_bytes(const gbsi_task *task, gbsi_sampling *sampling, gbsi_run_memory *m,
                           uint64_t result, gbs_error *err);
uint64_t gbsi_result_bytes(const gbs_model *model);

/* chains_start.c: the decisions before the first pass, and these with the starts of all chains. */
gbs_status gbsi_chains_decide(gbs_run *run, gbsi_drive *drive, gbs_error *err);
gbs_status gbsi_chains_start(gbs_run *run, gbsi_drive *drive, gbs_error *err);

/* chains_runner.c: passes of chains whose draws go into run->sampling.estimates. */
gbs_status gbsi_chains_advance(gbs_run *run, gbsi_drive *drive, gbs_error *err);
gbs_status gbsi_chains_errors(gbs_run *run, gbs_error *err);
gbs_status gbsi_chains_remark(gbs_run *run, gbs_error *err);
gbs_status gbsi_chains_check(const gbs_run *run, gbs_error *err);

/* verdict.c: the verdict on the sampled variables. */
gbs_status gbsi_judge_sampled(gbs_run *run, gbs_error *err);

/* The failure of a run from which nothing can be read yet. */
gbs_status gbsi_no_draw_kept(gbs_error *err);
/* NaN, whatever its sign is. */
double gbsi_one_nan(double value);

/* Adds the probabilities of all variables to a digest, or their standard errors. */
gbs_status gbsi_marginals_add(const gbs_run *run, bool errors, gbsi_digest *digest, gbs_error *err);
/* gbsi_runner.digest: the probabilities of all variables, then their standard errors. */
gbs_status gbsi_marginals_digest(gbs_run *run, char *text, gbs_error *err);

/* unsampled.c: not chosen for a run, but taken when its time is over. */
extern const gbsi_runner gbsi_runner_first_answer;

#endif
