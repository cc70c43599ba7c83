/* SPDX-License-Identifier: Apache-2.0 */
/* Better elimination orders by local search on tree decompositions [M18].
 *
 * An elimination order stands for a tree whose nodes, called bags, are the maximal cliques that the
 * order makes. The search takes a connected region of that tree around a bag of many entries and
 * eliminates the region's variables again in a random greedy order. The new bags replace the old
 * ones unless they have more entries. The order never becomes worse.
 *
 * Work is counted in steps and random numbers have a fixed key, so the result is a function of the
 * graph, the order and the limits. */
#ifndef GBSI_GRAPH_ORDER_SEARCH_H
#define GBSI_GRAPH_ORDER_SEARCH_H

#include "base/status.h"
#include "base/watch.h"

/* A connected graph with the number of states of each vertex. */
typedef struct gbsi_order_graph {
    uint32_t n;
    const size_t *start;   /* [n + 1] rows of `to` */
    const uint32_t *to;    /* neighbours of each vertex, each once, both ways */
    const uint32_t *arity; /* [n] */
} gbsi_order_graph;

/* The search takes one step for this many table entries. It ends when it has taken a quarter as
 * many steps as the tables found so far have entries. A step takes 3 to 4 ns, calibrating an entry
 * 6 ns: so the search takes about a seventh of the time that exact inference takes with its order.
 */
#define GBSI_ORDER_SHARE 4u

typedef struct gbsi_order_limits {
    uint64_t entries;  /* orders with more entries will not be calibrated: the search takes no more
                          steps for them, and is given up if it will not reach so few */
    uint64_t work;     /* steps at most, whatever the entries */
    bool fixed;        /* exactly this number of steps, for any number of entries */
    gbsi_watch *watch; /* borrowed; NULL: never stops */
} gbsi_order_limits;

typedef struct gbsi_order_result {
    double before;  /* entries of the order to begin with: of its maximal cliques, in sum */
    double entries; /* entries of the order found, at most; fewer than before, or the order is
                       unchanged */
    uint64_t work;  /* steps spent: more than allowed by one region at most */
} gbsi_order_result;

/**
 * @param order [graph->n] in: the order to begin with; out: the order found.
 * @return GBS_ERR_STOPPED by the watch; GBS_ERR_MEMORY, or GBS_ERR_LIMIT where the memory budget
 *         refused a request; then order and result are untouched.
 */
gbs_status gbsi_order_improve(const gbsi_order_graph *graph, const gbsi_order_limits *limits,
                              uint32_t *order, gbsi_order_result *result, gbs_error *err);

/* The cliques of an order: the neighbours that each vertex has when it is eliminated. */
typedef struct gbsi_order_cliques {
    size_t *start;    /* [n + 1] by position in the order */
    uint32_t *member; /* in no particular order */
    size_t capacity;  /* of member */
} gbsi_order_cliques;

/* @param cliques out; zeroed by the caller, freed by the caller in any case. */
gbs_status gbsi_order_cliques_init(const gbsi_order_graph *graph, const uint32_t *order,
                                   gbsi_order_cliques *cliques, gbs_error *err);
void gbsi_order_cliques_free(gbsi_order_cliques *cliques);

/* About the bytes that the search takes beside the graph.
 * @param n_members members of the cliques of the order to begin with. */
uint64_t gbsi_order_bytes(uint32_t n, uint64_t n_members);

#endif
