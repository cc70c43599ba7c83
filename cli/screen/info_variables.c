/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite info --variables: prints the number, name, degree, observation and states of each
 * variable. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/info.h"

enum { MOST_NAME = 28, MOST_STATE = 16, NUMBER = 32, LEAST_ROOM = 12 };

typedef struct list {
    gbs_output *output;
    const cli_job *job;
    uint32_t *degree; /* [n_variables] number of factors that contain the variable */
    int number, name, degrees, state; /* widths of columns; 0: the column is left out */
    int width;
} list;

static void put(const list *l, const char *text, int width, int right)
{
    if (width == 0) { /* the column is left out */
        return;
    }
    if (right) {
        cli_put_right(l->output, text, width);
    } else {
        cli_put_column(l->output, text, width);
    }
    gbsi_output_text(l->output, "  ");
}

/* @return the column at which states begin. */
static int before_states(const list *l)
{
    return l->number + 2 + l->name + 2 + (l->degrees > 0 ? l->degrees + 2 : 0) + l->state + 2;
}

/* Makes room for the states on a narrow terminal: names are cut, and the number of factors is
 * left out. */
static void make_room(list *l)
{
    int *column[] = {&l->name, &l->state};
    const int least[] = {12, 8};
    for (size_t i = 0; i < 2; ++i) {
        while (*column[i] > least[i] && l->width - before_states(l) < LEAST_ROOM) {
            --*column[i];
        }
    }
    if (l->width - before_states(l) < LEAST_ROOM) {
        l->degrees = 0;
    }
}

static const char *state_text(const gbs_model *model, uint32_t v, uint32_t a, char text[NUMBER])
{
    const char *label = gbs_model_state_label(model, v, a);
    (void)snprintf(text, NUMBER, "%" PRIu32, a);
    return label != NULL ? label : text;
}

/* @return the label or number of the observed state, or "". */
static const char *observed(const list *l, uint32_t v, char text[NUMBER])
{
    uint32_t state = 0;
    const int is = gbs_evidence_state(l->job->evidence, v, &state);
    return is ? state_text(l->job->model, v, state, text) : "";
}

static int wider(int width, const char *text, int most)
{
    const int columns = cli_columns_of(text);
    return columns <= width ? width : columns < most ? columns : most;
}

static void lay_out(list *l)
{
    const gbs_model *model = l->job->model;
    char text[NUMBER];
    const uint32_t n = gbs_model_n_variables(model);
    (void)snprintf(text, sizeof text, "%" PRIu32, n > 0 ? n - 1 : 0);
    l->number = wider(1, text, NUMBER);
    l->name = cli_columns_of("variable");
    l->state = cli_columns_of("observed");
    l->degrees = 7;
    l->width = cli_terminal_width() - 1;
    for (uint32_t v = 0; v < n; ++v) {
        l->name = wider(l->name, cli_variable_text(model, v, "x", text), MOST_NAME);
        l->state = wider(l->state, observed(l, v, text), MOST_STATE);
    }
    make_room(l);
}

/* Writes the states after the other columns, on one or more lines. If the states have no labels,
 * writes only the number of states. */
static void put_states(const list *l, uint32_t v)
{
    const gbs_model *model = l->job->model;
    const uint32_t arity = gbs_model_arity(model, v);
    const int left = before_states(l);
    char text[NUMBER];
    int column = left;
    (void)snprintf(text, sizeof text, "%" PRIu32, arity);
    gbsi_output_text(l->output, text);
    column += cli_columns_of(text);
    for (uint32_t a = 0; a < arity && gbs_model_state_label(model, v, a) != NULL; ++a) {
        const char *label = state_text(model, v, a, text);
        const int most = l->width - left - 1;
        const int wide = cli_columns_of(label) < most ? cli_columns_of(label) : most;
        const int n = wide + (a + 1 < arity);
        const char *before = a == 0 ? ": " : " ";
        if (column + cli_columns_of(before) + n > l->width && column > left) {
            gbsi_output_text(l->output, a == 0 ? ":\n" : "\n");
            for (int i = 0; i < left; ++i) {
                gbsi_output_text(l->output, " ");
            }
            column = left;
            before = "";
        }
        gbsi_output_text(l->output, before);
        cli_put_column(l->output, label, wide);
        gbsi_output_text(l->output, a + 1 < arity ? "," : "");
        column += cli_columns_of(before) + n;
    }
    gbsi_output_text(l->output, "\n");
}

static void put_row(const list *l, uint32_t v)
{
    char text[NUMBER];
    (void)snprintf(text, sizeof text, "%" PRIu32, v);
    put(l, text, l->number, 1);
    put(l, cli_variable_text(l->job->model, v, "x", text), l->name, 0);
    (void)snprintf(text, sizeof text, "%" PRIu32, l->degree[v]);
    put(l, text, l->degrees, 1);
    put(l, observed(l, v, text), l->state, 0);
    put_states(l, v);
}

int cli_info_variables(gbs_output *output, const cli_job *job)
{
    const uint32_t n = gbs_model_n_variables(job->model);
    list l = {.output = output, .job = job};
    l.degree = calloc((size_t)n + 1, sizeof *l.degree);
    if (l.degree == NULL) {
        return cli_error(CLI_FAILED, "out of memory: %" PRIu32 " variables", n);
    }
    for (size_t f = 0; f < gbs_model_n_factors(job->model); ++f) {
        uint32_t m = 0;
        const uint32_t *scope = NULL;
        (void)gbs_model_factor(job->model, f, &m, &scope);
        for (uint32_t i = 0; i < m; ++i) {
            ++l.degree[scope[i]];
        }
    }
    lay_out(&l);
    put(&l, "", l.number, 1);
    put(&l, "variable", l.name, 0);
    put(&l, "factors", l.degrees, 1);
    put(&l, "observed", l.state, 0);
    gbsi_output_text(output, "states\n");
    for (uint32_t v = 0; v < n; ++v) {
        put_row(&l, v);
    }
    free(l.degree);
    return CLI_DONE;
}
