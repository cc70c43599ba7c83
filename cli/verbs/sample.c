/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite sample writes every kept draw of every chain, as lines of CSV or of libDAI data, or in a
 * file of kept_draws.c; or it writes the last draw as a picture. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "draws/kept_draws.h"
#include "options/rows.h"

#define DEFAULT_SWEEPS 1000 /* sweeps per chain if neither --sweeps nor --target-error decides */

typedef struct writer {
    const gbs_model *model;
    const cli_selection *selection;
    gbs_output *output;
    int labels;
} writer;

static void write_csv_header(const writer *w)
{
    char text[32];
    /* tables that begin with chain, draw, lp hold numbers of states */
    gbsi_output_text(w->output, w->labels ? "chain,draw,log_density" : "chain,draw,lp");
    for (uint32_t i = 0; i < w->selection->n; i++) {
        gbsi_output_text(w->output, ",");
        gbsi_output_csv_field(w->output,
                              cli_variable_text(w->model, w->selection->variable[i], "x", text));
    }
    gbsi_output_text(w->output, "\n");
}

static gbs_status write_csv_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                                 const uint32_t *state, gbs_error *err)
{
    const writer *w = context;
    (void)err;
    gbsi_output_uint(w->output, chain);
    gbsi_output_text(w->output, ",");
    gbsi_output_uint(w->output, draw);
    gbsi_output_text(w->output, ",");
    gbsi_output_double(w->output, log_density);
    for (uint32_t i = 0; i < w->selection->n; i++) {
        const uint32_t v = w->selection->variable[i];
        char number[32];
        gbsi_output_bytes(w->output, ",", 1);
        if (w->labels) {
            gbsi_output_csv_field(w->output, cli_state_text(w->model, v, state[v], number));
        } else {
            gbsi_output_uint(w->output, state[v]);
        }
    }
    gbsi_output_bytes(w->output, "\n", 1);
    return GBS_OK;
}

/* ---- .tab -------------------------------------------------------------------------------- */

/* Writes the names of the columns: the name of a variable, or its number if it has no name. */
static void write_tab_header(const writer *w)
{
    char number[32];
    for (uint32_t i = 0; i < w->selection->n; i++) {
        gbsi_output_text(w->output, i > 0 ? "\t" : "");
        gbsi_output_text(w->output,
                         cli_variable_text(w->model, w->selection->variable[i], "", number));
    }
    gbsi_output_text(w->output, "\n\n");
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
        gbsi_output_text(w->output, i > 0 ? "\t" : "");
        gbsi_output_uint(w->output, state[w->selection->variable[i]]);
    }
    gbsi_output_bytes(w->output, "\n", 1);
    return GBS_OK;
}

static int write_lines(cli_job *job, const cli_selection *selection, int tab, int *stopped)
{
    const char *path = job->output != NULL ? job->output : "-";
    gbs_error err = {GBS_OK, ""};
    writer w = {job->model, selection, NULL, job->arguments->labels};
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

/* ---- pictures ---------------------------------------------------------------------------- */

/* The last draw of the first chain as probabilities for a picture: 1 for the state of each
 * variable, else 0. */
typedef struct last_draw {
    uint32_t n, arity;
    int drawn;
    double *p; /* [n][arity] */
} last_draw;

static gbs_status keep_last(void *context, uint64_t draw, uint32_t chain, double log_density,
                            const uint32_t *state, gbs_error *err)
{
    last_draw *last = context;
    (void)draw;
    (void)log_density;
    (void)err;
    if (chain == 0) {
        last->drawn = 1;
        memset(last->p, 0, (size_t)last->n * last->arity * sizeof *last->p);
        for (uint32_t v = 0; v < last->n; v++) {
            last->p[(size_t)v * last->arity + state[v]] = 1.0;
        }
    }
    return GBS_OK;
}

static int write_picture(cli_job *job, cli_picture *picture, int *stopped)
{
    last_draw last = {.n = gbs_model_n_variables(job->model)};
    int status = cli_picture_fit(job, picture);
    if (status != CLI_DONE) {
        return status;
    }
    last.arity = picture->arity;
    last.p = calloc((size_t)last.n * last.arity, sizeof *last.p);
    if (last.p == NULL) {
        return cli_error(CLI_FAILED, "out of memory: %" PRIu32 " variables", last.n);
    }
    status = cli_execute(job, keep_last, &last, stopped);
    if (status == CLI_DONE) {
        status = last.drawn ? cli_picture_write(job, picture, last.p)
                            : cli_error(CLI_STOPPED, "no draw was kept: there is no picture");
    }
    free(last.p);
    return status;
}

/* ---- the verb ---------------------------------------------------------------------------- */

typedef struct request {
    const char *format;
    cli_picture picture;
    cli_selection selection;
} request;

static int is_lines(const char *format)
{
    return strcmp(format, "csv") == 0 || strcmp(format, "tab") == 0;
}

/* Answers one sample of the evidence. */
static int answer_sample(cli_job *job, void *context)
{
    request *r = context;
    int stopped = 0;
    int status = CLI_DONE;
    if (r->picture.format == NULL) {
        job->drawn = r->selection.variable;
        job->n_drawn = r->selection.n;
    }
    if (r->picture.format != NULL) {
        status = write_picture(job, &r->picture, &stopped);
    } else if (is_lines(r->format)) {
        status = write_lines(job, &r->selection, strcmp(r->format, "tab") == 0, &stopped);
    } else {
        status = cli_draws_run(job, &r->selection, r->format, &stopped);
    }
    return status == CLI_DONE ? cli_conclude(job, stopped) : status;
}

int cli_write_draws(cli_arguments *arguments, gbs_method forced)
{
    request r;
    memset(&r, 0, sizeof r);
    cli_job job;
    memset(&job, 0, sizeof job);
    int status = CLI_DONE;
    CLI_TRY(cli_output_format(arguments,
                              arguments->verb == &cli_verb_sample
                                  ? "csv|tab|npz|npy|netcdf|cmdstan|coda|pbm|pgm|ppm|png"
                                  : "csv|tab|npz|npy|netcdf|cmdstan|coda",
                              "csv", &r.format));
    if (arguments->labels && strcmp(r.format, "csv") != 0) {
        CLI_TRY(cli_error(CLI_USAGE,
                          "--labels: found the format %s, expected csv: others have "
                          "the numbers of states",
                          r.format));
    }
    CLI_TRY(cli_picture_settle(arguments, r.format, &r.picture));
    if (r.picture.format != NULL && arguments->monitor != NULL) {
        CLI_TRY(cli_error(CLI_USAGE, "a picture shows all variables: leave out --monitor"));
    }
    if (!is_lines(r.format) && r.picture.format == NULL) {
        CLI_TRY(cli_draws_check(arguments, r.format));
    }
    CLI_TRY(cli_settle_checkpoints(arguments));
    CLI_TRY(cli_settle(arguments, forced));
    CLI_TRY(cli_load_samples(&job, arguments, arguments->operand[0]));
    CLI_TRY(cli_select_drawn(&job, arguments->monitor, &r.selection));
    CLI_TRY(cli_each_sample(&job, answer_sample, &r));

cleanup:
    cli_selection_free(&r.selection);
    cli_job_free(&job);
    return status;
}

static int run_sample(cli_arguments *arguments)
{
    const int decides =
        arguments->run.draw == GBS_DRAW_CUD; /* with draw cud, the period of the generator */
    if (!cli_given(arguments, "sweeps") && !cli_given(arguments, "target-error") && !decides &&
        arguments->resume == NULL) {
        arguments->run.sweeps = DEFAULT_SWEEPS;
    }
    return cli_write_draws(arguments, GBS_METHOD_SAMPLE);
}

/* ---- the row ------------------------------------------------------------------------------ */

static const cli_option options[] = {
#include "gibbsite/questions/sample.def"
};

const cli_verb cli_verb_sample = {
    .name = "sample",
    CLI_TAKES(options),
    .n_operands = 1,
    .operands = "MODEL",
    .what = "joint samples, one per sweep and chain",
    .notes = "Writes CSV: chain, draw, lp (the log density) and the 0-based state of every\n"
             "variable. By default 1000 sweeps per chain are kept; --sweeps or --target-error\n"
             "changes this. The samples are always from chains, never from exact inference.\n"
             "-o FILE.npz, FILE.npy or FILE.nc writes arrays, FILE.tab the data format of\n"
             "libDAI; --format cmdstan writes FILE_1.csv, FILE_2.csv and so on, --format coda\n"
             "FILEindex.txt and a file for each chain.\n",
    .example = "gibbsite sample examples/sprinkler.bif --sweeps 5 --chains 2 --seed 3\n"
               "gibbsite sample examples/sprinkler.bif --monitor rain,2 -o draws.npz\n",
    .run = run_sample,
};
