/* SPDX-License-Identifier: Apache-2.0 */
/* Judges whether the estimates of a sampled run can be trusted. */
#include <math.h>

#include "drive/runners.h"

gbs_status gbsi_judge_sampled(gbs_run *run, gbs_error *err)
{
    gbs_report *r = &run->report.public;
    r->method = r->n_exact_variables > 0 ? "exact+sampled" : "sampled";
    if (r->sweeps > 0) {
        GBSI_PASS(run->task.runner->errors(run, err));
    }
    r->converged = !gbsi_run_doubt(run, r->verdict, sizeof r->verdict);
    r->chains_disagree = !gbsi_run_chains_agree(run->task.runner, &run->report);
    if (r->sweeps == 0) {
        return GBS_OK;
    }
    if (r->converged) {
        char rhat[64] = "no R-hat, as no estimate varies";
        if (!isnan(r->max_rhat)) {
            gbsi_say(rhat, sizeof rhat, "R-hat %.4f", r->max_rhat);
        }
        gbsi_say(r->verdict, sizeof r->verdict, "converged: largest standard error %.2g, %s%s",
                 r->max_mcse, rhat,
                 run->report.proved ? "; the draw converges as 1 / T, so that its errors are not "
                                      "those of independent batches"
                                    : "");
    }
    if (run->task.options.locking == GBS_LOCKING_BLANKET) {
        GBSI_PASS(
            gbsi_report_warn(&run->report, err,
                             "--locking blanket: splashes competed for variables, so another run "
                             "with this seed may give slightly different results"));
    }
    if (run->task.runner->remark != NULL) {
        GBSI_PASS(run->task.runner->remark(run, err));
    }
    return run->task.runner->digest(run, r->digest, err);
}
