/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the cliques of an elimination order without changing the graph, as in symbolic
 * factorisation. When a variable is eliminated, its neighbours come from two sources: its remaining
 * neighbours in the model, and the members of those cliques in which it is the first member to be
 * eliminated (George & Liu 1981, Computer Solution of Large Sparse Positive Definite Systems,
 * chapter 5). Takes O(members of all cliques). */
#include <string.h>

#include "base/memory.h"
#include "graph/graph.h"
#include "graph/order_search.h"

typedef struct walk {
    const gbsi_order_graph *graph;
    uint32_t *position; /* [n] position of each vertex in the order */
    uint32_t *seen;  /* [n] for each vertex, the position of the last clique to which the vertex was
                        added */
    uint32_t *child; /* [n] for each position p, the head of a list of the cliques whose first
                        member to be eliminated is at p */
    uint32_t *sibling; /* [n] for each clique, the next clique in its list */
} walk;

/* Adds to a clique the members of x that are eliminated after position `at` and are not yet in the
 * clique. @return the number of members of the clique afterwards. */
static uint32_t add_members(const walk *w, uint32_t at, const uint32_t *x, size_t n_x,
                            uint32_t *member, uint32_t n)
{
    for (size_t k = 0; k < n_x; ++k) {
        const uint32_t u = x[k];
        if (w->position[u] > at && w->seen[u] != at) {
            w->seen[u] = at;
            member[n++] = u;
        }
    }
    return n;
}

/* Reserves room for the clique at a position: as many elements as its two sources have members,
 * with repetitions. */
static gbs_status reserve(const walk *w, uint32_t at, uint32_t v, gbsi_order_cliques *c,
                          gbs_error *err)
{
    size_t n = w->graph->start[v + (size_t)1] - w->graph->start[v];
    void *pointer = c->member;
    for (uint32_t k = w->child[at]; k != GBSI_NONE; k = w->sibling[k]) {
        n += c->start[k + (size_t)1] - c->start[k];
    }
    n = n < w->graph->n ? n : w->graph->n;
    const gbs_status status = gbsi_reserve(&pointer, &c->capacity, c->start[at] + n,
                                           sizeof *c->member, "elimination order", err);
    c->member = pointer;
    return status;
}

static gbs_status fill_cliques(walk *w, const uint32_t *order, gbsi_order_cliques *c,
                               gbs_error *err)
{
    const gbsi_order_graph *g = w->graph;
    for (uint32_t at = 0; at < g->n; ++at) {
        const uint32_t v = order[at];
        GBSI_PASS(reserve(w, at, v, c, err));
        uint32_t *member = c->member + c->start[at];
        uint32_t n = add_members(w, at, g->to + g->start[v], g->start[v + (size_t)1] - g->start[v],
                                 member, 0);
        for (uint32_t k = w->child[at]; k != GBSI_NONE; k = w->sibling[k]) {
            n = add_members(w, at, c->member + c->start[k], c->start[k + (size_t)1] - c->start[k],
                            member, n);
        }
        uint32_t parent = GBSI_NONE;
        for (uint32_t k = 0; k < n; ++k) {
            const uint32_t p = w->position[member[k]];
            parent = p < parent ? p : parent;
        }
        if (parent != GBSI_NONE) {
            w->sibling[at] = w->child[parent];
            w->child[parent] = at;
        }
        c->start[at + (size_t)1] = c->start[at] + n;
    }
    return GBS_OK;
}

gbs_status gbsi_order_cliques_init(const gbsi_order_graph *graph, const uint32_t *order,
                                   gbsi_order_cliques *cliques, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = graph->n;
    walk w = {.graph = graph};
    cliques->start = gbsi_alloc_array_zero(n + 1, sizeof *cliques->start);
    w.position = gbsi_alloc_array(n, sizeof *w.position);
    w.seen = gbsi_alloc_array(n, sizeof *w.seen);
    w.child = gbsi_alloc_array(n, sizeof *w.child);
    w.sibling = gbsi_alloc_array(n, sizeof *w.sibling);
    GBSI_TRY(GBSI_HAVE(err, "elimination order", cliques->start, w.position, w.seen, w.child,
                       w.sibling));
    memset(w.seen, 0xff, n * sizeof *w.seen);
    memset(w.child, 0xff, n * sizeof *w.child);
    for (uint32_t at = 0; at < n; ++at) {
        w.position[order[at]] = at;
    }
    GBSI_TRY(fill_cliques(&w, order, cliques, err));

cleanup:
    GBSI_FREE(w.position, w.seen, w.child, w.sibling);
    return status;
}

void gbsi_order_cliques_free(gbsi_order_cliques *cliques)
{
    GBSI_FREE(cliques->start, cliques->member);
    *cliques = (gbsi_order_cliques){0};
}
