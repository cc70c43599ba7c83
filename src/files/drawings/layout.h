/* SPDX-License-Identifier: Apache-2.0 */
/* The places of a graph's nodes and edges in a drawing in layers. Every edge goes down. Sugiyama,
 * Tagawa & Toda (1981), IEEE Transactions on Systems, Man, and Cybernetics 11(2):109-125, in four
 * steps: a layer for each node; a bend in each layer that an edge crosses; an order of each layer
 * with few crossings; horizontal places. The layout depends on the graph alone. */
#ifndef GBSI_DRAWINGS_LAYOUT_H
#define GBSI_DRAWINGS_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gibbsite/status.h"

typedef struct gbsi_layout_node {
    double width, height; /* in: size in pixels */
    double x, y;          /* out: centre */
} gbsi_layout_node;

/* A place where an edge crosses a layer: the edge is vertical from top to bottom. */
typedef struct gbsi_bend {
    double x, top, bottom;
} gbsi_bend;

typedef struct gbsi_layout_edge {
    uint32_t from, to;    /* in: two different nodes; out: from is above to */
    size_t first, n;      /* out: bends[first .. first + n - 1], from the top */
    double start, finish; /* out: y at which the layer of `from` ends, and that of `to` begins; the
                             edge is vertical inside the layers */
} gbsi_layout_edge;

typedef struct gbsi_layout {
    /* in: edges have a direction, without a directed cycle. Otherwise the layout chooses the
     * directions by the distances from the first node, and exchanges from and to. */
    bool directed;
    size_t n_nodes, n_edges;
    gbsi_layout_node *node; /* [n_nodes] borrowed */
    gbsi_layout_edge *edge; /* [n_edges] borrowed */
    size_t n_bends;
    gbsi_bend *bend;      /* [n_bends] out; gbsi_free() */
    double width, height; /* out: size of the drawing, which begins at 0, 0 */
} gbsi_layout;

/* Computes the layout.
 * @return GBS_ERR_ARGUMENT for a directed cycle; GBS_ERR_UNSUPPORTED if edges cross so many layers
 * that nothing could be seen; GBS_ERR_MEMORY. */
gbs_status gbsi_layout_compute(gbsi_layout *layout, gbs_error *err);

#endif
