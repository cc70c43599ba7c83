/* SPDX-License-Identifier: Apache-2.0 */
/* Loops over sums that run once per tile, pass or batch. These loops add probabilities or states to
 * the fast sums, and fast sums to open sums, totals and moments. The functions are written once in
 * accumulate_lanes.c and compiled once per instruction set. The terms of each (cell, lane) are
 * added in time order, and sums over lanes in ascending order of lanes. All instruction sets
 * therefore give equal bits. */
#ifndef GBSI_ESTIMATE_ACCUMULATE_H
#define GBSI_ESTIMATE_ACCUMULATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/offsets.h"
#include "plan/tile.h"
#include "simd/dispatch.h"

/* Consecutive slots of equal arity, and the index of the first cell of these slots. */
typedef struct gbsi_arity_run {
    uint32_t first_slot, n_slots;
    uint32_t arity;
    size_t first_cell;
} gbsi_arity_run;

/* Fast sums of one group of chains, [cell][lanes]. The array that the estimator does not use is
 * NULL. */
typedef struct gbsi_fast {
    float *sum;
    uint8_t *count;
} gbsi_fast;

/* States of one group at the end of a pass. */
typedef struct gbsi_state_rows {
    const void *state;    /* [slot][lanes], uint8_t or uint16_t */
    uint32_t value_bytes; /* 1 or 2 */
    uint32_t lanes;       /* 16 or 1 */
    uint32_t
        n_real; /* number of lanes that are chains; the values of the other lanes are not used */
} gbsi_state_rows;

/* Arguments of gbsi_accumulate.close(), which closes a batch for some cells of one group of chains.
 * The moments are sums over the chains of all groups. */
typedef struct gbsi_closing {
    uint32_t lanes, n_real;
    size_t first_cell, end_cell;
    double n_b; /* number of updates in the batch */
    /* [cell][lane] sums of earlier parts of the batch, which are reset to 0; NULL if the batch
     * has no earlier parts */
    double *open;
    double *total; /* [cell][lane] */
    /* [cell][lane] if not NULL, counts are added to this array instead of `total`; used only if
     * `open` is NULL */
    uint16_t *early;
    /* [cell] arrays for a chain that holds its sums; they replace `total`, `open` and `early`; NULL
     * if chains do not hold their sums */
    float *held_total, *held_open;
    /* [end_cell - first_cell] `reference` has r0 of each cell. The sum over chains of d_b = S_b -
     * r0 n_b is added to `sum`, and the sum over chains of d_b^2 to `square` */
    const double *reference;
    double *sum, *square;
} gbsi_closing;

typedef struct gbsi_accumulate {
    /* sum [cell][lanes] += probabilities of the tile */
    void (*tile)(float *sum, const gbsi_offsets *cell_start, const gbsi_tile *tile);
    /* count [cell][lanes] += 1 if the slot is in the state of the cell */
    void (*state)(uint8_t *count, const gbsi_arity_run *run, size_t n_runs,
                  const gbsi_state_rows *rows);
    /* open[i] += fast[i], fast[i] = 0 */
    void (*flush)(gbsi_fast fast, double *open, size_t n);
    /* adds S_b = open + fast to `total` or `early`, adds the moments of S_b to `sum` and `square`,
     * and sets `fast` and `open` to 0. If the chain holds its sums, fast.sum has the sums of the
     * cells to close and does not change */
    void (*close)(gbsi_fast fast, const gbsi_closing *closing);
} gbsi_accumulate;

const gbsi_accumulate *gbsi_accumulate_of(gbsi_simd level);

#endif
