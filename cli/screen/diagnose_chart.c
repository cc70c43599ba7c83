/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite diagnose --plot: the draws of the quantity with the largest R-hat, chain by chain, and
 * histograms of the ranks of these draws. If the chains agree, all bars of the histograms have
 * nearly equal heights (Vehtari et al. 2021, section 4.3). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draws/diagnosis.h"
#include "gibbsite/diagnose.h"
#include "src/core/base/plural.h"
#include "src/show/chart/chart.h"

enum {
    BINS = 20,          /* number of bins of ranks */
    MOST_CHAINS = 4,    /* largest number of chains in the chart, each in a colour of its own */
    MOST_POINTS = 1000, /* largest number of points of a line */
};

typedef struct place {
    double value;
    size_t draw; /* number of the draw among the draws of all chains */
} place;

static int compare_places(const void *a, const void *b)
{
    const place *p = a;
    const place *q = b;
    return p->value != q->value ? (p->value < q->value ? -1 : 1)
                                : (p->draw < q->draw ? -1 : p->draw > q->draw);
}

typedef struct chart {
    size_t n_chains, n_points;
    place *order;
    double *x, *y; /* [n_chains][n_points] index of each shown draw, and value of each shown draw */
    double *share; /* [n_chains][2 BINS] heights of the histograms of ranks, as steps */
    double *edge;  /* [2 BINS] edges of the steps */
} chart;

/* Computes, for each chain and each bin, the share of the chain's draws whose rank among all draws
 * is in the bin, relative to an even histogram. */
static void count_ranks(const double *value, size_t n_draws, size_t n_all, chart *c)
{
    for (size_t i = 0; i < n_all; i++) {
        c->order[i] = (place){value[i], i};
    }
    qsort(c->order, n_all, sizeof *c->order, compare_places);
    for (size_t first = 0, end; first < n_all; first = end) {
        for (end = first + 1; end < n_all && c->order[end].value == c->order[first].value; end++) {
        }
        /* equal draws are spread evenly over their common ranks */
        for (size_t i = first; i < end; i++) {
            const size_t chain = c->order[i].draw / n_draws;
            const size_t low = first * BINS / n_all;
            const size_t high = (end - 1) * BINS / n_all;
            for (size_t b = low; b <= high && chain < c->n_chains; b++) {
                const double from = fmax((double)first, (double)b * (double)n_all / BINS);
                const double to = fmin((double)end, (double)(b + 1) * (double)n_all / BINS);
                const double part = fmax(to - from, 0.0) / (double)(end - first);
                c->share[chain * 2 * BINS + 2 * b] += part * BINS / (double)n_draws;
            }
        }
    }
    for (size_t k = 0; k < c->n_chains * BINS; k++) {
        c->share[2 * k + 1] = c->share[2 * k];
    }
    for (size_t b = 0; b < BINS; b++) {
        c->edge[2 * b] = (double)b * (double)n_all / BINS;
        c->edge[2 * b + 1] = (double)(b + 1) * (double)n_all / BINS;
    }
}

static void thin_out(const double *value, size_t n_draws, chart *c)
{
    for (size_t k = 0; k < c->n_chains; k++) {
        for (size_t i = 0; i < c->n_points; i++) {
            const size_t draw = i * n_draws / c->n_points;
            c->x[k * c->n_points + i] = (double)(draw + 1);
            c->y[k * c->n_points + i] = value[k * n_draws + draw];
        }
    }
}

static int draw(const cli_diagnosis *a, const chart *c)
{
    static const gbsi_color colors[MOST_CHAINS] = {GBSI_BLUE, GBSI_VERMILLION, GBSI_GREEN,
                                                   GBSI_PURPLE};
    static const char *const labels[MOST_CHAINS] = {"chain 1", "chain 2", "chain 3", "chain 4"};
    gbs_error err = {GBS_OK, ""};
    gbsi_line trace[MOST_CHAINS] = {{0}};
    gbsi_line rank[MOST_CHAINS] = {{0}};
    gbsi_key key[MOST_CHAINS];
    char title[200];
    char subtitle[200];
    for (size_t k = 0; k < c->n_chains; k++) {
        trace[k] = (gbsi_line){.color = colors[k],
                               .n = c->n_points,
                               .x = c->x + k * c->n_points,
                               .y = c->y + k * c->n_points};
        rank[k] = (gbsi_line){
            .color = colors[k], .n = (size_t)2 * BINS, .x = c->edge, .y = c->share + k * 2 * BINS};
        key[k] = (gbsi_key){labels[k], colors[k], GBSI_SOLID, false};
    }
    const gbsi_guide even = {"even", 0.0, 1.0, 1.0};
    const gbsi_panel panel[2] = {
        {.title = "draws", .x = {.label = "draw"}, .n_lines = c->n_chains, .line = trace},
        {.title = "ranks among the draws of all chains",
         .x = {.label = "rank"},
         .y = {.label = "density, 1 where chains agree"},
         .n_lines = c->n_chains,
         .line = rank,
         .n_guides = 1,
         .guide = &even}};
    const gbs_diagnostics *d = &a->of[a->worst];
    (void)snprintf(title, sizeof title, "%.100s: R-hat %.3f", a->drawn.name[a->worst], d->rhat);
    (void)snprintf(subtitle, sizeof subtitle,
                   "the largest R-hat of %zu quantit%s; %zu chain%s of %zu draw%s%s", a->drawn.n,
                   gbsi_plural_of(a->drawn.n, "y", "ies"), a->drawn.n_chains,
                   gbsi_plural(a->drawn.n_chains), a->drawn.n_draws, gbsi_plural(a->drawn.n_draws),
                   c->n_chains < a->drawn.n_chains ? ", the first 4 are shown" : "");
    const gbsi_figure figure = {.title = title,
                                .subtitle = subtitle,
                                .description = "Left the draws of each chain, right a histogram of "
                                               "the ranks of its draws among those of all chains.",
                                .panel_width = 360.0,
                                .panel_height = 220.0,
                                .columns = 2,
                                .n_panels = 2,
                                .panel = panel,
                                .n_keys = c->n_chains,
                                .key = key};
    const char *path = a->arguments->plot;
    const gbs_status done = gbsi_figure_write(&figure, path, &err);
    return done < 0 ? cli_fail_output(path, done, &err) : CLI_DONE;
}

int cli_diagnose_chart(const cli_diagnosis *a)
{
    const cli_drawn *d = &a->drawn;
    const size_t n_all = d->n_chains * d->n_draws;
    chart c = {.n_chains = d->n_chains < MOST_CHAINS ? d->n_chains : MOST_CHAINS,
               .n_points = d->n_draws < MOST_POINTS ? d->n_draws : MOST_POINTS};
    c.order = malloc(n_all * sizeof *c.order);
    c.x = malloc(c.n_chains * c.n_points * sizeof *c.x);
    c.y = malloc(c.n_chains * c.n_points * sizeof *c.y);
    c.share = calloc(c.n_chains, 2 * BINS * sizeof *c.share);
    c.edge = malloc(2 * BINS * sizeof *c.edge);
    int status = CLI_DONE;
    if (c.order == NULL || c.x == NULL || c.y == NULL || c.share == NULL || c.edge == NULL) {
        status = cli_error(CLI_FAILED, "out of memory");
    } else {
        count_ranks(d->value[a->worst], d->n_draws, n_all, &c);
        thin_out(d->value[a->worst], d->n_draws, &c);
        status = draw(a, &c);
    }
    free(c.order);
    free(c.x);
    free(c.y);
    free(c.share);
    free(c.edge);
    return status;
}
