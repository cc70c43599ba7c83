/* SPDX-License-Identifier: Apache-2.0 */
/* The loops that run once per tile, pass or batch: from probabilities and states into the fast
 * sums, and from those into the slow ones. Written once in accumulate_lanes.c, compiled once per
 * instruction set; every (cell, lane) is added to in time order and lanes never meet except in
 * ascending order, so all sets give the same bits. */
#ifndef GBSI_ESTIMATE_ACCUMULATE_H
#define GBSI_ESTIMATE_ACCUMULATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/offsets.h"
#include "plan/tile.h"
#include "simd/dispatch.h"

/* Consecutive slots of one arity, and where their cells begin. */
typedef struct gbsi_arity_run {
    uint32_t first_slot, n_slots;
    uint32_t arity;
    size_t first_cell;
} gbsi_arity_run;

/* The fast sums of one group, [cell][lanes]: the one that the estimator uses, the other NULL. */
typedef struct gbsi_fast {
    float *sum;
    uint8_t *count;
} gbsi_fast;

/* The state of one group at the end of a pass. */
typedef struct gbsi_state_rows {
    const void *state;    /* [slot][lanes], uint8_t or uint16_t */
    uint32_t value_bytes; /* 1 or 2 */
    uint32_t lanes;       /* 16 or 1 */
    uint32_t n_real;      /* lanes that are chains; the others may hold anything */
} gbsi_state_rows;

/* Some cells of one group at the end of a batch. Chains of all groups share the moments. */
typedef struct gbsi_closing {
    uint32_t lanes, n_real;
    size_t first_cell, end_cell;
    double n_b;    /* updates in the batch */
    double *open;  /* [cell][lane] earlier parts of the batch, set to 0; NULL: none */
    double *total; /* [cell][lane] */
    /* [cell][lane] where counts go instead of total; NULL: to total. Only without open. */
    uint16_t *early;
    /* [end_cell - first_cell] r0, about which moments are taken, and what is added to: sums over
     * chains of d_b = S_b - r0 n_b and of its square */
    const double *reference;
    double *sum, *square;
} gbsi_closing;

typedef struct gbsi_accumulate {
    /* sum [cell][lanes] += probabilities of the tile */
    void (*tile)(float *sum, const gbsi_offsets *cell_start, const gbsi_tile *tile);
    /* count [cell][lanes] += 1 where the slot is in the cell's state */
    void (*state)(uint8_t *count, const gbsi_arity_run *run, size_t n_runs,
                  const gbsi_state_rows *rows);
    /* open[i] += fast[i], fast[i] = 0 */
    void (*flush)(gbsi_fast fast, double *open, size_t n);
    /* S_b = open + fast into total or early, and moments; fast and open become 0 */
    void (*close)(gbsi_fast fast, const gbsi_closing *closing);
} gbsi_accumulate;

const gbsi_accumulate *gbsi_accumulate_of(gbsi_simd level);

#endif
