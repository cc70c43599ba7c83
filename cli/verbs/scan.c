/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite scan: writes an optimised scan to a file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gibbsite/dobrushin.h"
#include "job/job.h"
#include "options/rows.h"
#include "src/core/base/plural.h"

#define SYSTEMATIC "systematic:"

/* Settles --steps, --match and --accuracy. */
static int settle(const cli_arguments *arguments, gbs_scan_request *request)
{
    const char *match = arguments->match;
    *request = (gbs_scan_request){.origin = arguments->run.origin,
                                  .accuracy = arguments->accuracy,
                                  .iterate = arguments->iterate};
    if (arguments->n_targets > 1) {
        return cli_error(CLI_USAGE, "--target is given twice: a scan is optimised for one target; "
                                    "name all variables in it");
    }
    if (match != NULL && (arguments->steps != NULL || cli_given(arguments, "accuracy"))) {
        return cli_error(CLI_USAGE, "--match determines the length and the accuracy: leave out %s",
                         arguments->steps != NULL ? "--steps" : "--accuracy");
    }
    if (match != NULL &&
        (strncmp(match, SYSTEMATIC, strlen(SYSTEMATIC)) != 0 ||
         !cli_parse_uint(match + strlen(SYSTEMATIC), &request->match) || request->match == 0)) {
        return cli_error(CLI_USAGE, "--match %s: expected systematic:T, T updates", match);
    }
    if (arguments->steps != NULL &&
        (!cli_parse_uint(arguments->steps, &request->steps) || request->steps == 0)) {
        return cli_error(CLI_USAGE, "--steps %s: expected a number of updates", arguments->steps);
    }
    return CLI_DONE;
}

static void tell(const cli_job *job, const gbs_scan_report *r, size_t n)
{
    const cli_arguments *a = job->arguments;
    const char *start = !cli_given(a, "scan")  ? "systematic scan"
                        : a->scan_file != NULL ? a->scan_file
                                               : "the scan it began as";
    cli_note(job->arguments, "%zu update%s of %" PRIu32 " variable%s: variation %.6g, %s %.6g", n,
             gbsi_plural(n), r->n_visited, gbsi_plural(r->n_visited), r->after, start, r->before);
    if (r->goal > 0.0) {
        cli_note(job->arguments, "variation to reach: %.6g", r->goal);
    }
    if (r->after >= 1.0) {
        cli_note(job->arguments, "a variation of 1 or more says nothing about a distribution");
    }
}

/* Prints a note on the scan that was found before an early stop. */
static void tell_stop(const cli_job *job, const gbs_scan_report *r, size_t n)
{
    if (r->n_left > 0) {
        cli_note(job->arguments,
                 "stopped early: the last %" PRIu64 " updates were chosen, the %" PRIu64
                 " before are unchanged (*: a variable drawn uniformly); --scan with this file "
                 "goes on",
                 n - r->n_left, r->n_left);
    } else if (r->goal > 0.0 && r->after > r->goal) {
        cli_note(job->arguments, "stopped early: this is the best whole scan found until then; its "
                                 "variation is above that to reach");
    } else {
        cli_note(job->arguments, "stopped early: this is the best scan found until then");
    }
}

static int optimise(cli_job *job, const gbs_scan_request *request, const char *target)
{
    gbs_error err = {GBS_OK, ""};
    gbs_influences *influences = NULL;
    gbs_scan_report report = {.size = sizeof report};
    gbs_scan_request asked = *request;
    asked.start = cli_given(job->arguments, "scan") ? &job->options : NULL;
    uint32_t *sequence = NULL;
    size_t n = 0;
    CLI_PASS(cli_influences(job, &influences));
    if (asked.steps == 0 && asked.match == 0 && asked.accuracy == 0.0) {
        asked.steps = gbs_influences_report(influences)->n_free;
    }
    gbs_status done = gbs_influences_report(influences)->n_free == 0
                          ? GBS_OK
                          : gbs_scan_optimise(influences, &asked, &sequence, &n, &report, &err);
    gbs_influences_free(influences);
    const int reached = done == GBS_STOPPED ? CLI_STOPPED : CLI_DONE;
    if (done < 0) {
        return cli_fail(done, &err);
    }
    if (n == 0) {
        return cli_error(CLI_FAILED, "the evidence fixes every variable: there is nothing to scan");
    }
    char comment[512];
    (void)snprintf(comment, sizeof comment,
                   "gibbsite %s, target %.300s, variation %.9g after %zu update%s", gbs_version(),
                   target, report.after, n, gbsi_plural(n));
    for (char *c = comment; *c != '\0'; c++) { /* keeps the comment on one line of text */
        *c = (unsigned char)*c < ' ' ? ' ' : *c;
    }
    const char *path = job->output != NULL ? job->output : "-";
    done = gbs_scan_write(path, job->model, sequence, n, comment, &err);
    gbs_free(sequence);
    if (done < 0) {
        return cli_fail_output(path, done, &err);
    }
    tell(job, &report, n);
    if (reached == CLI_STOPPED) {
        tell_stop(job, &report, n);
    }
    return reached;
}

static int run_scan(cli_arguments *arguments)
{
    gbs_scan_request request;
    cli_job job;
    double *weight = NULL;
    const char *target = arguments->n_targets > 0 ? arguments->target[0] : "all";
    memset(&job, 0, sizeof job);
    int status = CLI_DONE;
    CLI_TRY(settle(arguments, &request));
    CLI_TRY(cli_check_output(arguments->output));
    CLI_TRY(cli_load(&job, arguments, arguments->operand[0]));
    CLI_TRY(cli_check_grid(&job));
    CLI_TRY(cli_target(&job, target, &weight));
    request.weight = weight;
    CLI_TRY(optimise(&job, &request, target));

cleanup:
    free(weight);
    cli_job_free(&job);
    return status;
}

/* ---- the row ------------------------------------------------------------------------------ */

static const cli_option options[] = {
#include "gibbsite/questions/scan.def"
};

const cli_verb cli_verb_scan = {
    .name = "scan",
    CLI_TAKES(options),
    .n_operands = 1,
    .operands = "MODEL",
    .what = "a scan optimised for some variables",
    .notes = "Writes a scan file for --scan. It is found by coordinate descent from the\n"
             "systematic scan, or that of --scan, so that the Dobrushin variation of the\n"
             "variables in --target, the bound that certify prints, is small (Mitliagkas and\n"
             "Mackey 2017).\n",
    .example = "gibbsite scan examples/grid.uai --target 0 --match systematic:90 -o one.scan\n"
               "gibbsite certify examples/grid.uai --scan one.scan --target 0\n",
    .run = run_scan,
};
