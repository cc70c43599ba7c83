/* SPDX-License-Identifier: Apache-2.0 */
/* One connected graph whose vertices lie in layers, and whose links join neighbouring layers. */
#ifndef GBSI_DRAWINGS_LEVELS_H
#define GBSI_DRAWINGS_LEVELS_H

#include "base/memory.h"

enum { GBSI_ABOVE = 0, GBSI_BELOW = 1 };

typedef struct gbsi_levels {
    uint32_t n, n_nodes; /* vertices: nodes first, then bends */
    uint32_t n_layers;
    uint32_t *layer;    /* [n] */
    uint32_t *rank;     /* [n] position of a vertex in its layer */
    uint32_t *member;   /* [n] vertices by layer and rank */
    uint32_t *first;    /* [n_layers + 1] where the members of each layer begin */
    uint32_t *begin[2]; /* [n + 1] where the neighbours of each vertex above and below begin */
    uint32_t *next[2];  /* neighbours above and below */
    double *width, *x;  /* [n] width, and horizontal place of the centre */
} gbsi_levels;

/* levels_order.c: orders each layer so that few links cross. Needs layer, member and first. */
gbs_status gbsi_levels_order(gbsi_levels *levels, gbs_error *err);
/* Counts crossings of links. @param tree [largest layer + 1] scratch. */
uint64_t gbsi_levels_crossings(const gbsi_levels *levels, uint32_t *tree);
/* levels_place.c: computes x, such that vertices of a layer do not overlap. */
gbs_status gbsi_levels_place(gbsi_levels *levels, gbs_error *err);

#endif
