/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite logz: estimates the partition function by junction trees, ladders of temperatures and
 * annealed importance sampling. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "gibbsite/log_z.h"
#include "job/job.h"
#include "job/ranks.h"
#include "options/rows.h"
#include "src/core/base/plural.h"

#define LN10 2.302585092994045684

static void write_pr(gbs_output *output, const cli_arguments *arguments, const gbs_log_z_report *r)
{
    gbs_result result;
    memset(&result, 0, sizeof result);
    result.task = GBS_TASK_PR;
    result.log10_z = r->log_z / LN10;
    gbsi_output_text(output, "PR\n");
    gbsi_result_write_solution(output, &result,
                               arguments->log_base != NULL && arguments->log_base[0] == 'e'
                                   ? GBS_LOG_BASE_E
                                   : GBS_LOG_BASE_10);
}

typedef struct answer {
    const cli_job *job;
    const gbs_log_z_report *report;
    const char *format;
} answer;

/* Writes the answer in JSON without the last brace. */
static void write_json(gbs_output *output, const void *context)
{
    const answer *a = context;
    const cli_job *job = a->job;
    const gbs_log_z_report *r = a->report;
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"log_z", r->log_z},
                   {"error", r->error},
                   {"low", r->low},
                   {"high", r->high},
                   {"lower_bound", r->lower_bound},
                   {"ess", r->ess},
                   {"barrier", r->tempered ? r->barrier : NAN},
                   {"valid_share", r->tempered ? r->valid_share : NAN},
                   {"seconds", r->seconds}};
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {{"free_variables", r->n_free_variables},
                  {"exact_variables", r->n_exact_variables},
                  {"chains", r->chains},
                  {"temperatures", r->temperatures},
                  {"annealings", r->rounds},
                  {"iterations", r->sweeps},
                  {"burn_in", r->burn_in},
                  {"round_trips", r->round_trips},
                  {"updates", r->updates},
                  {"seed", job->options.seed}};
    cli_json_head(output, "logz/1", gbs_model_digest(job->model));
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        gbsi_output_text(output, ",\n  ");
        gbsi_output_json_string(output, numbers[i].name);
        gbsi_output_text(output, ": ");
        gbsi_output_json_double(output, numbers[i].value);
    }
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        gbsi_output_text(output, ",\n  ");
        gbsi_output_json_string(output, counts[i].name);
        gbsi_output_text(output, ": ");
        gbsi_output_uint(output, counts[i].value);
    }
    gbsi_output_text(output, ",\n  \"converged\": ");
    gbsi_output_text(output, r->converged ? "true" : "false");
    gbsi_output_text(output, ",\n  \"verdict\": ");
    gbsi_output_json_string(output, r->verdict);
    gbsi_output_text(output, ",\n  \"stop\": ");
    gbsi_output_json_string(output, r->stop);
}

/* Writes the estimate in the format that the user asked for. */
static void write_estimate(gbs_output *output, const void *context)
{
    const answer *a = context;
    if (strcmp(a->format, "json") == 0) {
        write_json(output, a);
        gbsi_output_text(output, "\n}\n");
    } else {
        write_pr(output, a->job->arguments, a->report);
    }
}

void cli_logz_verdict(const cli_job *job, const gbs_log_z_report *r)
{
    if (r->n_exact_variables == r->n_free_variables) {
        cli_note(job->arguments, "ln Z %.15g, exact; log10 Z %.15g", r->log_z,
                 r->log_z / 2.302585092994045684);
        return;
    }
    cli_tell_choice(job, &r->exact);
    char bound[48] = "";
    char trips[96] = "";
    if (r->tempered) {
        cli_tell_default_ladders(job, r->chains);
        (void)snprintf(trips, sizeof trips,
                       ", %" PRIu64 " iteration%s after %" PRIu64 ", at least %" PRIu64
                       " round trips",
                       r->sweeps, gbsi_plural(r->sweeps), r->burn_in, r->round_trips);
    } else {
        (void)snprintf(bound, sizeof bound, "; lower bound %.10g", r->lower_bound);
    }
    cli_note(job->arguments, "ln Z %.12g +- %.2g (95 %% interval %.10g to %.10g%s)", r->log_z,
             r->error, r->low, r->high, bound);
    cli_note(job->arguments,
             "%" PRIu32 " %s %" PRIu64 " temperature%s%s, %.3g updates in %.3g s, seed %" PRIu64
             "; %" PRIu32 " of %" PRIu32 " variable%s summed exactly",
             r->chains, r->tempered ? "ladders of" : "chains by", r->temperatures,
             gbsi_plural(r->temperatures), trips, (double)r->updates, r->seconds, job->options.seed,
             r->n_exact_variables, r->n_free_variables, gbsi_plural(r->n_free_variables));
    cli_note_verdict(job->arguments, r->converged ? CLI_GREEN : CLI_YELLOW, r->verdict);
}

static int estimate(cli_job *job, void *context)
{
    const char *format = context;
    gbs_error err = {GBS_OK, ""};
    gbs_log_z_report report = {.size = sizeof report};
    cli_bar bar;
    const gbs_run_callbacks callbacks = {.context = &bar, .progress = cli_bar_watch};
    memset(&bar, 0, sizeof bar);
    CLI_PASS(cli_meet(CLI_DONE));
    cli_signals_catch();
    cli_bar_init(&bar, job->arguments, &job->options);
    const gbs_checkpoint_files files = {.size = sizeof files,
                                        .write = job->arguments->checkpoint,
                                        .resume = job->arguments->resume};
    const gbs_status done = gbs_log_z_with(cli_here.ranks, job->model, job->evidence, &job->options,
                                           &files, &callbacks, &report, &err);
    cli_bar_finish(&bar, NULL);
    if (done < 0) {
        return cli_fail_call(&files, done, &err);
    }
    if (report.warning[0] != '\0') {
        cli_note(job->arguments, "warning: %s", report.warning);
    }
    if (report.temperatures == 0 && report.chains > 0) {
        return cli_error(CLI_STOPPED, "%s", report.verdict);
    }
    const int unknown = isnan(report.log_z);
    const int end = done == GBS_STOPPED ? CLI_STOPPED : unknown ? CLI_FAILED : CLI_DONE;
    if (!cli_speaks()) {
        return CLI_DONE; /* the first rank writes */
    }
    if (unknown && strcmp(format, "pr") == 0) { /* the pr format cannot express an unknown result */
        return cli_error(end, "ln Z: %s", report.verdict);
    }
    const answer a = {job, &report, format};
    int status = cli_write(job->output != NULL ? job->output : "-", write_estimate, &a);
    if (status == CLI_DONE) {
        status = cli_report_answer(job, write_json, &a);
    }
    if (status != CLI_DONE) {
        return status;
    }
    if (unknown) {
        return cli_error(end, "ln Z: %s", report.verdict);
    }
    cli_logz_verdict(job, &report);
    return cli_judge(job->arguments, report.converged, end);
}

static int run_logz(cli_arguments *arguments)
{
    const char *format = NULL;
    cli_job job;
    memset(&job, 0, sizeof job);
    int status = cli_output_format(arguments, "pr|json", "pr", &format);
    if (status == CLI_DONE && strcmp(format, "json") == 0 && arguments->log_base != NULL) {
        status = cli_error(
            CLI_USAGE, "--log-base applies to .PR results; those in JSON are natural logarithms");
    }
    if (status == CLI_DONE) {
        status = cli_check_outputs(arguments);
    }
    if (status == CLI_DONE) {
        status = cli_settle_checkpoints(arguments);
    }
    if (status == CLI_DONE) {
        status = cli_load(&job, arguments, arguments->operand[0]);
    }
    if (status == CLI_DONE && cli_here.by_model) {
        status =
            cli_error(CLI_USAGE, "ln Z of a model that ranks share is not estimated: logz takes a "
                                 "MODEL, and --distribute chains");
    }
    if (status == CLI_DONE) {
        status = estimate(&job, (void *)(uintptr_t)format);
    }
    cli_job_free(&job);
    return status;
}

/* ---- the row ------------------------------------------------------------------------------ */

static const cli_option options[] = {
#include "gibbsite/questions/logz.def"
};

const cli_verb cli_verb_logz = {
    .name = "logz",
    CLI_TAKES(options),
    .n_operands = 1,
    .operands = "MODEL",
    .what = "the log partition function, estimated",
    .notes = "Writes log10 Z in the format of .PR files to standard output, and ln Z with its\n"
             "standard error, interval and lower bound to standard error; --format json\n"
             "writes all of this as the result. Components that are small enough are summed\n"
             "exactly. For the others, chains climb ladders of temperatures until ln Z has a\n"
             "standard error of at most --target-error (unset: 0.05) and the ladders have\n"
             "mixed, or for --sweeps iterations. With --temper off, and for more than 4096\n"
             "variables, annealed importance sampling uses 256, 1024, 4096, ... temperatures,\n"
             "or --sweeps, and gives a lower bound as well.\n",
    .example = "gibbsite logz examples/sprinkler.bif -e grass=wet\n"
               "gibbsite generate ising --grid 24x24 --coupling 0.3 -o ising.gbm\n"
               "gibbsite logz ising.gbm --method sample --sweeps 2000\n",
    .run = run_logz,
};
