/* SPDX-License-Identifier: Apache-2.0 */
/* Orders in which a greedy colouring takes the variables, by gbsi_graph_degree(). */
#ifndef GBSI_GRAPH_COLOR_ORDER_H
#define GBSI_GRAPH_COLOR_ORDER_H

#include "graph/graph.h"

/* Largest degree first, ties by lowest variable (Welsh & Powell 1967, Comput. J. 10(1):85-86).
 * @param order [n_variables], out. */
gbs_status gbsi_order_largest_first(const gbsi_graph *graph, uint32_t *order, gbs_error *err);

/* Backwards from the end: the variable of least degree among those not yet placed (Matula & Beck
 * 1983, J. ACM 30(3):417-427). Of several, the one whose degree fell last, else the lowest.
 * The members of a scope learn of its losses as they come while fewer than 128 are left, and above
 * that each time a 64th of them has gone: so a scope costs at most some 64 times its length.
 * @param order [n_variables], out. */
gbs_status gbsi_order_smallest_last(const gbsi_graph *graph, uint32_t *order, gbs_error *err);

#endif
