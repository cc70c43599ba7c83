/* SPDX-License-Identifier: Apache-2.0 */
/* Inner loop of the form with chains in bits, compiled once per instruction set from
 * packed_lanes.c. */
#ifndef GBSI_LATTICE_PACKED_SWEEP_H
#define GBSI_LATTICE_PACKED_SWEEP_H

#include "lattice/packed.h"
#include "simd/dispatch.h"

/* A sweep updates some rows of a group of 32 chains, in the order of the rows. Rows of one colour
 * may be swept by several threads at the same time. */
typedef struct gbsi_packed_sweep {
    const gbsi_packed *packed;
    uint32_t *state; /* [n_slots] */
    uint32_t first_row, end_row;
    uint64_t seed, pass;
    uint32_t group;   /* number of the first chain, divided by 32 */
    uint32_t chains;  /* mask of the bits that are chains */
    uint32_t *visits; /* [planes][n_slots] vertical counters; NULL if visits are not counted */
    uint32_t n_counted;
    /* [32] sums of each chain, to which the sweep adds; each pair is counted in `agree` when the
     * site of the higher colour is updated */
    gbsi_spin_sums *sums;
} gbsi_packed_sweep;

typedef void (*gbsi_packed_sweep_function)(const gbsi_packed_sweep *sweep);

#endif
