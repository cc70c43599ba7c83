/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite sample: every kept draw of every chain as a line of CSV. */
#include <inttypes.h>
#include <string.h>

#include "job.h"

#define DEFAULT_SWEEPS 1000 /* per chain, where neither --sweeps nor --target-error decides */

typedef struct writer {
    const gbs_model *model;
    gbs_output *output;
} writer;

static void write_header(const writer *w)
{
    char text[32];
    gbs_output_text(w->output, "chain,draw,lp");
    for (uint32_t v = 0; v < gbs_model_n_variables(w->model); v++) {
        gbs_output_text(w->output, ",");
        gbs_output_csv_field(w->output, cli_variable_text(w->model, v, "x", text));
    }
    gbs_output_text(w->output, "\n");
}

static gbs_status write_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                             const uint32_t *state, gbs_error *err)
{
    const writer *w = context;
    uint32_t n = gbs_model_n_variables(w->model);
    (void)err;
    gbs_output_uint(w->output, chain);
    gbs_output_text(w->output, ",");
    gbs_output_uint(w->output, draw);
    gbs_output_text(w->output, ",");
    gbs_output_double(w->output, log_density);
    for (uint32_t v = 0; v < n; v++) {
        gbs_output_bytes(w->output, ",", 1);
        gbs_output_uint(w->output, state[v]);
    }
    gbs_output_bytes(w->output, "\n", 1);
    return GBS_OK;
}

static int run_and_write(cli_job *job, int *stopped)
{
    const cli_arguments *arguments = job->arguments;
    const char *path = arguments->output != NULL ? arguments->output : "-";
    gbs_error err = {GBS_OK, ""};
    writer w = {job->model, NULL};
    gbs_status done = gbs_output_open(path, &w.output, &err);
    if (done < 0) {
        return cli_fail_output(path, done, &err);
    }
    write_header(&w);
    int status = cli_execute(job, write_draw, &w, stopped);
    if (status != CLI_DONE) {
        gbs_output_discard(w.output);
        return status;
    }
    done = gbs_output_commit(w.output, &err);
    return done < 0 ? cli_fail_output(path, done, &err) : CLI_DONE;
}

int cli_sample(cli_arguments *arguments)
{
    const char *format = NULL;
    cli_job job;
    int stopped = 0;
    memset(&job, 0, sizeof job);
    if (!cli_given(arguments, "sweeps") && !cli_given(arguments, "target-error")) {
        arguments->run.sweeps = DEFAULT_SWEEPS;
    }
    int status = cli_output_format(arguments, "csv", "csv", &format);
    if (status == CLI_DONE) {
        status = cli_settle(arguments, GBS_METHOD_SAMPLE);
    }
    if (status == CLI_DONE) {
        status = cli_load(&job, arguments, arguments->operand[0]);
    }
    if (status == CLI_DONE) {
        status = run_and_write(&job, &stopped);
    }
    if (status == CLI_DONE) {
        status = cli_summary(&job);
    }
    if (status == CLI_DONE) {
        cli_verdict(&job, stopped);
        status = stopped ? CLI_STOPPED : CLI_DONE;
    }
    cli_job_free(&job);
    return status;
}
