/* SPDX-License-Identifier: Apache-2.0 */
/* Makes explicit rows of neighbours, for one component at a time, and only if the limits allow. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "graph/elimination_inside.h"

uint32_t gbsi_row_find(const vertex *x, uint32_t v)
{
    uint32_t low = 0;
    uint32_t high = x->n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (x->to[middle] < v) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static int ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void sort_row(uint32_t *to, uint32_t n)
{
    if (n > 32) {
        qsort(to, n, sizeof *to, ascending);
        return;
    }
    for (uint32_t i = 1; i < n; ++i) {
        const uint32_t v = to[i];
        uint32_t j = i;
        for (; j > 0 && to[j - 1] > v; --j) {
            to[j] = to[j - 1];
        }
        to[j] = v;
    }
}

/* Gathers the neighbours of v from its scopes, each neighbour once. @param seen [variables of
 * the graph]. */
static uint32_t gather(const gbsi_graph *graph, uint32_t v, uint32_t *seen, uint32_t *to)
{
    uint32_t n = 0;
    const size_t end = gbsi_graph_ends(graph, v + (size_t)1);
    seen[v] = v;
    for (size_t i = gbsi_graph_ends(graph, v); i < end; ++i) {
        const gbsi_members members = gbsi_graph_members(graph, i);
        for (size_t k = 0; k < members.n; ++k) {
            const uint32_t u = members.variable[k];
            if (seen[u] != v) {
                seen[u] = v;
                to[n++] = u;
            }
        }
    }
    sort_row(to, n);
    return n;
}

/* Copies the neighbours of v from its row, which contains all of them if all scopes are pairs. */
static uint32_t copy(const gbsi_graph *graph, uint32_t v, uint32_t *to)
{
    const size_t first = gbsi_graph_ends(graph, v);
    const uint32_t n = (uint32_t)(gbsi_graph_ends(graph, v + (size_t)1) - first);
    uint32_t kept = 0;
    if (n > 0) {
        memcpy(to, graph->neighbour + first, n * sizeof *to);
        sort_row(to, n);
    }
    for (uint32_t i = 0; i < n; ++i) {
        if (i == 0 || to[i] != to[i - 1]) {
            to[kept++] = to[i];
        }
    }
    return kept;
}

uint64_t gbsi_rows_room(const search *s, uint32_t n)
{
    uint64_t room = 0;
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t v = s->variable[i];
        const size_t n_ends =
            gbsi_graph_ends(s->graph, v + (size_t)1) - gbsi_graph_ends(s->graph, v);
        (void)gbsi_watch_spend(s->limits.watch, 4 * n_ends);
        room += gbsi_graph_degree(s->graph, v);
    }
    return room;
}

gbs_status gbsi_rows_make(search *s, uint32_t n, gbs_error *err)
{
    const uint64_t room = gbsi_rows_room(s, n);
    uint32_t *to = gbsi_alloc_array(room, sizeof *to);
    GBSI_PASS(GBSI_HAVE(err, "elimination", to));
    s->block = to;
    for (uint32_t i = 0; i < n; ++i) {
        vertex *x = &s->x[s->variable[i]];
        *x = (vertex){.to = to, .node = GBSI_NONE};
        x->n = s->graph->neighbour != NULL ? copy(s->graph, s->variable[i], to)
                                           : gather(s->graph, s->variable[i], s->local, to);
        x->degree = x->n;
        to += x->n;
    }
    for (uint32_t i = 0; i < n; ++i) {
        s->local[s->variable[i]] = GBSI_NONE;
    }
    return GBS_OK;
}

void gbsi_rows_free(search *s, uint32_t n)
{
    for (uint32_t i = 0; s->block != NULL && i < n; ++i) {
        vertex *x = &s->x[s->variable[i]];
        if (x->own) {
            gbsi_free(x->to);
            x->own = 0;
        }
    }
    gbsi_free(s->block);
    s->block = NULL;
}
