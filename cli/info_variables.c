/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite info --variables: number, name, degree, what is observed, states. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "info.h"

enum { MOST_NAME = 28, MOST_STATE = 16, NUMBER = 32 };

typedef struct list {
    gbs_output *output;
    const cli_job *job;
    uint32_t *degree; /* [n_variables] factors that the variable is in */
    int number, name, state, width;
} list;

static int columns_of(const char *text)
{
    int n = 0;
    for (; *text != '\0'; ++text) {
        n += ((unsigned char)*text & 0xC0) != 0x80;
    }
    return n;
}

static void put(const list *l, const char *text, int width, int right)
{
    const int blanks = width - columns_of(text);
    for (int i = 0; right && i < blanks; ++i) {
        gbs_output_text(l->output, " ");
    }
    gbs_output_text(l->output, text);
    for (int i = 0; !right && i < blanks; ++i) {
        gbs_output_text(l->output, " ");
    }
    gbs_output_text(l->output, "  ");
}

static const char *state_text(const gbs_model *model, uint32_t v, uint32_t a, char text[NUMBER])
{
    const char *label = gbs_model_state_label(model, v, a);
    (void)snprintf(text, NUMBER, "%" PRIu32, a);
    return label != NULL ? label : text;
}

/* The state that was observed, or "". */
static const char *observed(const list *l, uint32_t v, char text[NUMBER])
{
    uint32_t state = 0;
    const int is = gbs_evidence_state(l->job->evidence, v, &state);
    return is ? state_text(l->job->model, v, state, text) : "";
}

static int wider(int width, const char *text, int most)
{
    const int columns = columns_of(text);
    return columns <= width ? width : columns < most ? columns : most;
}

static void lay_out(list *l)
{
    const gbs_model *model = l->job->model;
    char text[NUMBER];
    const uint32_t n = gbs_model_n_variables(model);
    (void)snprintf(text, sizeof text, "%" PRIu32, n > 0 ? n - 1 : 0);
    l->number = wider(1, text, NUMBER);
    l->name = columns_of("variable");
    l->state = columns_of("observed");
    l->width = cli_terminal_width();
    for (uint32_t v = 0; v < n; ++v) {
        l->name = wider(l->name, cli_variable_text(model, v, "x", text), MOST_NAME);
        l->state = wider(l->state, observed(l, v, text), MOST_STATE);
    }
}

/* Behind the other columns, on as many lines as they take; numbers alone only as how many. */
static void put_states(const list *l, uint32_t v)
{
    const gbs_model *model = l->job->model;
    const uint32_t arity = gbs_model_arity(model, v);
    const int left = l->number + l->name + l->state + 7 + 4 * 2;
    char text[NUMBER];
    int column = left;
    (void)snprintf(text, sizeof text, "%" PRIu32, arity);
    gbs_output_text(l->output, text);
    column += columns_of(text);
    for (uint32_t a = 0; a < arity && gbs_model_state_label(model, v, a) != NULL; ++a) {
        const char *label = state_text(model, v, a, text);
        const int n = columns_of(label) + (a + 1 < arity);
        const char *before = a == 0 ? ": " : " ";
        if (column + columns_of(before) + n > l->width && column > left) {
            gbs_output_text(l->output, a == 0 ? ":\n" : "\n");
            for (int i = 0; i < left; ++i) {
                gbs_output_text(l->output, " ");
            }
            column = left;
            before = "";
        }
        gbs_output_text(l->output, before);
        gbs_output_text(l->output, label);
        gbs_output_text(l->output, a + 1 < arity ? "," : "");
        column += columns_of(before) + n;
    }
    gbs_output_text(l->output, "\n");
}

static void put_row(const list *l, uint32_t v)
{
    char text[NUMBER];
    (void)snprintf(text, sizeof text, "%" PRIu32, v);
    put(l, text, l->number, 1);
    put(l, cli_variable_text(l->job->model, v, "x", text), l->name, 0);
    (void)snprintf(text, sizeof text, "%" PRIu32, l->degree[v]);
    put(l, text, 7, 1);
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
    put(&l, "factors", 7, 1);
    put(&l, "observed", l.state, 0);
    gbs_output_text(output, "states\n");
    for (uint32_t v = 0; v < n; ++v) {
        put_row(&l, v);
    }
    free(l.degree);
    return CLI_DONE;
}
