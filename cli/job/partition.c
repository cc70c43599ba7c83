/* SPDX-License-Identifier: Apache-2.0 */
/* Computes and prints ln Z, which is called ln P(evidence) for a Bayesian network. */
#include <math.h>

#include "gibbsite/log_z.h"
#include "job.h"

#define LEAST_LOG \
    (-690.0) /* the probability itself is printed only if its logarithm is above this value */

#define NO_LOG                                                                                   \
    1e-12 /* a logarithm of a probability with a smaller absolute value is a rounding error, and \
             is printed as 0 */

/* Writes a text such as "P = 0.04, ln P = -3.2". @param text [CLI_SUM_TEXT]. */
static void probability_text(const char *of, double log_p, char *text)
{
    log_p = fabs(log_p) < NO_LOG ? 0.0 : log_p;
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

void cli_estimate_log_z(const cli_job *job, gbs_log_z_report *z)
{
    gbs_error err = {GBS_OK, ""};
    /* the estimate uses default options instead of the options of the search */
    gbs_run_options options = gbs_run_options_default();
    const gbs_run_callbacks callbacks = {.progress = on_progress};
    gbs_log_z_report report = {.size = sizeof report};
    options.method = job->options.method;
    options.memory_limit = job->options.memory_limit;
    options.threads = job->options.threads;
    options.seed = job->options.seed;
    options.time_s = job->options.time_s;
    options.budget_s = job->options.budget_s;
    const gbs_status status =
        gbs_log_z(job->model, job->evidence, &options, &callbacks, &report, &err);
    if (status < 0) { /* this failure does not matter, because the state was found */
        cli_note(job->arguments, "warning: ln Z is not estimated: %s", err.message);
    } else if (report.temperatures > 0 || report.chains == 0) {
        *z = report;
    }
}

double cli_log_probability(double log_density, double log_z)
{
    return log_density > log_z ? 0.0 : log_density - log_z;
}

/* Prints, for example, "P(state) is about 0.0012 (95 % interval 0.0011 to 0.0013): ln P = -6.7 +-
 * 0.05, estimated". */
static void tell_estimate(const cli_job *job, double log_density, const gbs_log_z_report *z)
{
    const char *of = job->evidence != NULL ? "state | evidence" : "state";
    const double log_p = cli_log_probability(log_density, z->log_z);
    const double low = cli_log_probability(log_density, z->high);
    const double high = cli_log_probability(log_density, z->low);
    char interval[64] = "";
    if (isfinite(low) && isfinite(high)) {
        (void)snprintf(interval, sizeof interval, " (95 %% interval %.6g to %.6g)", low, high);
    }
    cli_note(job->arguments, "ln P(%s) = %.6g +- %.2g%s, estimated", of, log_p, z->error, interval);
    if (log_p > LEAST_LOG && interval[0] != '\0') {
        cli_note(job->arguments, "P(%s) is about %.3g, between %.3g and %.3g", of, exp(log_p),
                 exp(low), exp(high));
    }
    cli_note_verdict(job->arguments, z->converged ? CLI_GREEN : CLI_YELLOW, z->verdict);
}

void cli_tell_state_probability(const cli_job *job, double log_density, const gbs_log_z_report *z)
{
    char text[CLI_SUM_TEXT];
    if (!isfinite(z->log_z) && job->arguments->probability) {
        cli_note(job->arguments,
                 "the probability of this state is unknown: ln P = %.12g - ln Z, and the run ended "
                 "without an estimate of ln Z",
                 log_density);
        return;
    }
    if (!isfinite(z->log_z)) {
        cli_note(job->arguments,
                 "the probability of this state is unknown: ln P = %.12g - ln Z; estimate it with "
                 "--probability, or ln Z with 'gibbsite logz'",
                 log_density);
        return;
    }
    if (z->error != 0.0) {
        tell_estimate(job, log_density, z);
        return;
    }
    probability_text(job->evidence != NULL ? "state | evidence" : "state",
                     cli_log_probability(log_density, z->log_z), text);
    cli_note(job->arguments, "%s, exact", text);
    cli_evidence_text(job, z->log_z, text);
    if (text[0] != '\0') {
        cli_note(job->arguments, "%s", text);
    }
}
