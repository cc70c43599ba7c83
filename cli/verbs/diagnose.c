/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite diagnose: R-hat, effective sample sizes and errors of draws of any program. */
#include "diagnose.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "draws/kept_draws.h"
#include "job/job.h"
#include "options/rows.h"

enum { TOP = 20 };

/* Vehtari et al. (2021), section 4: R-hat below 1.01 and an ESS of 100 for each of four chains. */
#define MOST_RHAT    1.01
#define LEAST_ESS    400.0
#define LEAST_CHAINS 4

/* The columns of CSV and members of JSON after the name. */
static const struct {
    const char *name;
    size_t at; /* in gbs_diagnostics */
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
    if (a->of == NULL || a->shown == NULL) {
        return cli_error(CLI_FAILED, "out of memory");
    }
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
            return cli_error(CLI_STOPPED, "stopped after %zu of %zu quantities", i, d->n);
        }
    }
    return CLI_DONE;
}

/* Largest R-hat first, those without one last; else in the order of the file. */
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
    ranked *order = malloc((n + 1) * sizeof *order);
    if (order == NULL) {
        return cli_error(CLI_FAILED, "out of memory");
    }
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

static void write_csv(gbs_output *output, const void *context)
{
    const cli_diagnosis *a = context;
    gbs_output_text(output, "name");
    for (size_t k = 0; k < N_COLUMNS; k++) {
        gbs_output_text(output, ",");
        gbs_output_text(output, columns[k].name);
    }
    gbs_output_text(output, ",constant\n");
    for (size_t i = 0; i < a->n_shown; i++) {
        const gbs_diagnostics *d = &a->of[a->shown[i]];
        gbs_output_csv_field(output, a->drawn.name[a->shown[i]]);
        for (size_t k = 0; k < N_COLUMNS; k++) {
            gbs_output_text(output, ",");
            if (!isnan(column(d, k))) { /* empty: not known */
                gbs_output_double(output, column(d, k));
            }
        }
        gbs_output_text(output, d->constant ? ",1\n" : ",0\n");
    }
}

static void write_json(gbs_output *output, const void *context)
{
    const cli_diagnosis *a = context;
    gbs_output_text(output,
                    "{\n  \"schema\": \"diagnose/1\",\n  \"tool\": \"gibbsite\",\n  \"version\": ");
    gbs_output_json_string(output, gbs_version());
    gbs_output_text(output, ",\n  ");
    cli_diagnosis_json(output, a);
    gbs_output_text(output, "\n}\n");
}

void cli_diagnosis_json(gbs_output *output, const cli_diagnosis *a)
{
    gbs_output_text(output, "\"chains\": ");
    gbs_output_uint(output, a->drawn.n_chains);
    gbs_output_text(output, ",\n  \"draws\": ");
    gbs_output_uint(output, a->drawn.n_draws);
    gbs_output_text(output, ",\n  \"quantities\": [");
    for (size_t i = 0; i < a->n_shown; i++) {
        const gbs_diagnostics *d = &a->of[a->shown[i]];
        gbs_output_text(output, i > 0 ? ",\n    {\"name\": " : "\n    {\"name\": ");
        gbs_output_json_string(output, a->drawn.name[a->shown[i]]);
        for (size_t k = 0; k < N_COLUMNS; k++) {
            gbs_output_text(output, ", \"");
            gbs_output_text(output, columns[k].name);
            gbs_output_text(output, "\": ");
            gbs_output_json_double(output, column(d, k));
        }
        gbs_output_text(output, d->constant ? ", \"constant\": true}" : ", \"constant\": false}");
    }
    gbs_output_text(output, a->n_shown > 0 ? "\n  ]" : "]");
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
    const int wide = width >= MEAN + 2 * ERROR + RHAT + 2 * ESS + 12; /* sd and tail ESS too */
    const int numbers = MEAN + ERROR + RHAT + ESS + (wide ? ERROR + ESS : 0);
    int name = width - numbers < 8 ? 8 : width - numbers;
    name = name < MOST_NAME ? name : MOST_NAME;
    char text[160];
    (void)snprintf(text, sizeof text, "%zu quantities, %zu chains of %zu draws%s", a->drawn.n,
                   a->drawn.n_chains, a->drawn.n_draws,
                   a->n_shown < a->drawn.n ? "; largest R-hat first" : "");
    cli_put_wrapped(output, text);
    cli_put_column(output, "", name);
    cli_put_right(output, "mean", MEAN);
    cli_put_right(output, "+-", ERROR);
    cli_put_right(output, wide ? "sd" : "", wide ? ERROR : 0);
    cli_put_right(output, "R-hat", RHAT);
    cli_put_right(output, wide ? "bulk ESS" : "ESS", ESS);
    cli_put_right(output, wide ? "tail ESS" : "", wide ? ESS : 0);
    gbs_output_text(output, "\n");
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
        gbs_output_text(output, "\n");
    }
}

static void write_table(gbs_output *output, const void *context)
{
    cli_diagnosis_table(output, context);
}

/* The smallest effective number of draws in the bulk or the tail of a quantity that has one. */
static size_t least_ess(const cli_diagnosis *a, double *ess)
{
    size_t at = a->drawn.n;
    *ess = INFINITY;
    for (size_t i = 0; i < a->drawn.n; i++) {
        const double least = fmin(a->of[i].ess_bulk, a->of[i].ess_tail); /* leaves out NAN */
        if (least < *ess) {
            *ess = least;
            at = i;
        }
    }
    return at;
}

/* @return whether they have converged. */
static int tell(const cli_diagnosis *a)
{
    size_t n_constant = 0;
    size_t n_unknown = 0;
    char text[512];
    double ess = 0.0;
    const size_t slow = least_ess(a, &ess);
    for (size_t i = 0; i < a->drawn.n; i++) {
        n_constant += a->of[i].constant != 0;
        n_unknown += !a->of[i].constant && isnan(a->of[i].rhat);
    }
    if (n_constant > 0) {
        cli_note(a->arguments,
                 "%zu of %zu quantities never change: that says nothing about convergence",
                 n_constant, a->drawn.n);
    }
    if (n_unknown > 0) {
        cli_note(a->arguments,
                 "%zu of %zu quantities have no R-hat: too few draws, or some that are not finite",
                 n_unknown, a->drawn.n);
    }
    if (a->worst == a->drawn.n) {
        cli_note_verdict(a->arguments, CLI_YELLOW, "not converged: no quantity has an R-hat");
        return 0;
    }
    const double rhat = a->of[a->worst].rhat;
    cli_colour colour = CLI_YELLOW;
    if (rhat > MOST_RHAT) {
        colour = CLI_RED;
        (void)snprintf(text, sizeof text,
                       "not converged: the chains disagree, R-hat of %.100s is %.4g, above 1.01; "
                       "draw longer chains",
                       a->drawn.name[a->worst], rhat);
    } else if (a->drawn.n_chains < LEAST_CHAINS) {
        (void)snprintf(text, sizeof text,
                       "not converged: fewer than 4 chains: one that is stuck looks like one that "
                       "has converged");
    } else if (ess < LEAST_ESS) {
        (void)snprintf(
            text, sizeof text,
            "not converged: %.100s has an effective sample size of %.0f, 400 are needed; "
            "draw longer chains",
            a->drawn.name[slow], ess);
    } else {
        colour = n_unknown > 0 ? CLI_YELLOW : CLI_GREEN;
        (void)snprintf(text, sizeof text, "%s: R-hat is at most %.4f, ESS at least %.0f",
                       n_unknown > 0 ? "not converged, as far as is known" : "converged", rhat,
                       ess);
    }
    cli_note_verdict(a->arguments, colour, text);
    return colour == CLI_GREEN;
}

void cli_diagnosis_free(cli_diagnosis *a)
{
    cli_drawn_free(&a->drawn);
    free(a->of);
    free(a->shown);
}

static int check(const cli_arguments *arguments, const char **format)
{
    if (arguments->n_operands == 0) {
        return cli_error(CLI_USAGE, "diagnose: DRAWS is missing; see 'gibbsite help diagnose'");
    }
    const int status = cli_output_format(arguments, "csv|table|json",
                                         cli_is_terminal(STDOUT_FILENO) ? "table" : "csv", format);
    return status == CLI_DONE ? cli_check_plot(arguments) : status;
}

static int run_diagnose(cli_arguments *arguments)
{
    cli_diagnosis a = {.arguments = arguments};
    const char *format = NULL;
    int status = check(arguments, &format);
    cli_signals_catch();
    if (status == CLI_DONE) {
        status = cli_drawn_read(&a.drawn, arguments->operand, arguments->n_operands);
    }
    if (status == CLI_DONE) {
        status = cli_diagnosis_make(&a);
    }
    const int is_table = format != NULL && strcmp(format, "table") == 0;
    if (status == CLI_DONE) {
        status = cli_diagnosis_choose(
            &a, arguments->top == 0 && is_table && a.drawn.n > TOP ? TOP : arguments->top);
    }
    if (status == CLI_DONE && arguments->plot != NULL && a.worst == a.drawn.n) {
        status =
            cli_error(CLI_FAILED, "--plot %s: no quantity has an R-hat to show", arguments->plot);
    }
    if (status == CLI_DONE) {
        status = cli_write(arguments->output != NULL ? arguments->output : "-",
                           is_table                      ? write_table
                           : strcmp(format, "json") == 0 ? write_json
                                                         : write_csv,
                           &a);
    }
    if (status == CLI_DONE && arguments->plot != NULL) {
        status = cli_diagnose_chart(&a);
    }
    if (status == CLI_DONE) {
        status = cli_judge(arguments, tell(&a), CLI_DONE);
    }
    cli_diagnosis_free(&a);
    return status;
}

/* ---- the row ------------------------------------------------------------------------------ */

static const cli_option options[] = {
#include "gibbsite/questions/diagnose.def"
};

const cli_verb cli_verb_diagnose = {
    .name = "diagnose",
    CLI_TAKES(options),
    .n_operands = -1,
    .operands = "DRAWS...",
    .what = "have the chains converged? draws of any program",
    .notes = "R-hat, effective sample sizes and standard errors of every quantity, as Vehtari\n"
             "et al. (2021) define them. DRAWS is one .npz, .npy or .nc (ArviZ) file, the\n"
             "BASEindex.txt of CODA, or CSV files as of CmdStan, a chain a file. Four chains\n"
             "have converged if R-hat is below 1.01 and ESS above 400; quantities that never\n"
             "change are called constant, which says nothing about convergence.\n",
    .example = "gibbsite sample examples/sprinkler.bif --method sample --sweeps 2k -o d.npz\n"
               "gibbsite diagnose d.npz\n"
               "gibbsite diagnose d.npz --plot ranks.svg --format json\n",
    .run = run_diagnose,
};
