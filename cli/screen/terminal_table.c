/* SPDX-License-Identifier: Apache-2.0 */
/* Prints marginals for people: first the question, then a line with a bar for each state. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/joint_tables.h"
#include "src/core/base/plural.h"
#include "verbs/marginals.h"

enum {
    MOST_NAME = 28,
    MOST_LABEL = 20,
    LEAST_NAME = 8,
    LEAST_LABEL = 6,
    LEAST = 4, /* least widths of name and label if other columns have already been left out */
    ESS = 10,
    RHAT = 8,
    LEAST_BAR = 8,
    MOST_BAR = 30,
    MOST_DECIMALS = 9,
    NUMBER = 64, /* size of a number as text, in bytes */
};

typedef struct layout {
    int name, label, probability, error, ess, rhat,
        bar;     /* widths of columns; 0: the column is left out */
    int unicode; /* 1: bars are drawn in eighths of a column */
} layout;

/* ---- numbers --------------------------------------------------------------------------------- */

/* @return the number of decimals with which the error has two digits; six if there is no error. */
static int decimals_of(double mcse)
{
    if (!(mcse > 0.0)) {
        return 6;
    }
    const int decimals = 1 - (int)floor(log10(mcse));
    return decimals < 2 ? 2 : decimals > MOST_DECIMALS ? MOST_DECIMALS : decimals;
}

/* Writes a probability. A probability that rounding would turn into 0 or 1 is written with three
 * digits. */
static void probability_text(double p, double mcse, char text[NUMBER])
{
    const int decimals = decimals_of(mcse);
    (void)snprintf(text, NUMBER, "%.*f", decimals, p);
    if (!(mcse > 0.0) && p > 0.0 && p < 1e-5) {
        (void)snprintf(text, NUMBER, "%.2e", p);
    }
}

static void error_text(double mcse, char text[NUMBER])
{
    text[0] = '\0';
    if (mcse > 0.0) {
        (void)snprintf(text, NUMBER, "+- %.*f", decimals_of(mcse), mcse);
    }
}

/* ---- layout ---------------------------------------------------------------------------------- */

static const char *label_of(const cli_job *job, uint32_t v, uint32_t a, char text[NUMBER])
{
    const char *label = gbs_model_state_label(job->model, v, a);
    if (label == NULL) {
        (void)snprintf(text, NUMBER, "%" PRIu32, a);
    }
    return label != NULL ? label : text;
}

static int wider(int a, int b)
{
    return a > b ? a : b;
}

/* Makes a column narrower, but not narrower than `least`, if the line is wider than the
 * terminal. */
static void shrink(int *column, int least, int *left)
{
    const int most = *column > least ? *column - least : 0;
    const int by = *left >= 0 ? 0 : -*left < most ? -*left : most;
    *column -= by;
    *left += by;
}

/* Leaves out a column if the line is wider than the terminal. */
static void drop(int *column, int *left)
{
    if (*left < 0) {
        *left += *column;
        *column = 0;
    }
}

/* If the line is wider than the terminal, leaves out the column of ESS. If this is not sufficient,
 * also leaves out the column of R-hat. */
static void drop_numbers(layout *l, int *left)
{
    drop(&l->ess, left);
    drop(&l->rhat, left);
}

/* Widens the columns of numbers so that these values fit. */
static void widen(layout *l, double p, double mcse)
{
    char text[NUMBER];
    probability_text(p, mcse, text);
    l->probability = wider(l->probability, (int)strlen(text));
    error_text(mcse, text);
    if (text[0] != '\0') {
        l->error = wider(l->error, (int)strlen(text) + 1);
        l->ess = ESS;
        l->rhat = RHAT;
    }
}

static void fill_with_bar(layout *l, int left)
{
    l->bar = left < LEAST_BAR + 2 ? 0 : left - 2 < MOST_BAR ? left - 2 : MOST_BAR;
}

static layout lay_out(const cli_job *job, const cli_estimates *e)
{
    const size_t *offset = gbs_model_state_offsets(job->model);
    layout l = {.name = 8, .label = 5, .probability = 11, .unicode = cli_speaks_unicode()};
    for (uint32_t i = 0; i < e->selection->n; ++i) {
        const uint32_t v = e->selection->variable[i];
        char text[NUMBER];
        char name[32];
        l.name = wider(l.name, cli_columns_of(cli_variable_text(job->model, v, "", name)));
        for (uint32_t a = 0; a < gbs_model_arity(job->model, v); ++a) {
            l.label = wider(l.label, cli_columns_of(label_of(job, v, a, text)));
            widen(&l, e->p[offset[v] + a], e->mcse[offset[v] + a]);
        }
    }
    l.name = l.name < MOST_NAME ? l.name : MOST_NAME;
    l.label = l.label < MOST_LABEL ? l.label : MOST_LABEL;
    int left = cli_terminal_width() - 1 -
               (l.name + 2 + l.label + 2 + l.probability + l.error + l.ess + l.rhat);
    shrink(&l.name, LEAST_NAME, &left);
    shrink(&l.label, LEAST_LABEL, &left);
    drop_numbers(&l, &left);
    shrink(&l.name, LEAST, &left);
    shrink(&l.label, LEAST, &left);
    fill_with_bar(&l, left);
    return l;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void put_bar(gbs_output *output, const layout *l, double p)
{
    static const char *const eighth[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const double share = p < 0.0 ? 0.0 : p > 1.0 ? 1.0 : p;
    const int eighths = (int)floor(8.0 * l->bar * share + 0.5);
    for (int i = 0; i < eighths / 8; ++i) {
        gbsi_output_text(output, l->unicode ? "█" : "#");
    }
    if (l->unicode) {
        gbsi_output_text(output, eighth[eighths % 8]);
    } else if (eighths % 8 >= 4) {
        gbsi_output_text(output, "#");
    }
}

/* Puts a number, or blanks for NAN. */
static void put_number(gbs_output *output, const char *format, double value, int width)
{
    char text[NUMBER] = "";
    if (isfinite(value)) {
        (void)snprintf(text, sizeof text, format, value);
    }
    cli_put_right(output, text, width);
}

/* Puts a probability and its error. */
static void put_numbers(gbs_output *output, const layout *l, double p, double mcse)
{
    char text[NUMBER];
    probability_text(p, mcse, text);
    cli_put_column(
        output, text,
        l->probability); /* aligned to the left, so that decimal points are below each other */
    if (l->error > 0) {
        error_text(mcse, text);
        gbsi_output_text(output, " ");
        cli_put_column(output, text, l->error - 1);
    }
}

/* Puts the numbers of a row, and the end of the line. */
static void put_estimate(gbs_output *output, const layout *l, double p, double mcse, double ess,
                         double rhat)
{
    put_numbers(output, l, p, mcse);
    if (l->ess > 0) {
        put_number(output, "%.0f", ess, l->ess);
    }
    if (l->rhat > 0) {
        put_number(output, "%.3f", rhat, l->rhat);
    }
    if (l->bar > 0 && p > 0.0) {
        gbsi_output_text(output, "  ");
        put_bar(output, l, p);
    }
    gbsi_output_text(output, "\n");
}

static void put_row(gbs_output *output, const cli_job *job, const cli_estimates *e, const layout *l,
                    uint32_t v, uint32_t a)
{
    const size_t row = gbs_model_state_offsets(job->model)[v] + a;
    char text[NUMBER];
    char name[32];
    cli_put_column(output, a == 0 ? cli_variable_text(job->model, v, "", name) : "", l->name);
    gbsi_output_text(output, "  ");
    cli_put_column(output, label_of(job, v, a, text), l->label);
    gbsi_output_text(output, "  ");
    put_estimate(output, l, e->p[row], e->mcse[row], e->ess[row], e->rhat[row]);
}

static void put_numbers_of_head(gbs_output *output, const layout *l)
{
    cli_put_column(output, "probability", l->probability);
    if (l->error > 0) {
        gbsi_output_text(output, " ");
        cli_put_column(output, "   error", l->error - 1);
    }
}

static void put_head_of_numbers(gbs_output *output, const layout *l)
{
    put_numbers_of_head(output, l);
    if (l->ess > 0) {
        cli_put_right(output, "ESS", l->ess);
    }
    if (l->rhat > 0) {
        cli_put_right(output, "R-hat", l->rhat);
    }
    gbsi_output_text(output, "\n");
}

static void put_head(gbs_output *output, const layout *l)
{
    cli_put_column(output, "variable", l->name);
    gbsi_output_text(output, "  ");
    cli_put_column(output, "state", l->label);
    gbsi_output_text(output, "  ");
    put_head_of_numbers(output, l);
}

/* ---- heading --------------------------------------------------------------------------------- */

static void put(FILE *to, const char *text)
{
    (void)fputs(text, to);
}

/* Puts the question, such as "Marginals of M given smoke=yes: " */
static void put_question(FILE *to, const cli_job *job, const char *what)
{
    const cli_arguments *arguments = job->arguments;
    put(to, what);
    put(to, " of ");
    put(to, arguments->operand[0]);
    for (int i = 0; i < arguments->n_evidence; ++i) {
        put(to, i == 0 ? " given " : ", ");
        put(to, arguments->evidence[i]);
    }
    if (arguments->file_evidence) {
        put(to, arguments->n_evidence > 0 ? ", its observations" : " given its observations");
    }
    if (arguments->likelihood != NULL) {
        put(to, arguments->n_evidence > 0 || arguments->file_evidence ? ", likelihoods "
                                                                      : " given likelihoods ");
        put(to, arguments->likelihood);
    }
    if (arguments->virtual_evidence != NULL) {
        put(to, ", likelihoods of ");
        put(to, arguments->virtual_evidence);
    }
    put(to, ": ");
}

/* Writes the method, such as "sampled, 16 chains of 4096 sweeps" */
static void say_how(const gbs_report *r, char text[CLI_SUM_TEXT])
{
    (void)snprintf(text, CLI_SUM_TEXT, "exact");
    if (cli_is_approximate(r)) {
        (void)snprintf(text, CLI_SUM_TEXT, "%s, an approximation without errors",
                       strcmp(r->method, "bp") == 0 ? "belief propagation" : "mean field");
    } else if (strcmp(r->method, "exact") != 0) {
        (void)snprintf(text, CLI_SUM_TEXT,
                       "sampled, %" PRIu32 " chain%s of %" PRIu64 " sweep%s%s%s", r->chains,
                       gbsi_plural(r->chains), r->sweeps, gbsi_plural(r->sweeps),
                       r->in_burn_in ? ", stopped during burn-in" : "",
                       r->n_exact_variables > 0 ? "; small components exactly" : "");
    }
}

static void put_title(gbs_output *output, const cli_job *job, const char *what, const char *how)
{
    char *title = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&title, &n);
    if (to != NULL) {
        put_question(to, job, what);
        put(to, how);
        (void)fclose(to);
        cli_put_wrapped(output, title);
    }
    free(title);
}

static void put_heading(gbs_output *output, const cli_job *job, const char *what)
{
    char text[CLI_SUM_TEXT];
    say_how(gbs_run_report(job->run), text);
    put_title(output, job, what, text);
    if (gbs_run_report(job->run)->chains_disagree) {
        cli_put_wrapped(output, "error: " CLI_UNRELIABLE_ERROR ", because the chains disagree");
    }
    cli_evidence_text(job, gbs_run_report(job->run)->log_z, text);
    if (text[0] != '\0') {
        cli_put_wrapped(output, text);
    }
    gbsi_output_text(output, "\n");
}

void cli_marginals_table(gbs_output *output, const cli_job *job, const cli_estimates *e)
{
    const layout l = lay_out(job, e);
    put_heading(output, job, "Marginals");
    put_head(output, &l);
    for (uint32_t i = 0; i < e->selection->n; ++i) {
        const uint32_t v = e->selection->variable[i];
        const int has = !isnan(e->p[gbs_model_state_offsets(job->model)[v]]);
        for (uint32_t a = 0; has && a < gbs_model_arity(job->model, v); ++a) {
            put_row(output, job, e, &l, v, a);
        }
    }
}

/* ---- joint tables ---------------------------------------------------------------------------- */

/* @return the width of the column with the states of variable i, at most `most`. */
static int joint_column(const cli_job *job, const cli_joint *t, uint32_t i, int most)
{
    const uint32_t v = t->selection.variable[i];
    char text[NUMBER];
    char name[32];
    int width = cli_columns_of(cli_variable_text(job->model, v, "", name));
    for (uint32_t a = 0; a < gbs_model_arity(job->model, v); ++a) {
        width = wider(width, cli_columns_of(label_of(job, v, a, text)));
    }
    return width < most ? width : most;
}

/* @return the total width of the columns of states, each at most `most`. */
static int joint_columns(const cli_job *job, const cli_joint *t, int most)
{
    int sum = 0;
    for (uint32_t i = 0; i < t->selection.n; ++i) {
        sum += joint_column(job, t, i, most) + 2;
    }
    return sum;
}

/* Chooses the layout of a joint table. layout.label is the width for every variable. If
 * layout.label is 0, the states do not fit beside each other, even in LEAST columns each, and
 * are listed. */
static layout lay_out_joint(const cli_job *job, const cli_joint *t)
{
    layout l = {.label = MOST_LABEL, .probability = 11, .unicode = cli_speaks_unicode()};
    for (size_t row = 0; row < t->n; ++row) {
        widen(&l, t->p[row], t->mcse[row]);
    }
    const int room = cli_terminal_width() - 1 - (l.probability + l.error + l.ess + l.rhat);
    int left = room - joint_columns(job, t, l.label);
    while (left < 0 && l.label > LEAST_LABEL) {
        left = room - joint_columns(job, t, --l.label);
    }
    drop_numbers(&l, &left);
    while (left < 0 && l.label > LEAST) {
        const int before = joint_columns(job, t, l.label);
        left += before - joint_columns(job, t, --l.label);
    }
    if (left < 0) {
        l.label = 0;
    }
    fill_with_bar(&l, left);
    return l;
}

static void put_joint_row(gbs_output *output, const cli_job *job, const cli_joint *t,
                          const layout *l, size_t row)
{
    char text[NUMBER];
    for (uint32_t i = 0; i < t->selection.n; ++i) {
        const uint32_t a = cli_joint_state(job->model, t, row, i);
        cli_put_column(output, label_of(job, t->selection.variable[i], a, text),
                       joint_column(job, t, i, l->label));
        gbsi_output_text(output, "  ");
    }
    put_estimate(output, l, t->p[row], t->mcse[row], t->ess[row], t->rhat[row]);
}

/* Writes a list such as "asia=no tub=no smoke=yes" to the right of the numbers, on one or more
 * lines. */
static void put_joint_list(gbs_output *output, const cli_job *job, const cli_joint *t, int first,
                           size_t row)
{
    const int room = cli_terminal_width() - 1 - first;
    int column = 0;
    for (uint32_t i = 0; i < t->selection.n; ++i) {
        const uint32_t v = t->selection.variable[i];
        char number[NUMBER];
        char name[32];
        char text[1024];
        (void)snprintf(text, sizeof text, "%s=%s", cli_variable_text(job->model, v, "", name),
                       label_of(job, v, cli_joint_state(job->model, t, row, i), number));
        const int wide = cli_columns_of(text) < room ? cli_columns_of(text) : room;
        if (i > 0 && column + 1 + wide > room) {
            gbsi_output_text(output, "\n");
            cli_put_right(output, "", first);
            column = 0;
        } else if (i > 0) {
            gbsi_output_text(output, " ");
            ++column;
        }
        cli_put_column(output, text, wide);
        column += wide;
    }
    gbsi_output_text(output, "\n");
}

static void put_joint_lists(gbs_output *output, const cli_job *job, const cli_joint *t, layout l)
{
    const int first = l.probability + l.error + 2;
    l.ess = l.rhat = l.bar = 0;
    put_numbers_of_head(output, &l);
    gbsi_output_text(output, "  states\n");
    for (size_t row = 0; row < t->n; ++row) {
        put_numbers(output, &l, t->p[row], t->mcse[row]);
        gbsi_output_text(output, "  ");
        put_joint_list(output, job, t, first, row);
    }
}

void cli_joint_table(gbs_output *output, const cli_job *job, const cli_joint *t)
{
    const layout l = lay_out_joint(job, t);
    char name[32];
    put_heading(output, job, "Joint distribution");
    if (l.label == 0) {
        put_joint_lists(output, job, t, l);
        return;
    }
    for (uint32_t i = 0; i < t->selection.n; ++i) {
        cli_put_column(output, cli_variable_text(job->model, t->selection.variable[i], "", name),
                       joint_column(job, t, i, l.label));
        gbsi_output_text(output, "  ");
    }
    put_head_of_numbers(output, &l);
    for (size_t row = 0; row < t->n; ++row) {
        put_joint_row(output, job, t, &l, row);
    }
}

/* ---- a state --------------------------------------------------------------------------------- */

void cli_state_table(gbs_output *output, const cli_job *job, const uint32_t *state, const char *how)
{
    enum { MOST = 40 };
    const gbs_model *model = job->model;
    const uint32_t n = gbs_model_n_variables(model);
    char text[32];
    int width = (int)sizeof "variable" - 1;
    for (uint32_t v = 0; v < n; ++v) {
        const int columns = cli_columns_of(cli_variable_text(model, v, "", text));
        width = columns > width ? columns : width;
    }
    width = width < MOST ? width : MOST;
    put_title(output, job, "Most probable state", how);
    gbsi_output_text(output, "\n");
    cli_put_column(output, "variable", width);
    gbsi_output_text(output, "  state\n");
    for (uint32_t v = 0; v < n; ++v) {
        cli_put_column(output, cli_variable_text(model, v, "", text), width);
        gbsi_output_text(output, "  ");
        gbsi_output_text(output, cli_state_text(model, v, state[v], text));
        gbsi_output_text(output, "\n");
    }
}
