/* SPDX-License-Identifier: Apache-2.0 */
/* Exchange of a cluster between two states of one temperature (Houdayer 2001, European Physical
 * Journal B 22:479-484), for factors of any kind. [M49] */
#ifndef GBSI_BLOCK_CLUSTER_H
#define GBSI_BLOCK_CLUSTER_H

#include "graph/graph.h"

typedef struct gbsi_cluster {
    const gbsi_graph *graph; /* borrowed */
    uint32_t *mark;          /* [n_variables] the exchange that visited a variable last */
    uint32_t *stack;         /* [n_variables] */
    uint32_t n_exchanges;
} gbsi_cluster;

gbs_status gbsi_cluster_new(const gbsi_graph *graph, gbsi_cluster **out, gbs_error *err);
void gbsi_cluster_free(gbsi_cluster *cluster);
uint64_t gbsi_cluster_bytes(const gbsi_graph *graph);

/* Where the states of one lane are: state of variable v at x[v * stride]. */
typedef struct gbsi_cluster_state {
    uint32_t *x;
    uint32_t stride;
} gbsi_cluster_state;

/* Exchanges a cluster of two states: a variable in which they differ, drawn at random, and all that
 * are connected with it by factors and differ too.
 *
 * @param pair, pass with the seed the key of the random number.
 * @return variables exchanged: 0 where the states are equal. Where nearly all variables differ none
 * is exchanged, because a cluster would be nearly everything. */
uint32_t gbsi_cluster_exchange(gbsi_cluster *cluster, uint64_t seed, uint32_t pair, uint64_t pass,
                               gbsi_cluster_state a, gbsi_cluster_state b);

#endif
