/* SPDX-License-Identifier: Apache-2.0 */
/* Shows whether the chains agree: distributions of R-hat and effective sample sizes over all
 * variables, and traces, ranks and autocorrelations of draws. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "chart/chart_pen.h"
#include "report/page.h"

enum {
    MOST_BINS = 64,
    MOST_POINTS = 1000, /* points of a line */
    MOST_LINES = 4,
};

#define WIDTH  300.0
#define HEIGHT 150.0

/* ---- distributions --------------------------------------------------------------------------- */

/* A histogram, drawn as a line of steps over the edges of the bins, with the area below it
 * filled. */
typedef struct steps {
    size_t n;
    double x[2 * MOST_BINS], y[2 * MOST_BINS], zero[2 * MOST_BINS];
} steps;

/* Reads a histogram. @return whether the edges of the histogram ascend and each bin has a count. */
static bool read_steps(gbsi_page *page, const gbsi_json *of, bool positive, steps *s)
{
    double edge[MOST_BINS + 1];
    double count[MOST_BINS];
    const size_t n = gbsi_page_reals(page, gbsi_page_array(page, of, "edges"), edge, MOST_BINS + 1);
    const size_t n_counts =
        gbsi_page_reals(page, gbsi_page_array(page, of, "counts"), count, MOST_BINS);
    if (n < 2 || n_counts != n - 1) {
        return false;
    }
    s->n = 2 * n_counts;
    for (size_t b = 0; b < n_counts; b++) {
        if (!(edge[b] < edge[b + 1]) || (positive && !(edge[b] > 1e-6)) || !(count[b] >= 0.0)) {
            return false;
        }
        s->x[2 * b] = edge[b];
        s->x[2 * b + 1] = edge[b + 1];
        s->y[2 * b] = s->y[2 * b + 1] = count[b];
        s->zero[2 * b] = s->zero[2 * b + 1] = 0.0;
    }
    return true;
}

static const char *end_text(double value, bool is_ess, char text[48])
{
    return is_ess ? gbsi_page_number_text(value, 1, text) : gbsi_page_fixed_text(value, 4, text);
}

static void put_distribution(gbsi_page *page, const gbsi_json *of, const char *title,
                             const char *axis, bool is_ess)
{
    char caption[512];
    char least[48];
    char most[48];
    char above[160] = "";
    steps s;
    if (of == NULL || !read_steps(page, of, is_ess, &s)) {
        return;
    }
    const gbsi_line line = {.color = is_ess ? GBSI_GREEN : GBSI_BLUE,
                            .n = s.n,
                            .x = s.x,
                            .y = s.y,
                            .low = s.zero,
                            .high = s.y};
    const bool log = is_ess && s.x[s.n - 1] > 10.0 * s.x[0];
    const gbsi_panel panel = {.x = {.label = axis, .log = log}, .n_lines = 1, .line = &line};
    gbsi_figure figure = {.title = title,
                          .description =
                              "A histogram: how many states of variables have which value.",
                          .panel_width = WIDTH,
                          .panel_height = HEIGHT,
                          .columns = 1,
                          .n_panels = 1,
                          .panel = &panel};
    const char *n_above = gbsi_page_digits(page, of, "above");
    const char *variable = gbsi_page_string(page, of, "variable");
    if (n_above != NULL) {
        (void)snprintf(above, sizeof above, "; %s of %s are above %s",
                       strcmp(n_above, "0") == 0 ? "none" : n_above,
                       gbsi_page_digits(page, of, "values") == NULL
                           ? "all"
                           : gbsi_page_digits(page, of, "values"),
                       gbsi_page_number_text(gbsi_page_real(page, of, "limit"), 3, least));
    }
    (void)snprintf(caption, sizeof caption,
                   "%s: from %s to %s%s. The %s is that of variable %.120s.", title,
                   end_text(gbsi_page_real(page, of, "least"), is_ess, least),
                   end_text(gbsi_page_real(page, of, "most"), is_ess, most), above,
                   is_ess ? "smallest" : "largest", variable == NULL ? "?" : variable);
    gbsi_page_figure(page, &figure, caption);
}

void gbsi_page_convergence(gbsi_page *page, const gbsi_json *marginals)
{
    const gbsi_json *rhat = gbsi_page_object(page, marginals, "rhat");
    const gbsi_json *ess = gbsi_page_object(page, marginals, "ess");
    if (rhat == NULL && ess == NULL) {
        return;
    }
    gbsi_page_put(page,
                  "<section>\n<h3>Do the chains agree?</h3>\n<p class=\"note\">R-hat compares the "
                  "chains with one another: it is 1 where they agree. The effective sample size "
                  "(ESS) is the number of independent draws that would have the same error.</p>\n"
                  "<div class=\"figures\">\n");
    put_distribution(page, rhat, "R-hat", "R-hat", false);
    put_distribution(page, ess, "Effective sample size", "effective sample size", true);
    gbsi_page_put(page, "</div>\n</section>\n");
}

/* ---- draws ----------------------------------------------------------------------------------- */

static const gbsi_color colors[MOST_LINES] = {GBSI_BLUE, GBSI_VERMILLION, GBSI_GREEN, GBSI_PURPLE};

/* The chains in one chart. Each chain is an array of values at the places x. */
typedef struct chains {
    size_t n;
    gbsi_line line[MOST_LINES];
    double x[MOST_POINTS], y[MOST_LINES][MOST_POINTS];
} chains;

/* @param doubled whether each value is a step between two edges. @return whether there is a line
 *   to draw. */
static bool read_chains(gbsi_page *page, const gbsi_json *of, double first, double width,
                        bool doubled, chains *c)
{
    double value[MOST_POINTS];
    c->n = 0;
    for (const gbsi_json *e = gbsi_json_first(of); e != NULL && c->n < MOST_LINES;
         e = gbsi_json_next(of, e)) {
        if (e->kind != GBSI_JSON_ARRAY) {
            gbsi_page_refuse(page, e, "an array");
            return false;
        }
        const size_t most = doubled ? MOST_POINTS / 2 : MOST_POINTS;
        const size_t n = gbsi_page_reals(page, e, value, most);
        const size_t copies = doubled ? 2 : 1;
        for (size_t i = 0; i < n * copies; i++) {
            c->x[i] = first + width * (double)(doubled ? (i + 1) / 2 : i);
            c->y[c->n][i] = value[i / copies];
        }
        c->line[c->n] =
            (gbsi_line){.color = colors[c->n], .n = n * copies, .x = c->x, .y = c->y[c->n]};
        c->n++;
    }
    return c->n > 0;
}

static void put_chains(gbsi_page *page, const chains *c, const char *title, const char *x,
                       const char *y, const gbsi_guide *guide, const char *caption)
{
    static const char *const names[MOST_LINES] = {"chain 1", "chain 2", "chain 3", "chain 4"};
    gbsi_key key[MOST_LINES];
    for (size_t k = 0; k < c->n; k++) {
        key[k] = (gbsi_key){names[k], colors[k], GBSI_SOLID, false};
    }
    const gbsi_panel panel = {.x = {.label = x},
                              .y = {.label = y},
                              .n_lines = c->n,
                              .line = c->line,
                              .n_guides = guide != NULL,
                              .guide = guide};
    gbsi_figure figure = {.title = title,
                          .description = caption,
                          .panel_width = WIDTH,
                          .panel_height = HEIGHT,
                          .columns = 1,
                          .n_panels = 1,
                          .panel = &panel,
                          .n_keys = c->n > 1 ? c->n : 0,
                          .key = key};
    gbsi_page_figure(page, &figure, caption);
}

static void put_quantity(gbsi_page *page, const gbsi_json *q, double n_draws)
{
    chains c;
    const char *name = gbsi_page_string(page, q, "name");
    const gbsi_guide even = {"even", 0.0, 1.0, 1.0};
    const gbsi_json *trace = gbsi_page_array(page, q, "trace");
    const gbsi_json *means = gbsi_page_array(page, q, "mean_so_far");
    const gbsi_json *ranks = gbsi_page_array(page, q, "ranks");
    const gbsi_json *correlation = gbsi_page_array(page, q, "autocorrelation");
    const gbsi_json *first = gbsi_json_first(ranks);
    const double n_bins = first == NULL || first->n == 0 ? 1.0 : (double)first->n;
    const gbsi_json *points = gbsi_json_first(trace == NULL ? means : trace);
    const double step = points == NULL || points->n == 0 ? 1.0 : n_draws / (double)points->n;
    gbsi_page_put(page, "<h4>");
    gbsi_page_text(page, name == NULL ? "" : name);
    gbsi_page_put(page, "</h4>\n<dl class=\"figures-in-words\">\n");
    gbsi_page_fact_real(page, "Mean", gbsi_page_real(page, q, "mean"));
    gbsi_page_fact_real(page, "Standard error", gbsi_page_real(page, q, "mcse_mean"));
    gbsi_page_fact_real(page, "R-hat", gbsi_page_real(page, q, "rhat"));
    gbsi_page_fact_real(page, "ESS, bulk", gbsi_page_real(page, q, "ess_bulk"));
    gbsi_page_fact_real(page, "ESS, tail", gbsi_page_real(page, q, "ess_tail"));
    gbsi_page_put(page, "</dl>\n");
    if (gbsi_page_is(page, q, "constant")) {
        gbsi_page_put(page, "<p class=\"note\">All draws are equal: that says nothing about "
                            "convergence.</p>\n");
        return;
    }
    gbsi_page_put(page, "<div class=\"figures\">\n");
    if (read_chains(page, trace, 1.0, step, false, &c)) {
        put_chains(page, &c, "Draws", "draw", NULL, NULL,
                   "Draws: chains that agree lie over one another.");
    }
    if (read_chains(page, means, 1.0, step, false, &c)) {
        put_chains(page, &c, "Mean so far", "draw", NULL, NULL,
                   "Mean of the draws so far: chains that agree come together.");
    }
    if (read_chains(page, ranks, 0.0, 1.0 / n_bins, true, &c)) {
        put_chains(page, &c, "Ranks", "rank among the draws of all chains, as a share", NULL, &even,
                   "Ranks: level where a chain draws like the others.");
    }
    if (read_chains(page, correlation, 0.0, 1.0, false, &c)) {
        put_chains(page, &c, "Autocorrelation", "draws apart", NULL, NULL,
                   "Autocorrelation, mean over the chains: how long a chain remembers.");
    }
    gbsi_page_put(page, "</div>\n");
}

static void put_draws(gbsi_page *page, const gbsi_json *draws, const char *heading)
{
    const gbsi_json *quantities = gbsi_page_array(page, draws, "quantities");
    const double n = gbsi_page_real(page, draws, "draws");
    gbsi_put(page->out, "<section>\n<h3>%s</h3>\n<p>", heading);
    gbsi_page_count(page, gbsi_page_digits(page, draws, "chains"));
    gbsi_page_put(page, " chains of ");
    gbsi_page_count(page, gbsi_page_digits(page, draws, "draws"));
    gbsi_page_put(page, " draws.</p>\n");
    for (const gbsi_json *q = gbsi_json_first(quantities); q != NULL;
         q = gbsi_json_next(quantities, q)) {
        put_quantity(page, q, fabs(n) < 1e15 ? n : 1.0);
    }
    gbsi_page_put(page, "</section>\n");
}

void gbsi_page_draws(gbsi_page *page, const gbsi_json *draws)
{
    put_draws(page, draws, "Draws");
}

void gbsi_page_traces(gbsi_page *page, const gbsi_json *monitored)
{
    const gbsi_json *draws = gbsi_page_object(page, monitored, "traces");
    if (draws != NULL) {
        put_draws(page, draws, "Traces of the chains");
    }
}
