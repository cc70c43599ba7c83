/* SPDX-License-Identifier: Apache-2.0 */
/* Functions used by both the upward and the downward half of calibration. */
#ifndef GBSI_TREES_CLIQUE_TABLES_H
#define GBSI_TREES_CLIQUE_TABLES_H

#include "trees/junction_tree.h"
#include "trees/pieces.h"

static inline gbsi_pieces gbsi_pieces_of(const gbsi_tables *tables)
{
    return (gbsi_pieces){tables->pool, tables->watch, tables->partial};
}

/* Entries of scratch that any clique of a tree may need. */
typedef struct gbsi_scratch_sizes {
    size_t values; /* of factors */
    size_t map;    /* offsets of all operands of a batch, `batch` of them */
    size_t batch;
} gbsi_scratch_sizes;
gbsi_scratch_sizes gbsi_scratch_of(const gbsi_tree *tree);

/* The log-weights of a factor over its scope. @param room written if the factor is no table.
 * @param n out: how many. */
const double *gbsi_factor_logs(const gbsi_conditioned *model, size_t f, double *room, size_t *n);

/* Makes the table of clique i from its factors and the messages of its children, which must be in
 * logarithms if !tables->weights[i], and weights otherwise.
 * @param message [n_rows] out: its message, not yet normalised. */
void gbsi_clique_fill(gbsi_tables *tables, uint32_t i, double *message);

#endif
