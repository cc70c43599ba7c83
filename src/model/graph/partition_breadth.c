/* SPDX-License-Identifier: Apache-2.0 */
/* Recursive bisection without coordinates. The variables of a piece are put in breadth-first
 * order from the far end of the piece, and the order is cut in two. Each half is then cut again
 * with its own order (level-structure bisection: George & Liu 1978, SIAM J. Numer. Anal.
 * 15:1053-1069). Halves of a mesh are compact; intervals of a single order would be long strips. */
#include <string.h>

#include "base/memory.h"
#include "graph/partition.h"

/* longer scopes are ignored: they say little about which variables are near each other, and they
 * cost much time */
#define MOST_MEMBERS 64u

/* A piece of the graph: the variables site[first .. first + n), which belong to the parts from
 * `part` on. Until this piece is cut, the array part[] holds the number `part` for the variables of
 * the piece and for no other variable. */
typedef struct piece {
    uint32_t first, n;
    uint32_t part, n_parts;
} piece;

typedef struct breadth {
    const gbsi_graph *graph;
    gbsi_watch *watch;
    uint32_t *part;
    uint32_t *site, *queue; /* [n_variables] variables by piece, and the queue of a walk */
    uint32_t *met;          /* [n_variables] label of the last walk that visited the variable */
    uint32_t *used; /* [n_scopes] label of the last walk that used the scope; NULL if all scopes are
                       pairs */
    uint32_t label; /* label of the current walk; all components of a piece share two labels */
} breadth;

static gbs_status breadth_init(breadth *b, gbs_error *err)
{
    const uint32_t n = b->graph->n_variables;
    const bool pairs = b->graph->neighbour != NULL;
    b->site = gbsi_alloc_array(n, sizeof *b->site);
    b->queue = gbsi_alloc_array(n, sizeof *b->queue);
    b->met = gbsi_alloc_array_zero(n, sizeof *b->met);
    b->used = pairs ? NULL : gbsi_alloc_array_zero(b->graph->n_scopes, sizeof *b->used);
    if (b->site == NULL || b->queue == NULL || b->met == NULL || (!pairs && b->used == NULL)) {
        return gbsi_no_memory(err, "partition",
                              (3 * (size_t)n + b->graph->n_scopes) * sizeof *b->site);
    }
    for (uint32_t v = 0; v < n; v++) {
        b->site[v] = v;
        b->part[v] = 0;
    }
    return GBS_OK;
}

static void breadth_free(breadth *b)
{
    GBSI_FREE(b->site, b->queue, b->met, b->used);
}

/* Marks a scope as used. @return false if the current walk has already used the scope, or if the
 * scope is too long. */
static bool use(breadth *b, size_t end, size_t n_members)
{
    if (b->used == NULL) {
        return true;
    }
    uint32_t *used = &b->used[b->graph->incident[end]];
    const bool first = *used != b->label && n_members <= MOST_MEMBERS;
    *used = b->label;
    return first;
}

/* Lists the variables of the piece that are connected with a variable, in breadth-first order, from
 * queue[0] on.
 * @return the number of variables visited; if the watch stopped the walk, some variables may be
 * missing. */
static uint32_t walk(breadth *b, uint32_t from, uint32_t *queue)
{
    const gbsi_graph *graph = b->graph;
    const uint32_t own = b->part[from];
    uint32_t n = 1;
    b->met[from] = b->label;
    queue[0] = from;
    for (uint32_t at = 0; at < n; at++) {
        const uint32_t v = queue[at];
        const size_t end = gbsi_graph_ends(graph, v + (size_t)1);
        uint64_t spent = 1;
        for (size_t i = gbsi_graph_ends(graph, v); i < end; i++) {
            const gbsi_members members = gbsi_graph_members(graph, i);
            spent++;
            const size_t n_looked = use(b, i, members.n) ? members.n : 0;
            for (size_t e = 0; e < n_looked; e++) {
                const uint32_t u = members.variable[e];
                if (b->part[u] == own && b->met[u] != b->label) {
                    b->met[u] = b->label;
                    queue[n++] = u;
                }
                spent++;
            }
        }
        if (gbsi_watch_spend(b->watch, spent)) {
            break;
        }
    }
    return n;
}

/* Sorts the variables of a piece by component, and each component by breadth-first order from
 * its far end. */
static void sort(breadth *b, const piece *p)
{
    const uint32_t first = b->label + 1;
    const uint32_t second = b->label + 2;
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n && !gbsi_watch_stopped(b->watch); i++) {
        const uint32_t v = b->site[p->first + i];
        if (b->met[v] != second) {
            b->label = first;
            const uint32_t n_component = walk(b, v, b->queue + n);
            b->label = second;
            n += walk(b, b->queue[n + n_component - 1], b->queue + n);
        }
    }
    if (!gbsi_watch_stopped(b->watch)) {
        memcpy(b->site + p->first, b->queue, p->n * sizeof *b->site);
    }
}

gbs_status gbsi_partition_breadth(const gbsi_graph *graph, const uint32_t *work, uint32_t n_parts,
                                  gbsi_watch *watch, uint32_t *part, gbs_error *err)
{
    gbs_status status = GBS_OK;
    breadth b = {.graph = graph, .watch = watch, .part = part};
    piece stack[64] = {/* stack of pieces: each of the at most 32 halvings leaves one piece */
                       {.n = graph->n_variables, .n_parts = n_parts}};
    unsigned n_stack = 1;
    GBSI_TRY(breadth_init(&b, err));
    while (n_stack > 0) {
        const piece p = stack[--n_stack];
        if (p.n_parts == 1 || p.n == 0) {
            continue;
        }
        if (p.n > p.n_parts) {
            sort(&b, &p);
        }
        if (gbsi_watch_stopped(watch)) {
            GBSI_TRY(gbsi_watch_fail(err, "dividing the model"));
        }
        const uint32_t n_first = p.n_parts / 2;
        const uint32_t n = gbsi_partition_share(b.site + p.first, work, p.n, n_first, p.n_parts);
        stack[n_stack++] = (piece){p.first, n, p.part, n_first};
        stack[n_stack++] = (piece){p.first + n, p.n - n, p.part + n_first, p.n_parts - n_first};
        for (uint32_t i = p.first + n; i < p.first + p.n; i++) {
            part[b.site[i]] = p.part + n_first;
        }
    }

cleanup:
    breadth_free(&b);
    return status;
}
