/* SPDX-License-Identifier: Apache-2.0 */
/* Incidence of variables and factors in both directions, as compressed rows made by one counting
 * sort. */
#include "graph/graph.h"

#include <assert.h>

#include "base/memory.h"

/* largest number of neighbours of a variable among which a repeated neighbour is searched for */
#define MOST_LOOKED_THROUGH 32u

/* Sizes of the arrays of a graph. */
typedef struct extent {
    size_t n_scopes, n_ends;
    bool pairs_only;
} extent;

/* Counts the scopes of two or more variables, and the sum of their lengths. */
static extent measure(const gbsi_factors *factors, const gbsi_edges *extra)
{
    extent x = {.pairs_only = true};
    for (size_t f = 0; f < factors->n_factors; f++) {
        const size_t n = factors->scope_start[f + 1] - factors->scope_start[f];
        if (n >= 2) {
            x.n_scopes++;
            x.n_ends += n;
            x.pairs_only &= n == 2;
        }
    }
    if (extra != NULL) {
        x.n_scopes += extra->n;
        x.n_ends += 2 * extra->n;
    }
    return x;
}

/* ---- number of ends of each variable ------------------------------------------------------- */

static gbs_status make_starts(gbsi_graph *graph, const gbsi_edges *extra, gbs_error *err)
{
    const gbsi_factors *factors = &graph->model->factors;
    const size_t n = graph->n_variables;
    bool fits = true;
    gbsi_watch *watch = gbsi_watch_current();
    uint32_t *degree = gbsi_alloc_array_zero(n + 1, sizeof *degree);
    GBSI_PASS(GBSI_HAVE(err, "graph", degree));
    for (size_t f = 0; f < factors->n_factors; f++) {
        const size_t first = factors->scope_start[f];
        const size_t length = factors->scope_start[f + 1] - first;
        fits &= length < 2 || gbsi_count_ends(degree, factors->scope + first, length);
        if (gbsi_watch_spend(watch, length)) {
            break; /* the work is stopped, and the rows will not be filled */
        }
    }
    fits &= extra == NULL || gbsi_count_ends(degree, extra->pair, 2 * extra->n);
    if (!fits) {
        gbsi_free(degree);
        return gbsi_fail(err, GBS_ERR_LIMIT, "graph: a variable with more than %u factors",
                         UINT32_MAX);
    }
    return gbsi_offsets_take(degree, n, &graph->incident_start, "graph", err);
}

/* ---- the ends ------------------------------------------------------------------------------ */

/* Returns the place of the next end of a variable. Scopes come in order, which makes every row
 * ascending. */
static size_t next_end(const gbsi_graph *graph, uint32_t *used, uint32_t v)
{
    return gbsi_graph_ends(graph, v) + used[v]++;
}

static void add_pair(gbsi_graph *graph, uint32_t *used, const uint32_t *pair)
{
    assert(pair[0] != pair[1]);
    graph->neighbour[next_end(graph, used, pair[0])] = pair[1];
    graph->neighbour[next_end(graph, used, pair[1])] = pair[0];
}

static void fill_pairs(gbsi_graph *graph, const gbsi_edges *extra, gbsi_watch *watch,
                       uint32_t *used)
{
    const gbsi_factors *factors = &graph->model->factors;
    for (size_t f = 0; f < factors->n_factors; f++) {
        if (gbsi_watch_spend(watch, 4)) {
            return;
        }
        if (factors->scope_start[f + 1] - factors->scope_start[f] == 2) {
            add_pair(graph, used, factors->scope + factors->scope_start[f]);
        }
    }
    for (size_t e = 0; extra != NULL && e < extra->n; e++) {
        add_pair(graph, used, extra->pair + 2 * e);
    }
}

static void add_scope(gbsi_graph *graph, uint32_t *used, size_t s, const uint32_t *variable,
                      size_t n)
{
    const size_t at = graph->scope_start[s];
    memcpy(graph->scope + at, variable, n * sizeof *variable);
    graph->scope_start[s + 1] = at + n;
    for (size_t i = 0; i < n; i++) {
        graph->incident[next_end(graph, used, variable[i])] = s;
    }
}

static void fill_scopes(gbsi_graph *graph, const gbsi_edges *extra, gbsi_watch *watch,
                        uint32_t *used)
{
    const gbsi_factors *factors = &graph->model->factors;
    size_t s = 0;
    graph->scope_start[0] = 0;
    for (size_t f = 0; f < factors->n_factors; f++) {
        const size_t n = factors->scope_start[f + 1] - factors->scope_start[f];
        if (gbsi_watch_spend(watch, 2 * n)) {
            return;
        }
        if (n >= 2) {
            add_scope(graph, used, s++, factors->scope + factors->scope_start[f], n);
        }
    }
    for (size_t e = 0; extra != NULL && e < extra->n; e++) {
        add_scope(graph, used, s++, extra->pair + 2 * e, 2);
    }
    assert(s == graph->n_scopes);
}

static gbs_status take_ends(gbsi_graph *graph, const extent *x, gbs_error *err)
{
    if (x->pairs_only) {
        graph->neighbour = gbsi_alloc_array(x->n_ends, sizeof *graph->neighbour);
        return GBSI_HAVE(err, "graph", graph->neighbour);
    }
    graph->incident = gbsi_alloc_array(x->n_ends, sizeof *graph->incident);
    graph->scope_start = gbsi_alloc_array(x->n_scopes + 1, sizeof *graph->scope_start);
    graph->scope = gbsi_alloc_array(x->n_ends, sizeof *graph->scope);
    return GBSI_HAVE(err, "graph", graph->incident, graph->scope_start, graph->scope);
}

gbs_status gbsi_graph_new(const gbsi_conditioned *model, const gbsi_edges *extra,
                          gbsi_graph **graph, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t *used = NULL;
    gbsi_watch *watch = gbsi_watch_current();
    gbsi_graph *made = gbsi_alloc_zero(sizeof *made);
    GBSI_PASS(GBSI_HAVE(err, "graph", made));
    made->model = model;
    made->n_variables = model->n_variables;
    made->all = extra != NULL && extra->all;
    if (extra != NULL && extra->n > SIZE_MAX / 64) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_LIMIT, "graph: %zu extra edges", extra->n));
    }
    const extent x = measure(&model->factors, extra);
    made->n_scopes = x.n_scopes;
    GBSI_TRY(make_starts(made, extra, err));
    GBSI_TRY(take_ends(made, &x, err));
    used = gbsi_alloc_array_zero(made->n_variables, sizeof *used);
    GBSI_TRY(GBSI_HAVE(err, "graph", used));
    if (x.pairs_only) {
        fill_pairs(made, extra, watch, used);
    } else {
        fill_scopes(made, extra, watch, used);
    }
    GBSI_TRY(gbsi_watch_stopped(watch) ? gbsi_watch_fail(err, "listing neighbours") : GBS_OK);
    *graph = made;
    made = NULL;

cleanup:
    gbsi_free(used);
    gbsi_graph_free(made);
    return status;
}

void gbsi_graph_free(gbsi_graph *graph)
{
    if (graph == NULL) {
        return;
    }
    gbsi_offsets_free(&graph->incident_start);
    GBSI_FREE(graph->neighbour, graph->incident, graph->scope_start, graph->scope, graph);
}

size_t gbsi_graph_degree(const gbsi_graph *graph, size_t v)
{
    const size_t first = gbsi_graph_ends(graph, v);
    const size_t end = gbsi_graph_ends(graph, v + 1);
    size_t sum = 0;
    for (size_t i = first; graph->neighbour == NULL && i < end; i++) {
        sum += gbsi_graph_n_others(graph, i);
    }
    return graph->neighbour == NULL ? sum : end - first;
}

bool gbsi_graph_may_repeat(const gbsi_graph *graph)
{
    for (uint32_t v = 0; graph->neighbour != NULL && v < graph->n_variables; ++v) {
        const uint32_t *neighbour = graph->neighbour + gbsi_graph_ends(graph, v);
        const size_t n = gbsi_graph_degree(graph, v);
        for (size_t i = 1; i < n; ++i) {
            for (size_t k = 0; k < i; ++k) {
                if (neighbour[i] == neighbour[k] || n > MOST_LOOKED_THROUGH) {
                    return true;
                }
            }
        }
    }
    return graph->neighbour == NULL;
}

size_t gbsi_graph_bytes(const gbsi_graph *graph)
{
    const size_t n_ends = gbsi_graph_ends(graph, graph->n_variables);
    const size_t of_ends = graph->neighbour != NULL
                               ? n_ends * sizeof *graph->neighbour
                               : n_ends * (sizeof *graph->incident + sizeof *graph->scope) +
                                     (graph->n_scopes + 1) * sizeof *graph->scope_start;
    return sizeof *graph + gbsi_offsets_bytes(&graph->incident_start) + of_ends;
}
