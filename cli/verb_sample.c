/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite sample: every kept draw of every chain, as lines of CSV or of libDAI data, or in a file
 * of kept_draws.c. */
#include <inttypes.h>
#include <string.h>

#include "kept_draws.h"

#define DEFAULT_SWEEPS 1000 /* per chain, where neither --sweeps nor --target-error decides */

typedef struct writer {
    const gbs_model *model;
    const cli_selection *selection;
    gbs_output *output;
} writer;

static void write_csv_header(const writer *w)
{
    char text[32];
    gbs_output_text(w->output, "chain,draw,lp");
    for (uint32_t i = 0; i < w->selection->n; i++) {
        gbs_output_text(w->output, ",");
        gbs_output_csv_field(w->output,
                             cli_variable_text(w->model, w->selection->variable[i], "x", text));
    }
    gbs_output_text(w->output, "\n");
}

static gbs_status write_csv_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                                 const uint32_t *state, gbs_error *err)
{
    const writer *w = context;
    (void)err;
    gbs_output_uint(w->output, chain);
    gbs_output_text(w->output, ",");
    gbs_output_uint(w->output, draw);
    gbs_output_text(w->output, ",");
    gbs_output_double(w->output, log_density);
    for (uint32_t i = 0; i < w->selection->n; i++) {
        gbs_output_bytes(w->output, ",", 1);
        gbs_output_uint(w->output, state[w->selection->variable[i]]);
    }
    gbs_output_bytes(w->output, "\n", 1);
    return GBS_OK;
}

/* ---- .tab -------------------------------------------------------------------------------- */

/* A column is called by the name of its variable, or by its number where it has none. */
static void write_tab_header(const writer *w)
{
    char number[32];
    for (uint32_t i = 0; i < w->selection->n; i++) {
        gbs_output_text(w->output, i > 0 ? "\t" : "");
        gbs_output_text(w->output,
                        cli_variable_text(w->model, w->selection->variable[i], "", number));
    }
    gbs_output_text(w->output, "\n\n");
}

static gbs_status write_tab_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                                 const uint32_t *state, gbs_error *err)
{
    const writer *w = context;
    (void)draw;
    (void)chain;
    (void)log_density;
    (void)err;
    for (uint32_t i = 0; i < w->selection->n; i++) {
        gbs_output_text(w->output, i > 0 ? "\t" : "");
        gbs_output_uint(w->output, state[w->selection->variable[i]]);
    }
    gbs_output_bytes(w->output, "\n", 1);
    return GBS_OK;
}

static int write_lines(cli_job *job, const cli_selection *selection, int tab, int *stopped)
{
    const char *path = job->output != NULL ? job->output : "-";
    gbs_error err = {GBS_OK, ""};
    writer w = {job->model, selection, NULL};
    gbs_status done = gbs_output_open(path, &w.output, &err);
    if (done < 0) {
        return cli_fail_output(path, done, &err);
    }
    if (tab) {
        write_tab_header(&w);
    } else {
        write_csv_header(&w);
    }
    int status = cli_execute(job, tab ? write_tab_draw : write_csv_draw, &w, stopped);
    if (status != CLI_DONE) {
        gbs_output_discard(w.output);
        return status;
    }
    done = gbs_output_commit(w.output, &err);
    return done < 0 ? cli_fail_output(path, done, &err) : CLI_DONE;
}

/* ---- the verb ---------------------------------------------------------------------------- */

typedef struct request {
    const char *format;
    cli_selection selection;
} request;

static int is_lines(const char *format)
{
    return strcmp(format, "csv") == 0 || strcmp(format, "tab") == 0;
}

/* Of one sample of the evidence. */
static int answer_sample(cli_job *job, void *context)
{
    const request *r = context;
    int stopped = 0;
    int status = is_lines(r->format)
                     ? write_lines(job, &r->selection, strcmp(r->format, "tab") == 0, &stopped)
                     : cli_draws_run(job, &r->selection, r->format, &stopped);
    return status == CLI_DONE ? cli_conclude(job, stopped) : status;
}

int cli_write_draws(cli_arguments *arguments, gbs_method forced)
{
    request r = {NULL, {NULL, 0, 0}};
    cli_job job;
    memset(&job, 0, sizeof job);
    int status =
        cli_output_format(arguments, "csv|tab|npz|npy|netcdf|cmdstan|coda", "csv", &r.format);
    if (status == CLI_DONE && !is_lines(r.format)) {
        status = cli_draws_check(arguments, r.format);
    }
    if (status == CLI_DONE) {
        status = cli_settle(arguments, forced);
    }
    if (status == CLI_DONE) {
        status = cli_load_samples(&job, arguments, arguments->operand[0]);
    }
    if (status == CLI_DONE) {
        status = cli_select_drawn(&job, arguments->monitor, &r.selection);
    }
    if (status == CLI_DONE) {
        status = cli_each_sample(&job, answer_sample, &r);
    }
    cli_selection_free(&r.selection);
    cli_job_free(&job);
    return status;
}

int cli_sample(cli_arguments *arguments)
{
    const int decides = arguments->run.draw == GBS_DRAW_CUD; /* its period */
    if (!cli_given(arguments, "sweeps") && !cli_given(arguments, "target-error") && !decides) {
        arguments->run.sweeps = DEFAULT_SWEEPS;
    }
    return cli_write_draws(arguments, GBS_METHOD_SAMPLE);
}
