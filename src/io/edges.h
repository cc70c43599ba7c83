/* SPDX-License-Identifier: Apache-2.0 */
/* A list of numbers at pairs of variables, as files have them, and which of them share a place. */
#ifndef GBSI_IO_EDGES_H
#define GBSI_IO_EDGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gibbsite/status.h"

#define GBSI_NO_EDGE UINT32_MAX

typedef struct gbsi_edge {
    uint32_t i; /* GBSI_NO_EDGE: an entry that is left out; its index stays that of the file */
    uint32_t j;
    double value;
} gbsi_edge;

/* Zero-initialise. */
typedef struct gbsi_edges {
    void *edge; /* gbsi_edge [n] */
    size_t n;
    size_t capacity;
} gbsi_edges;

/* Entries that repeat another. */
typedef struct gbsi_repeats {
    size_t n;
    size_t entry; /* the first of them */
    size_t of;    /* what it repeats */
} gbsi_repeats;

gbs_status gbsi_edges_add(gbsi_edges *edges, uint32_t i, uint32_t j, double value, gbs_error *err);
void gbsi_edges_free(gbsi_edges *edges);

/* Add up what stands at one place; the first entry keeps the sum, the others are left out. i = j is
 * a place as well. O(n + n_variables).
 * @param directed whether (i, j) and (j, i) are two places. */
gbs_status gbsi_edges_sum(gbsi_edges *edges, uint32_t n_variables, bool directed,
                          gbsi_repeats *repeats, gbs_error *err);

/* After a directed sum: of (i, j) and (j, i) the first is kept. *unequal are pairs whose values
 * differ. */
gbs_status gbsi_edges_fold(gbsi_edges *edges, uint32_t n_variables, gbsi_repeats *unequal,
                           gbs_error *err);

#endif
