/* SPDX-License-Identifier: Apache-2.0 */
/* Writes one CSV file per chain in the layout of CmdStan, for programs that read files of
 * CmdStan. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "job/files.h"

/* @return whether a name matches [A-Za-z][A-Za-z0-9_]* and does not end in "__", as columns of the
 *         sampler do. */
static int is_stan_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char all[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    if (name == NULL) {
        return 0;
    }
    const size_t n = strlen(name);
    return n > 0 && strchr(letters, name[0]) != NULL && strspn(name, all) == n &&
           (n < 2 || strcmp(name + n - 2, "__") != 0);
}

/* The names of the columns. */
typedef struct columns {
    const gbs_model *model;
    const cli_selection *selection;
    int any_indexed; /* 1: some columns are named x.1, x.2, ..., so that no quantity may have the
                        name x */
} columns;

/* @return the name of a column, NULL if the column is named x.INDEX. */
static const char *plain_name(const columns *c, uint32_t i)
{
    const char *name = gbs_model_variable_name(c->model, c->selection->variable[i]);
    return is_stan_name(name) && !(c->any_indexed && strcmp(name, "x") == 0) ? name : NULL;
}

static columns name_columns(const cli_draws *d)
{
    columns c = {d->job->model, d->selection, 0};
    for (uint32_t i = 0; i < c.selection->n && !c.any_indexed; i++) {
        c.any_indexed = plain_name(&c, i) == NULL;
    }
    return c;
}

static void comment(gbs_output *output, const char *name, const char *value)
{
    gbsi_output_text(output, "# ");
    gbsi_output_text(output, name);
    gbsi_output_text(output, " = ");
    gbsi_output_text(output, value);
    gbsi_output_text(output, "\n");
}

static void comment_uint(gbs_output *output, const char *name, uint64_t value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%" PRIu64, value);
    comment(output, name, text);
}

static void write_head(gbs_output *output, const cli_draws *d, const columns *c, uint32_t chain)
{
    const gbs_report *report = gbs_run_report(d->job->run);
    comment(output, "tool", "gibbsite");
    comment(output, "gibbsite_version", gbs_version());
    comment(output, "model_digest", gbs_run_model_digest(d->job->run));
    comment(output, "method", "sample");
    comment_uint(output, "  num_samples", d->n_draws);
    comment_uint(output, "  num_warmup", report->burn_in);
    comment_uint(output, "  save_warmup", 0);
    comment_uint(output, "  thin", d->job->options.thin);
    comment_uint(output, "id", (uint64_t)chain + 1);
    comment_uint(output, "seed", d->job->options.seed);
    for (uint32_t i = 0; i < c->selection->n; i++) {
        const uint32_t v = c->selection->variable[i];
        const char *name = gbs_model_variable_name(c->model, v);
        if (name != NULL && plain_name(c, i) == NULL) {
            gbsi_output_text(output, "# x.");
            gbsi_output_uint(output, (uint64_t)v + 1);
            gbsi_output_text(output, " = ");
            gbsi_output_json_string(output,
                                    name); /* a name may contain any character, even a line end */
            gbsi_output_text(output, "\n");
        }
    }
    gbsi_output_text(output, "lp__");
    for (uint32_t i = 0; i < c->selection->n; i++) {
        const char *name = plain_name(c, i);
        gbsi_output_text(output, name != NULL ? "," : ",x.");
        if (name != NULL) {
            gbsi_output_text(output, name);
        } else {
            gbsi_output_uint(output, (uint64_t)c->selection->variable[i] + 1);
        }
    }
    gbsi_output_text(output, "\n");
}

static gbs_status write_rows(gbs_output *output, cli_rows *rows, uint32_t chain, gbs_error *err)
{
    const cli_draws *d = rows->draws;
    const size_t row = cli_row_bytes(d);
    gbs_status status = GBS_OK;
    for (uint64_t first = 0; first < d->n_draws && status >= 0; first += rows->n) {
        status = cli_rows_read(rows, chain, first, err);
        for (size_t r = 0; r < rows->n && status >= 0; r++) {
            gbsi_output_double(output, rows->lp[r]);
            for (uint32_t i = 0; i < d->selection->n; i++) {
                gbsi_output_bytes(output, ",", 1);
                gbsi_output_uint(output, cli_state_at(rows->states + r * row, d->state_bytes, i));
            }
            gbsi_output_bytes(output, "\n", 1);
        }
    }
    return status;
}

/* Writes the times of the run. All chains run at the same time; every file therefore contains the
 * time of the whole run. */
static void write_times(gbs_output *output, const cli_draws *d)
{
    const gbs_report *report = gbs_run_report(d->job->run);
    const double total = report->sampling_s;
    const double between = d->last_s - d->first_s;
    const double kept = between < total ? between : total;
    char text[256];
    (void)snprintf(text, sizeof text,
                   "# \n#  Elapsed Time: %.6f seconds (Warm-up)\n"
                   "#                %.6f seconds (Sampling)\n"
                   "#                %.6f seconds (Total)\n# \n",
                   total - kept, kept, total);
    gbsi_output_text(output, text);
}

/* Splits a path for numbered files: "draws.csv" and "draws" give draws_1.csv, draws_2.csv, ...,
 * and a final .gz remains at the end. @param base out: the path before the number; the caller
 * must free() it. */
static gbs_status split_path(const char *path, char **base, const char **after, gbs_error *err)
{
    size_t n = strlen(path);
    const int packed = n > 3 && strcmp(path + n - 3, ".gz") == 0;
    n -= packed ? 3 : 0;
    n -= n > 4 && strncasecmp(path + n - 4, ".csv", 4) == 0 ? 4 : 0;
    char *made = malloc(n + 2);
    if (made == NULL) {
        return cli_reason(err, GBS_ERR_MEMORY, "out of memory");
    }
    (void)snprintf(made, n + 2, "%.*s_", (int)n, path);
    *base = made;
    *after = packed ? ".csv.gz" : ".csv";
    return GBS_OK;
}

static gbs_status write_chain(cli_files *files, cli_rows *rows, const columns *c, uint32_t chain,
                              const char *base, const char *after, gbs_error *err)
{
    gbs_output *output = NULL;
    gbs_status status = cli_files_open(files, base, (uint64_t)chain + 1, after, &output, err);
    if (status >= 0) {
        write_head(output, rows->draws, c, chain);
        status = write_rows(output, rows, chain, err);
    }
    if (status >= 0) {
        write_times(output, rows->draws);
    }
    return status;
}

gbs_status cli_draws_cmdstan(const cli_draws *draws, const char *path, gbs_error *err)
{
    cli_files files;
    cli_rows rows;
    const columns c = name_columns(draws);
    char *base = NULL;
    const char *after = NULL;
    gbs_status status = cli_rows_init(&rows, draws, err);
    if (status < 0) {
        return status;
    }
    status = cli_files_init(&files, draws->n_chains, err);
    if (status >= 0) {
        status = split_path(path, &base, &after, err);
    }
    for (uint32_t chain = 0; chain < draws->n_chains && status >= 0; chain++) {
        status = write_chain(&files, &rows, &c, chain, base, after, err);
    }
    status = cli_files_close(&files, status, err);
    cli_rows_free(&rows);
    free(base);
    return status;
}
