/* SPDX-License-Identifier: Apache-2.0 */
/* ln Z in the words of who asks: of a Bayesian network it is ln P(evidence). */
#include <math.h>

#include "job.h"

#define LEAST_LOG (-690.0) /* below it a probability is told by its logarithm alone */

/* "P = 0.04, ln P = -3.2". @param text [CLI_SUM_TEXT]. */
static void probability_text(const char *of, double log_p, char *text)
{
    if (log_p > LEAST_LOG) {
        (void)snprintf(text, CLI_SUM_TEXT, "P(%s) = %.6g, ln P(%s) = %.10g", of, exp(log_p), of,
                       log_p);
    } else {
        (void)snprintf(text, CLI_SUM_TEXT, "ln P(%s) = %.10g", of, log_p);
    }
}

int cli_sums_to_one(const cli_job *job)
{
    return job->evidence == NULL && gbs_model_is_normalized(job->model);
}

double cli_log_p_evidence(const cli_job *job, double log_z)
{
    if (cli_sums_to_one(job)) {
        return 0.0;
    }
    return gbs_model_is_normalized(job->model) ? log_z : (double)NAN;
}

void cli_evidence_text(const cli_job *job, double log_z, char *text)
{
    text[0] = '\0';
    if (!isfinite(log_z) || cli_sums_to_one(job)) {
        return;
    }
    if (gbs_model_is_normalized(job->model)) {
        probability_text("evidence", log_z, text);
    } else {
        (void)snprintf(text, CLI_SUM_TEXT, "ln Z = %.10g%s", log_z,
                       job->evidence != NULL ? " (of the model with the evidence)" : "");
    }
}

/* ---- the probability of a state -------------------------------------------------------------- */

static int on_progress(void *context, const gbs_progress *progress)
{
    (void)context;
    (void)progress;
    return cli_signals_caught();
}

double cli_exact_log_z(const cli_job *job)
{
    gbs_log_z_report report = {.size = sizeof report};
    gbs_run_options options = gbs_run_options_default();
    const gbs_run_callbacks callbacks = {.progress = on_progress};
    if (cli_sums_to_one(job)) {
        return 0.0;
    }
    options.method = GBS_METHOD_EXACT;
    options.memory_limit = job->options.memory_limit;
    options.threads = job->options.threads;
    options.time_s = job->options.time_s;
    const gbs_status status =
        gbs_log_z(job->model, job->evidence, &options, &callbacks, &report, NULL);
    return status == GBS_OK ? report.log_z : (double)NAN;
}

void cli_tell_state_probability(const cli_job *job, double log_density, double log_z)
{
    char text[CLI_SUM_TEXT];
    if (!isfinite(log_z)) {
        cli_note(job->arguments,
                 "the probability of this state is unknown: ln P = %.12g - ln Z, and "
                 "'gibbsite logz' estimates ln Z",
                 log_density);
        return;
    }
    probability_text(job->evidence != NULL ? "state | evidence" : "state", log_density - log_z,
                     text);
    cli_note(job->arguments, "%s, exact", text);
    cli_evidence_text(job, log_z, text);
    if (text[0] != '\0') {
        cli_note(job->arguments, "%s", text);
    }
}
