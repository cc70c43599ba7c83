/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loop of a lattice: compiled once per instruction set from sweep_lanes.c. */
#ifndef GBSI_LATTICE_SWEEP_H
#define GBSI_LATTICE_SWEEP_H

#include "lattice/lattice.h"
#include "lattice/spin_chains.h"
#include "simd/dispatch.h"

/* A sweep updates sites of one colour of one chain, in some columns: column = Y * padded / 16 + x /
 * 16, over all layers. Several threads may sweep columns of the same colour at once: each writes
 * only its own sites and their copies in the additional layers. With seams this holds only for
 * whole rows and for sites on no seam. */
typedef struct gbsi_lattice_sweep {
    const gbsi_lattice *lattice;
    uint32_t *state;
    uint32_t color, first_column, end_column;
    uint32_t n_seams; /* update the sites on this many seams */
    bool count_only;  /* update no site, and only count. With seams, sums and visits are counted
                         after the last update. Without seams they are counted during updates, and
                         the remaining neighbours, after a pass that was cut short */
    uint64_t seed, pass;
    uint32_t chain;
    /* The data of a pass that are kept; NULL: none. Visits are vertical counters [M16]: level k has
     * planes 2k (the sum) and 2k + 1 (waiting for a partner), of 2 n_words words each. Neighbours
     * are as in averages.h. */
    uint32_t *visits;
    gbsi_spin_keep keep;
    uint32_t n_counted;  /* passes since they were taken, including this pass */
    gbsi_spin_sums sums; /* added to; agree only with color 1, when all sites are final, or with
                            count_only */
} gbsi_lattice_sweep;

typedef void (*gbsi_lattice_sweep_function)(gbsi_lattice_sweep *sweep);

#endif
