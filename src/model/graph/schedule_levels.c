/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the levels of a sequence of updates. Adjacent variables share a scope. It is therefore
 * enough to store, for every scope, the level of the last update of a variable in the scope; no
 * list of neighbours is needed. An update has a larger level than every earlier update in one of
 * its scopes, so two updates in one scope never have the same level. The levels of the updates of
 * one variable only grow. The last level of a scope of two variables is therefore the larger of the
 * last levels of these variables. */
#include "graph/graph.h"

#include <assert.h>
#include <string.h>

size_t gbsi_graph_n_last(const gbsi_graph *graph)
{
    return (size_t)graph->n_variables + (graph->neighbour != NULL ? 0 : graph->n_scopes);
}

/* Returns the level of the next update of a variable whose ends are [begin, end): 1 + the largest
 * last level of its scopes and of the variable. */
static uint32_t next_level(const gbsi_graph *graph, const uint32_t *last, size_t v, size_t begin,
                           size_t end)
{
    const uint32_t *of_end = graph->neighbour != NULL ? last : last + graph->n_variables;
    uint32_t at = last[v];
    for (size_t i = begin; i < end; i++) {
        const uint32_t seen =
            of_end[graph->neighbour != NULL ? graph->neighbour[i] : graph->incident[i]];
        at = seen > at ? seen : at;
    }
    return at;
}

void gbsi_graph_schedule_levels(const gbsi_graph *graph, const uint32_t *sequence, size_t n,
                                uint32_t *last, uint32_t *level, uint32_t *n_levels)
{
    if (graph->all) {
        for (size_t t = 0; t < n; t++) {
            level[t] = (uint32_t)t;
        }
        *n_levels = (uint32_t)n;
        return;
    }
    /* `last` holds 1 + the last level, or 0 before the first update, first for each variable and
     * then for each scope; the scopes are missing if all scopes are pairs. */
    const size_t n_last = gbsi_graph_n_last(graph);
    if (n_last > 0) { /* memset() requires a pointer even for 0 bytes */
        memset(last, 0, n_last * sizeof *last);
    }
    uint32_t *scope_last = last + graph->n_variables;
    uint32_t most = 0;
    gbsi_watch *watch = gbsi_watch_current(); /* the caller checks whether the watch stopped */
    for (size_t t = 0; t < n; t++) {
        const size_t v = sequence[t];
        assert(v < graph->n_variables);
        const size_t begin = gbsi_graph_ends(graph, v);
        const size_t end = gbsi_graph_ends(graph, v + 1);
        (void)gbsi_watch_spend(watch, 2 * (end - begin));
        uint32_t at = next_level(graph, last, v, begin, end);
        level[t] = at;
        assert(at < UINT32_MAX);
        at++;
        last[v] = at;
        for (size_t i = begin; graph->neighbour == NULL && i < end; i++) {
            scope_last[graph->incident[i]] = at;
        }
        most = at > most ? at : most;
    }
    *n_levels = most;
}
