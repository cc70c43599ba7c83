/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loop of chains in bits: compiled once per instruction set from packed_lanes.c. */
#ifndef GBSI_LATTICE_PACKED_SWEEP_H
#define GBSI_LATTICE_PACKED_SWEEP_H

#include "lattice/packed.h"
#include "simd/dispatch.h"

/* Sweeps some rows of 32 chains, in order. Rows of one colour may be swept by several threads at
 * the same time. */
typedef struct gbsi_packed_sweep {
    const gbsi_packed *packed;
    uint32_t *state; /* [n_slots] */
    uint32_t first_row, end_row;
    uint64_t seed, pass;
    uint32_t group;   /* chain div 32 */
    uint32_t chains;  /* the bits that are chains */
    uint32_t *visits; /* [planes][n_slots] vertical counters; NULL: nothing is counted */
    uint32_t n_counted;
    gbsi_spin_sums *sums; /* [32] added to: agreements with neighbours of lower colours */
} gbsi_packed_sweep;

typedef void (*gbsi_packed_sweep_function)(const gbsi_packed_sweep *sweep);

#endif
