/* SPDX-License-Identifier: Apache-2.0 */
/* Inner loop of a lattice, compiled once per instruction set from sweep_lanes.c. */
#ifndef GBSI_LATTICE_SWEEP_H
#define GBSI_LATTICE_SWEEP_H

#include "lattice/lattice.h"
#include "lattice/spin_chains.h"
#include "simd/dispatch.h"

/* A sweep updates sites of one colour of one chain, in some columns. Word x of row Y lies in column
 * Y * padded / 16 + x / 16; a column contains all layers. Several threads may sweep columns of the
 * same colour at once: each writes only its own sites and their copies in the additional layers. If
 * the lattice has seams, each thread must sweep whole rows, or only sites on no seam. */
typedef struct gbsi_lattice_sweep {
    const gbsi_lattice *lattice;
    uint32_t *state;
    uint32_t color, first_column, end_column;
    uint32_t n_seams; /* the sweep updates the sites that lie on this number of seams */
    /* whether the sweep only counts and updates no site. In lattices with seams, it then adds up
     * sums and visits after the last update of a pass. In other lattices, it keeps the remaining
     * numbers of neighbours after a pass that was cut short */
    bool count_only;
    uint64_t seed, pass;
    uint32_t chain;
    /* Visits or numbers of neighbours that are kept for the estimates; NULL if nothing is kept.
     * Visits are vertical counters [M16]: level k has plane 2k (the sum) and plane 2k + 1 (the
     * plane that waits for a partner), each of 2 n_words words. Numbers of neighbours have the
     * layout of averages.h. */
    uint32_t *visits;
    gbsi_spin_keep keep;
    uint32_t
        n_counted; /* number of passes since take_visits() was last called, including this pass */
    /* sums to which the sweep adds; `agree` is added with color 1, when all sites are final, or
     * with count_only */
    gbsi_spin_sums sums;
} gbsi_lattice_sweep;

typedef void (*gbsi_lattice_sweep_function)(gbsi_lattice_sweep *sweep);

#endif
