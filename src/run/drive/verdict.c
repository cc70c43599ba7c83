/* SPDX-License-Identifier: Apache-2.0 */
/* How far the estimates of a run can be trusted. */
#include <stdio.h>

#include "chains/run.h"

/* The verdict of an exact answer or of mean field. */
static gbs_status say_unsampled(gbs_run *run, gbs_error *err)
{
    gbs_report *r = &run->report.public;
    r->converged = !gbsi_run_is_mean_field(run) || r->n_free_variables == 0;
    if (r->converged) {
        (void)snprintf(r->verdict, sizeof r->verdict, "exact");
    } else {
        (void)gbsi_run_doubt(run, r->verdict, sizeof r->verdict);
    }
    if (!gbsi_run_is_mean_field(run)) {
        r->max_mcse = 0.0;
    }
    return run->runner->digest(run, run->report.public.digest, err);
}

/* Variables of class PRECISE, if not because of noisy factors, which need that class. */
static uint32_t count_precise(const gbs_run *run)
{
    const gbsi_plan *plan = run->engine.plan;
    if (run->shared.share != NULL) {
        return (uint32_t)run->shared.share->facts.n_precise;
    }
    return plan == NULL || plan->n_noisy > 0 ? 0 : plan->n_of_class[GBSI_CLASS_PRECISE];
}

gbs_status gbsi_run_verdict(gbs_run *run, gbs_error *err)
{
    gbs_report *r = &run->report.public;
    gbs_status status = GBS_OK;
    const bool some_exact = r->n_exact_variables > 0 || run->problem.part == NULL;
    r->method = run->problem.part == NULL ? "exact" : (some_exact ? "exact+sampled" : "sampled");
    if (gbsi_run_is_mean_field(run)) {
        r->method = "mean-field";
        r->n_exact_variables = 0;
    }
    if (run->problem.part == NULL) {
        return say_unsampled(run, err);
    }
    if (r->sweeps > 0) {
        GBSI_TRY(gbsi_run_report_errors(run, err));
    }
    GBSI_TRY(gbsi_shared_connect(run, err));
    r->converged = !gbsi_run_doubt(run, r->verdict, sizeof r->verdict);
    r->chains_disagree = !gbsi_run_chains_agree(run);
    if (r->sweeps == 0) {
        return GBS_OK;
    }
    if (r->converged) {
        gbsi_say(r->verdict, sizeof r->verdict,
                 "converged: largest standard error %.2g, R-hat %.4f", r->max_mcse, r->max_rhat);
    }
    if (run->options.locking == GBS_LOCKING_BLANKET) {
        GBSI_TRY(
            gbsi_report_warn(&run->report, err,
                             "--locking blanket: splashes competed for variables, so another run "
                             "with this seed may give slightly different results"));
    }
    if (!run->report.burn_in_agreed && run->tempered == NULL) {
        GBSI_TRY(gbsi_burn_in_warn(run, err));
    }
    const uint32_t n_precise = count_precise(run);
    if (run->tempered == NULL && n_precise > 0) {
        GBSI_TRY(gbsi_report_warn(&run->report, err,
                                  "%u variables have log-weights so large that their sums run in "
                                  "double, which is slower",
                                  n_precise));
    }
    if (run->estimates.estimate != NULL && run->tempered == NULL) {
        GBSI_TRY(gbsi_estimate_tell(run->estimates.estimate, err));
    }
    if (run->shared.share != NULL) {
        GBSI_TRY(gbsi_shared_report(run, err));
    }
    GBSI_TRY(run->runner->digest(run, r->digest, err));
cleanup:
    return status;
}
