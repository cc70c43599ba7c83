/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the observables of a run (--observables) for people. */
#include "gibbsite/observables.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "job/job.h"
#include "src/core/base/plural.h"

enum { NAME = 26, VALUE = 12, ERROR = 9, TAU = 9 };

/* An error is too small if batches have fewer than this number of autocorrelation times. */
#define LEAST_TAUS 20.0

static void put_number(gbs_output *output, const char *format, double value, int width)
{
    char text[32] = "";
    if (!isnan(value)) {
        (void)snprintf(text, sizeof text, format, value);
    }
    cli_put_right(output, text, width);
}

static void put_row(gbs_output *output, const gbs_observable *seen)
{
    cli_put_column(output, seen->name, NAME);
    put_number(output, "%.6g", seen->value, VALUE);
    put_number(output, "%.2g", seen->mcse, ERROR);
    put_number(output, "%.3g", seen->tau, TAU);
    put_number(output, "%.1g", seen->tau_mcse, ERROR);
    gbsi_output_text(output, "  ");
    gbsi_output_text(output, seen->formula);
    gbsi_output_text(output, seen->unit[0] == '\0' ? "" : ", in ");
    gbsi_output_text(output, seen->unit);
    gbsi_output_text(output, "\n");
}

/* Writes the table. @param longest out: the largest autocorrelation time; 0 if none is known. */
static void put_table(gbs_output *output, const gbs_run *run, double *longest)
{
    gbs_observable seen = {.size = sizeof seen};
    *longest = 0.0;
    cli_put_column(output, "", NAME);
    cli_put_right(output, "value", VALUE);
    cli_put_right(output, "+-", ERROR);
    cli_put_right(output, "tau", TAU);
    cli_put_right(output, "+-", ERROR);
    gbsi_output_text(output, "\n");
    for (uint32_t i = 0; i < gbs_run_n_observables(run); i++) {
        if (gbs_run_observable(run, i, &seen, NULL) >= 0) {
            put_row(output, &seen);
            *longest = seen.tau > *longest ? seen.tau : *longest;
        }
    }
}

int cli_tell_observables(const cli_job *job)
{
    gbs_error err = {GBS_OK, ""};
    gbs_output *output = NULL;
    const cli_arguments *arguments = job->arguments;
    const gbs_report *r = gbs_run_report(job->run);
    const uint64_t batch = gbs_run_observables_batch(job->run);
    double longest = 0.0;
    if (!arguments->observables || arguments->quiet) {
        return CLI_DONE;
    }
    if (gbs_run_n_observables(job->run) == 0) {
        cli_note(arguments, "--observables: there are none: no sweep was kept");
        return CLI_DONE;
    }
    cli_note(arguments,
             "observables of %" PRIu32 " sampled variable%s, with k_B = 1 and couplings as given; "
             "tau in sweeps, errors from batches of %" PRIu64 " sweep%s",
             r->n_free_variables, gbsi_plural(r->n_free_variables), batch, gbsi_plural(batch));
    gbs_status done = gbs_output_open("/dev/stderr", &output, &err);
    if (done >= 0) {
        put_table(output, job->run, &longest);
        done = gbs_output_commit(output, &err);
    }
    if (done < 0) {
        return cli_fail_output("standard error", done, &err);
    }
    if (longest == 0.0 || (double)batch < LEAST_TAUS * longest) {
        cli_note(arguments, "observables: errors may be too small, because the batches are shorter "
                            "than 20 tau: more --sweeps");
    }
    return CLI_DONE;
}
