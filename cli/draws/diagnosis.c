/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnostics of the convergence of draws: the figures of each quantity are written as CSV, JSON or
 * a table. */
#include "draws/diagnosis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "job/job.h"
#include "src/core/base/plural.h"

/* The columns of CSV, and the members of JSON, that follow the name of the quantity. */
static const struct {
    const char *name;
    size_t at; /* offset in gbs_diagnostics */
} columns[] = {
    {"mean", offsetof(gbs_diagnostics, mean)},
    {"sd", offsetof(gbs_diagnostics, sd)},
    {"median", offsetof(gbs_diagnostics, median)},
    {"q5", offsetof(gbs_diagnostics, q5)},
    {"q95", offsetof(gbs_diagnostics, q95)},
    {"mcse_mean", offsetof(gbs_diagnostics, mcse_mean)},
    {"mcse_sd", offsetof(gbs_diagnostics, mcse_sd)},
    {"mcse_median", offsetof(gbs_diagnostics, mcse_median)},
    {"rhat", offsetof(gbs_diagnostics, rhat)},
    {"rhat_bulk", offsetof(gbs_diagnostics, rhat_bulk)},
    {"rhat_folded", offsetof(gbs_diagnostics, rhat_folded)},
    {"ess_bulk", offsetof(gbs_diagnostics, ess_bulk)},
    {"ess_tail", offsetof(gbs_diagnostics, ess_tail)},
};
enum { N_COLUMNS = sizeof columns / sizeof columns[0] };

static double column(const gbs_diagnostics *d, size_t k)
{
    double value = 0.0;
    memcpy(&value, (const char *)d + columns[k].at, sizeof value);
    return value;
}

/* ---- the numbers ---------------------------------------------------------------------------- */

int cli_diagnosis_make(cli_diagnosis *a)
{
    const cli_drawn *d = &a->drawn;
    a->of = calloc(d->n + 1, sizeof *a->of);
    a->shown = calloc(d->n + 1, sizeof *a->shown);
    a->worst = d->n;
    CLI_PASS(CLI_HAVE(a->of, a->shown));
    for (size_t i = 0; i < d->n; i++) {
        gbs_error err = {GBS_OK, ""};
        a->of[i].size = sizeof a->of[i];
        const gbs_status done = gbs_diagnose(d->value[i], d->n_chains, d->n_draws, &a->of[i], &err);
        if (done < 0) {
            return cli_fail(done, &err);
        }
        if (!isnan(a->of[i].rhat) && (a->worst == d->n || a->of[i].rhat > a->of[a->worst].rhat)) {
            a->worst = i;
        }
        if (cli_signals_caught()) {
            return cli_error(CLI_STOPPED, "stopped after %zu of %zu quantit%s", i, d->n,
                             gbsi_plural_of(d->n, "y", "ies"));
        }
    }
    return CLI_DONE;
}

/* A quantity with its R-hat, for sorting: the largest R-hat comes first, and quantities without
 * R-hat come last. Ties keep the order of the file. */
typedef struct ranked {
    double rhat;
    size_t quantity;
} ranked;

static int compare_ranked(const void *left, const void *right)
{
    const ranked *p = left;
    const ranked *q = right;
    return p->rhat != q->rhat ? (p->rhat > q->rhat ? -1 : 1)
                              : (p->quantity < q->quantity ? -1 : p->quantity > q->quantity);
}

int cli_diagnosis_choose(cli_diagnosis *a, uint64_t top)
{
    const size_t n = a->drawn.n;
    a->n_shown = top > 0 && top < n ? (size_t)top : n;
    ranked *order = calloc(n + 1, sizeof *order);
    CLI_PASS(CLI_HAVE(order));
    for (size_t i = 0; i < n; i++) {
        order[i] = (ranked){isnan(a->of[i].rhat) ? -INFINITY : a->of[i].rhat, i};
    }
    if (top > 0) {
        qsort(order, n, sizeof *order, compare_ranked);
    }
    for (size_t i = 0; i < a->n_shown; i++) {
        a->shown[i] = order[i].quantity;
    }
    free(order);
    return CLI_DONE;
}

/* ---- writing -------------------------------------------------------------------------------- */

void cli_diagnosis_as_csv(gbs_output *output, const void *context)
{
    const cli_diagnosis *a = context;
    gbsi_output_text(output, "name");
    for (size_t k = 0; k < N_COLUMNS; k++) {
        gbsi_output_text(output, ",");
        gbsi_output_text(output, columns[k].name);
    }
    gbsi_output_text(output, ",constant\n");
    for (size_t i = 0; i < a->n_shown; i++) {
        const gbs_diagnostics *d = &a->of[a->shown[i]];
        gbsi_output_csv_field(output, a->drawn.name[a->shown[i]]);
        for (size_t k = 0; k < N_COLUMNS; k++) {
            gbsi_output_text(output, ",");
            if (!isnan(column(d, k))) { /* a value that is not known leaves its field empty */
                gbsi_output_double(output, column(d, k));
            }
        }
        gbsi_output_text(output, d->constant ? ",1\n" : ",0\n");
    }
}

void cli_diagnosis_as_json(gbs_output *output, const void *context)
{
    const cli_diagnosis *a = context;
    gbsi_output_text(
        output, "{\n  \"schema\": \"diagnose/1\",\n  \"tool\": \"gibbsite\",\n  \"version\": ");
    gbsi_output_json_string(output, gbs_version());
    gbsi_output_text(output, ",\n  ");
    cli_diagnosis_json(output, a);
    gbsi_output_text(output, "\n}\n");
}

void cli_diagnosis_json(gbs_output *output, const cli_diagnosis *a)
{
    gbsi_output_text(output, "\"chains\": ");
    gbsi_output_uint(output, a->drawn.n_chains);
    gbsi_output_text(output, ",\n  \"draws\": ");
    gbsi_output_uint(output, a->drawn.n_draws);
    gbsi_output_text(output, ",\n  \"quantities\": [");
    for (size_t i = 0; i < a->n_shown; i++) {
        const gbs_diagnostics *d = &a->of[a->shown[i]];
        gbsi_output_text(output, i > 0 ? ",\n    {\"name\": " : "\n    {\"name\": ");
        gbsi_output_json_string(output, a->drawn.name[a->shown[i]]);
        for (size_t k = 0; k < N_COLUMNS; k++) {
            gbsi_output_text(output, ", \"");
            gbsi_output_text(output, columns[k].name);
            gbsi_output_text(output, "\": ");
            gbsi_output_json_double(output, column(d, k));
        }
        gbsi_output_text(output, d->constant ? ", \"constant\": true" : ", \"constant\": false");
        gbsi_output_text(output, isinf(d->rhat) ? ", \"stuck\": true}" : "}"); /* JSON has no inf */
    }
    gbsi_output_text(output, a->n_shown > 0 ? "\n  ]" : "]");
}

gbs_status cli_diagnosis_draws(gbs_output *output, const cli_diagnosis *a, gbs_error *err)
{
    gbs_drawn *shown = calloc(a->n_shown + 1, sizeof *shown);
    if (shown == NULL) {
        return cli_reason(err, GBS_ERR_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < a->n_shown; i++) {
        shown[i] = (gbs_drawn){a->drawn.name[a->shown[i]], a->drawn.value[a->shown[i]]};
    }
    const gbs_status status =
        gbs_draws_summary(shown, a->n_shown, a->drawn.n_chains, a->drawn.n_draws, output, err);
    free(shown);
    return status;
}

static void put_number(gbs_output *output, double value, const char *format, int width)
{
    char text[32] = "";
    if (!isnan(value)) {
        (void)snprintf(text, sizeof text, format, value);
    }
    cli_put_right(output, text, width);
}

enum { MEAN = 11, ERROR = 10, RHAT = 8, ESS = 9, MOST_NAME = 32 };

void cli_diagnosis_table(gbs_output *output, const cli_diagnosis *a)
{
    const int width = cli_terminal_width() - 1;
    const int wide =
        width >= MEAN + 2 * ERROR + RHAT + 2 * ESS +
                     12; /* whether the terminal is wide enough for the columns sd and tail ESS */
    const int numbers = MEAN + ERROR + RHAT + ESS + (wide ? ERROR + ESS : 0);
    int name = width - numbers < 8 ? 8 : width - numbers;
    name = name < MOST_NAME ? name : MOST_NAME;
    char text[160];
    (void)snprintf(text, sizeof text, "%zu quantit%s, %zu chain%s of %zu draw%s%s", a->drawn.n,
                   gbsi_plural_of(a->drawn.n, "y", "ies"), a->drawn.n_chains,
                   gbsi_plural(a->drawn.n_chains), a->drawn.n_draws, gbsi_plural(a->drawn.n_draws),
                   a->n_shown < a->drawn.n ? "; largest R-hat first" : "");
    cli_put_wrapped(output, text);
    cli_put_column(output, "", name);
    cli_put_right(output, "mean", MEAN);
    cli_put_right(output, "+-", ERROR);
    cli_put_right(output, wide ? "sd" : "", wide ? ERROR : 0);
    cli_put_right(output, "R-hat", RHAT);
    cli_put_right(output, wide ? "bulk ESS" : "ESS", ESS);
    cli_put_right(output, wide ? "tail ESS" : "", wide ? ESS : 0);
    gbsi_output_text(output, "\n");
    for (size_t i = 0; i < a->n_shown; i++) {
        const gbs_diagnostics *d = &a->of[a->shown[i]];
        cli_put_column(output, a->drawn.name[a->shown[i]], name);
        put_number(output, d->mean, "%.5g", MEAN);
        if (d->constant) {
            cli_put_right(output, "constant", ERROR);
        } else {
            put_number(output, d->mcse_mean, "%.2g", ERROR);
            put_number(output, wide ? d->sd : NAN, "%.4g", wide ? ERROR : 0);
            put_number(output, d->rhat, "%.3f", RHAT);
            put_number(output, d->ess_bulk, "%.0f", ESS);
            put_number(output, wide ? d->ess_tail : NAN, "%.0f", wide ? ESS : 0);
        }
        gbsi_output_text(output, "\n");
    }
}

void cli_diagnosis_as_table(gbs_output *output, const void *context)
{
    cli_diagnosis_table(output, context);
}

void cli_diagnosis_free(cli_diagnosis *a)
{
    cli_drawn_free(&a->drawn);
    free(a->of);
    free(a->shown);
}
