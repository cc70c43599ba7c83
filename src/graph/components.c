/* SPDX-License-Identifier: Apache-2.0 */
/* Connected components, numbered by their lowest variables. Ends in the order they come join
 * trees of variables (Tarjan (1975), J. ACM 22(2):215-225): a search would touch a large graph at
 * random, this walks through it once, and a long scope costs its length, not its square. */
#include "graph/graph.h"

#include "base/memory.h"

/* The root of v, the lowest variable of its tree. Halves the path. */
static uint32_t find_root(uint32_t *parent, uint32_t v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

static void join(uint32_t *parent, uint32_t u, uint32_t v)
{
    const uint32_t a = find_root(parent, u);
    const uint32_t b = find_root(parent, v);
    parent[a < b ? b : a] = a < b ? a : b;
}

static void join_pairs(const gbsi_graph *graph, uint32_t *parent)
{
    for (uint32_t v = 0; v < graph->n_variables; v++) {
        const size_t end = gbsi_graph_ends(graph, v + (size_t)1);
        for (size_t i = gbsi_graph_ends(graph, v); i < end; i++) {
            if (graph->neighbour[i] < v) { /* each pair once */
                join(parent, graph->neighbour[i], v);
            }
        }
    }
}

static void join_scopes(const gbsi_graph *graph, uint32_t *parent)
{
    for (size_t s = 0; s < graph->n_scopes; s++) {
        for (size_t i = graph->scope_start[s] + 1; i < graph->scope_start[s + 1]; i++) {
            join(parent, graph->scope[i - 1], graph->scope[i]);
        }
    }
}

gbs_status gbsi_graph_components(const gbsi_graph *graph, uint32_t *component,
                                 uint32_t *n_components, gbs_error *err)
{
    uint32_t *parent = gbsi_alloc_array(graph->n_variables, sizeof *parent);
    if (parent == NULL) {
        return gbsi_no_memory(err, "components", graph->n_variables * sizeof *parent);
    }
    for (uint32_t v = 0; v < graph->n_variables; v++) {
        parent[v] = v;
    }
    if (graph->neighbour != NULL) {
        join_pairs(graph, parent);
    } else {
        join_scopes(graph, parent);
    }
    uint32_t number = 0;
    for (uint32_t v = 0; v < graph->n_variables; v++) {
        component[v] = parent[v] == v ? number++ : component[parent[v]]; /* parents are lower */
    }
    *n_components = number;
    gbsi_free(parent);
    return GBS_OK;
}
