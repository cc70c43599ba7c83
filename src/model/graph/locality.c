/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/graph.h"

#include <string.h>

#include "base/memory.h"

/* number of ends examined to measure how far the numbers of neighbours are apart */
#define SAMPLES 4096u
/* least difference between the numbers of two neighbours that counts as far: the states of this
 * many variables fill most of a first-level cache */
#define FAR 4096u
/* number of processed variables after which the length of the queue shows the kind of graph */
#define PROBE 16384u

/* ---- distance of neighbours ---------------------------------------------------------------- */

/* Examines variables at even distances, and returns the fraction of them whose first neighbour is
 * FAR or more places away.
 * @param rank places of the variables; NULL if the places are the numbers of the variables. */
static double far_share(const gbsi_graph *graph, const uint32_t *rank)
{
    const uint32_t n = graph->n_variables;
    uint32_t n_seen = 0;
    uint32_t n_far = 0;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        const uint32_t v = (uint32_t)((uint64_t)n * i / SAMPLES);
        const size_t end = gbsi_graph_ends(graph, v);
        if (end == gbsi_graph_ends(graph, v + (size_t)1)) {
            continue;
        }
        const gbsi_members members = gbsi_graph_members(graph, end);
        const uint32_t other = members.variable[members.variable[0] == v ? members.n - 1 : 0];
        const uint32_t a = rank == NULL ? v : rank[v];
        const uint32_t b = rank == NULL ? other : rank[other];
        n_far += (a > b ? a - b : b - a) >= FAR;
        n_seen++;
    }
    return n_seen == 0 ? 0.0 : (double)n_far / n_seen;
}

/* ---- breadth first ------------------------------------------------------------------------- */

typedef struct search {
    const gbsi_graph *graph;
    uint32_t *rank; /* [n_variables] place in the order; GBSI_NONE if not visited */
    uint32_t
        /* [n_variables] visited variables, which are also the queue of the search */
        *order;
    uint32_t n_met;
    uint8_t
        /* [n_scopes] 1 if all members of the scope have been visited; NULL if all scopes are
         * pairs */
        *used;
    gbsi_watch *watch; /* if the watch has stopped, no order is found */
} search;

static void meet(search *s, uint32_t v)
{
    if (s->rank[v] == GBSI_NONE) {
        s->rank[v] = s->n_met;
        s->order[s->n_met++] = v;
    }
}

static void meet_neighbours(search *s, uint32_t v)
{
    const gbsi_graph *graph = s->graph;
    const size_t end = gbsi_graph_ends(graph, v + (size_t)1);
    (void)gbsi_watch_spend(s->watch, 4 * (end - gbsi_graph_ends(graph, v)));
    for (size_t i = gbsi_graph_ends(graph, v); i < end; i++) {
        if (s->used != NULL) {
            if (s->used[graph->incident[i]] != 0) {
                continue; /* each scope is processed once: a scope of 10^4 variables is not read
                             10^4 times */
            }
            s->used[graph->incident[i]] = 1;
        }
        const gbsi_members members = gbsi_graph_members(graph, i);
        for (size_t e = 0; e < members.n; e++) {
            meet(s, members.variable[e]);
        }
    }
}

/* Appends the component of a variable to the order, breadth first from this variable.
 * @return false if the watch stopped the walk, or if, after PROBE variables were processed, the
 * queue has more than a quarter of the variables reached. */
static bool walk(search *s, uint32_t from)
{
    const uint32_t first = s->n_met;
    meet(s, from);
    for (uint32_t at = first; at < s->n_met; at++) {
        meet_neighbours(s, s->order[at]);
        if (gbsi_watch_stopped(s->watch)) {
            return false;
        }
        if (at - first == PROBE && s->n_met - at > (s->n_met - first) / 4) {
            return false;
        }
    }
    return true;
}

/* Undoes a walk: marks the variables at the places from `first` on as not visited. */
static void forget(search *s, uint32_t first)
{
    const gbsi_graph *graph = s->graph;
    for (uint32_t at = first; at < s->n_met; at++) {
        const uint32_t v = s->order[at];
        const size_t end = gbsi_graph_ends(graph, v + (size_t)1);
        (void)gbsi_watch_spend(s->watch, 2 * (end - gbsi_graph_ends(graph, v)));
        for (size_t i = gbsi_graph_ends(graph, v); s->used != NULL && i < end; i++) {
            s->used[graph->incident[i]] = 0;
        }
        s->rank[v] = GBSI_NONE;
    }
    s->n_met = first;
}

/* Walks from the lowest variable to a variable at the far end of the component, and then once
 * more from that variable. */
static bool walk_component(search *s, uint32_t lowest)
{
    const uint32_t first = s->n_met;
    if (!walk(s, lowest)) {
        return false;
    }
    const uint32_t far_end = s->order[s->n_met - 1];
    forget(s, first);
    return walk(s, far_end);
}

gbs_status gbsi_graph_local_order(const gbsi_graph *graph, uint32_t *rank, uint32_t *order,
                                  bool *found, gbs_error *err)
{
    const uint32_t n = graph->n_variables;
    search s = {.graph = graph, .rank = rank, .order = order, .watch = gbsi_watch_current()};
    *found = false;
    if (n < GBSI_LOCALITY_LEAST || graph->all || far_share(graph, NULL) < 0.5) {
        return GBS_OK;
    }
    if (graph->neighbour == NULL) {
        s.used = gbsi_alloc_array_zero(graph->n_scopes, sizeof *s.used);
        GBSI_PASS(GBSI_HAVE(err, "order of variables", s.used));
    }
    memset(rank, 0xff, n * sizeof *rank); /* sets all elements to GBSI_NONE */
    bool local = true;
    for (uint32_t v = 0; v < n && local; v++) {
        local = rank[v] != GBSI_NONE || walk_component(&s, v);
    }
    *found = local && far_share(graph, rank) < 0.25;
    gbsi_free(s.used);
    return GBS_OK;
}
