/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loop of a lattice: compiled once per instruction set from sweep_lanes.c. */
#ifndef GBSI_LATTICE_SWEEP_H
#define GBSI_LATTICE_SWEEP_H

#include "lattice/lattice.h"
#include "simd/dispatch.h"

/* Sites of one colour of one chain, some columns of rows of lanes: column = Y * padded / 16 + x /
 * 16, over all layers. Columns of one colour may be swept at once by several threads: each writes
 * its own sites and what lies above and below them in the layers beyond the last. With seams, this
 * holds of whole rows and of sites on no seam only. */
typedef struct gbsi_lattice_sweep {
    const gbsi_lattice *lattice;
    uint32_t *state;
    uint32_t color, first_column, end_column;
    uint32_t n_seams; /* update sites on so many seams ... */
    bool count_only;  /* ... or none: with seams, sums and visits are taken after the last update.
                         Else they are taken on the way */
    uint64_t seed, pass;
    uint32_t chain;
    /* Vertical counters [M16], NULL: nothing is counted. Level k has planes 2k (sum) and 2k + 1
     * (waiting for its partner), of 2 n_words words each. */
    uint32_t *visits;
    uint32_t n_counted;  /* passes since they were empty, this one included */
    gbsi_spin_sums sums; /* added to; agree: by color 1, when all is final, or count_only */
} gbsi_lattice_sweep;

typedef void (*gbsi_lattice_sweep_function)(gbsi_lattice_sweep *sweep);
gbsi_lattice_sweep_function gbsi_lattice_sweep_of(gbsi_simd level);

#endif
