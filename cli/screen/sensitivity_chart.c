/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite sensitivity --plot: a tornado chart of the parameters that change the probability
 * most. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gibbsite/sensitivity.h"
#include "src/show/chart/chart.h"
#include "verbs/sensitivity.h"

enum {
    MOST_LABEL = 64, /* largest number of bytes of a label; longer labels are cut */
    MOST_HEAD = 36,  /* number of these bytes that come from the beginning of the label */
};

typedef struct chart {
    size_t n;
    const char **label; /* [n] labels, which point into text */
    char *text;         /* [n][CLI_PARAMETER_TEXT] texts of the labels */
    double *end[2]; /* [n] probability that results if the parameter is 10 per cent smaller, or 10
                       per cent larger */
} chart;

/* @return the probability if a parameter is multiplied by `times`; a first-order approximation if
 *         the parameter is the weight of a formula of more than two values. */
static double swing(const cli_sensitivities *a, size_t i, double times)
{
    const gbs_sensitivities *s = &a->s;
    const double exactly = cli_parameter_times(a, i, times);
    if (s->kind[i] != GBS_PARAMETER_WEIGHT || !isnan(exactly)) {
        return exactly;
    }
    const double p = s->p + s->derivative[i] * s->value[i] * (times - 1.0);
    return fmin(fmax(p, 0.0), 1.0);
}

/* @return the length of a bar; fmin() and fmax() ignore NAN. */
static double size_of(const cli_sensitivities *a, size_t i)
{
    const double below = swing(a, i, 0.9);
    const double above = swing(a, i, 1.1);
    return fmax(fmax(below, above), a->s.p) - fmin(fmin(below, above), a->s.p);
}

/* Cuts the middle out of a text of MOST_LABEL bytes or more, between UTF-8 characters, so that
 * names that differ at the beginning or at the end stay different. */
static void cut(char *text)
{
    size_t n = strlen(text);
    size_t head = MOST_HEAD;
    if (n < MOST_LABEL) {
        return;
    }
    size_t tail = n - (MOST_LABEL - MOST_HEAD - 3);
    while (head > 0 && ((unsigned char)text[head] & 0xC0) == 0x80) {
        head--;
    }
    while (tail < n && ((unsigned char)text[tail] & 0xC0) == 0x80) {
        tail++;
    }
    text[head] = '.';
    text[head + 1] = '.';
    memmove(text + head + 2, text + tail, n - tail + 1);
}

/* Numbers the label of bar k if an earlier bar has the same label, because both were cut. */
static void distinguish(const chart *c, size_t k)
{
    char *text = c->text + k * CLI_PARAMETER_TEXT;
    for (size_t j = 0; j < k; j++) {
        if (strcmp(c->label[j], text) == 0) {
            const size_t n = strlen(text);
            (void)snprintf(text + n, CLI_PARAMETER_TEXT - n, " (%zu)", k + 1);
            return;
        }
    }
}

static int fill(const cli_sensitivities *a, const size_t *order, chart *c)
{
    const size_t n = c->n;
    c->label = calloc(n + 1, sizeof(const char *));
    c->text = calloc(n + 1, CLI_PARAMETER_TEXT);
    c->end[0] = calloc(2 * n + 1, sizeof *c->end[0]);
    CLI_PASS(CLI_HAVE(c->label, c->text, c->end[0]));
    c->end[1] = c->end[0] + n;
    for (size_t k = 0; k < n; k++) {
        char *text = c->text + k * CLI_PARAMETER_TEXT;
        cli_parameter_text(a, order[k], text);
        cut(text);
        c->label[k] = text;
        distinguish(c, k);
        c->end[0][k] = swing(a, order[k], 0.9);
        c->end[1][k] = swing(a, order[k], 1.1);
    }
    return CLI_DONE;
}

static int draw(const cli_sensitivities *a, const chart *c)
{
    gbs_error err = {GBS_OK, ""};
    char title[320];
    (void)snprintf(title, sizeof title, "%s = %.4g", a->title, a->s.p);
    const gbsi_swings swings = {.n = c->n,
                                .label = c->label,
                                .origin = a->s.p,
                                .end = {c->end[0], c->end[1]},
                                .color = {GBSI_ORANGE, GBSI_BLUE}};
    const gbsi_panel panel = {.x = {.label = a->title}, .swings = &swings};
    const gbsi_key key[] = {{"parameter 10 % smaller", GBSI_ORANGE, GBSI_SOLID, true},
                            {"parameter 10 % larger", GBSI_BLUE, GBSI_SOLID, true}};
    const gbsi_figure figure = {
        .title = title,
        .subtitle = gbs_model_is_directed(a->job.model)
                        ? "the parameters that move it most; the rest of a column in proportion"
                        : "the parameters that move it most",
        .description = "A tornado chart: for each parameter a bar from the probability where the "
                       "parameter is 10 per cent smaller to that where it is 10 per cent larger, "
                       "the longest bar first.",
        .panel_width = 420.0,
        .panel_height = 20.0 * (double)(c->n > 0 ? c->n : 1),
        .n_panels = 1,
        .panel = &panel,
        .n_keys = 2,
        .key = key};
    const char *path = a->job.arguments->plot;
    const gbs_status done = gbsi_figure_write(&figure, path, &err);
    return done < 0 ? cli_fail_output(path, done, &err) : CLI_DONE;
}

int cli_sensitivity_chart(const cli_sensitivities *a, size_t most)
{
    chart c = {0};
    size_t *order = NULL;
    int status = cli_rank_parameters(a, size_of, &order, &c.n);
    c.n = c.n < most ? c.n : most;
    if (status == CLI_DONE) {
        status = fill(a, order, &c);
    }
    if (status == CLI_DONE) {
        status = draw(a, &c);
    }
    free(order);
    free(c.label);
    free(c.text);
    free(c.end[0]);
    return status;
}
