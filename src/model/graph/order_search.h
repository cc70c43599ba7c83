/* SPDX-License-Identifier: Apache-2.0 */
/* Better elimination orders by local search on tree decompositions [M18].
 *
 * An elimination order makes maximal cliques. These cliques are the nodes of a tree, in which they
 * are called bags. The search takes a connected region of this tree around a bag of many entries,
 * and eliminates the region's variables again in a random greedy order. The new bags replace the
 * old bags unless the new bags have more table entries. The order never becomes worse.
 *
 * Work is counted in steps, and random numbers have a fixed key. The result is therefore a
 * function of the graph, the order and the limits. */
#ifndef GBSI_GRAPH_ORDER_SEARCH_H
#define GBSI_GRAPH_ORDER_SEARCH_H

#include "base/status.h"
#include "base/watch.h"

/* A connected graph with the number of states of each vertex. */
typedef struct gbsi_order_graph {
    uint32_t n;
    const size_t *start; /* [n + 1] rows of `to` */
    const uint32_t *to;  /* neighbours of each vertex, without repetition; each edge is in the rows
                            of its two ends */
    const uint32_t *arity; /* [n] number of states */
} gbsi_order_graph;

/* Number of table entries for which the search may take one step. The search ends when its number
 * of steps is a quarter of the number of entries in the best tables so far. A step takes 3 to 4 ns,
 * and the calibration of an entry takes 6 ns. The search therefore takes about a seventh of the
 * time that exact inference takes with the order found. */
#define GBSI_ORDER_SHARE 4u

typedef struct gbsi_order_limits {
    uint64_t entries; /* largest number of table entries that the caller will calibrate. An order
                         with more entries gets no more steps than an order with this number, and
                         the search is given up if it is not expected to reach this number */
    uint64_t work;    /* largest number of steps, however many entries the tables have */
    bool fixed; /* true: the search takes exactly `work` steps, however many entries the tables have
                 */
    gbsi_watch *watch; /* borrowed; NULL if nothing may stop the search */
} gbsi_order_limits;

typedef struct gbsi_order_result {
    double before;  /* number of table entries of all maximal cliques of the initial order */
    double entries; /* upper bound of the same number for the order found; if it is not less than
                       `before`, the order is unchanged */
    uint64_t work;  /* number of steps taken; the last region may exceed the allowed number */
} gbsi_order_result;

/** @param order [graph->n] in: initial order; out: order found.
 * @return GBS_ERR_STOPPED if the watch stopped the search; GBS_ERR_MEMORY; or GBS_ERR_LIMIT if
 * the memory budget refused a request. After a failure, order and result are unchanged. */
gbs_status gbsi_order_improve(const gbsi_order_graph *graph, const gbsi_order_limits *limits,
                              uint32_t *order, gbsi_order_result *result, gbs_error *err);

/* The cliques of an order: the neighbours of each vertex at its elimination. */
typedef struct gbsi_order_cliques {
    size_t *start;    /* [n + 1] by position in the order */
    uint32_t *member; /* members of each clique, in no particular order */
    size_t capacity;  /* allocated elements of `member` */
} gbsi_order_cliques;

/* @param cliques out; the caller zeroes it before the call and frees it in any case. */
gbs_status gbsi_order_cliques_init(const gbsi_order_graph *graph, const uint32_t *order,
                                   gbsi_order_cliques *cliques, gbs_error *err);
void gbsi_order_cliques_free(gbsi_order_cliques *cliques);

/* Returns the approximate number of bytes that the search allocates in addition to the graph.
 * @param n_members number of members of the cliques of the initial order. */
uint64_t gbsi_order_bytes(uint32_t n, uint64_t n_members);

#endif
