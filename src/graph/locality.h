/* SPDX-License-Identifier: Apache-2.0 */
/* An order of the variables in which neighbours come soon after each other. */
#ifndef GBSI_GRAPH_LOCALITY_H
#define GBSI_GRAPH_LOCALITY_H

#include "graph/graph.h"

/* Smaller models lie in the cache whatever their order. */
#define GBSI_LOCALITY_LEAST 65536u /* variables */

/* Breadth first from the far end of each component (Cuthill & McKee 1969, without the sorting by
 * degree). Made only where it is worth it: the numbers of most neighbours are far apart, and the
 * front of the search stays small, as it does on lattices, meshes and chains and does not on random
 * graphs, of which no order is local. Depends on the graph alone; O(sum of degrees), and next to
 * nothing where it ends with nothing.
 * @param rank [n_variables] scratch, any content.
 * @param order [n_variables], out, if *found; else any content. */
gbs_status gbsi_graph_local_order(const gbsi_graph *graph, uint32_t *rank, uint32_t *order,
                                  bool *found, gbs_error *err);

#endif
