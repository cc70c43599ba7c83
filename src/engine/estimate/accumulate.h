/* SPDX-License-Identifier: Apache-2.0 */
/* The loops that run once per tile, pass or batch: they add probabilities or states to the fast
 * sums, and the fast sums to the slow sums. The functions are written once in accumulate_lanes.c
 * and compiled once per instruction set. Each (cell, lane) is summed in time order, and sums over
 * lanes are in ascending order, so all instruction sets give the same bits. */
#ifndef GBSI_ESTIMATE_ACCUMULATE_H
#define GBSI_ESTIMATE_ACCUMULATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/offsets.h"
#include "plan/tile.h"
#include "simd/dispatch.h"

/* Consecutive slots of the same arity, and where their cells begin. */
typedef struct gbsi_arity_run {
    uint32_t first_slot, n_slots;
    uint32_t arity;
    size_t first_cell;
} gbsi_arity_run;

/* The fast sums of one group, [cell][lanes]; the array that the estimator does not use is NULL. */
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

/* Closes a batch for some cells of one group. The chains of all groups share the moments. */
typedef struct gbsi_closing {
    uint32_t lanes, n_real;
    size_t first_cell, end_cell;
    double n_b;    /* updates in the batch */
    double *open;  /* [cell][lane] earlier parts of the batch, reset to 0; NULL: none */
    double *total; /* [cell][lane] */
    /* [cell][lane] if not NULL, counts are added here instead of to total; only if open is NULL. */
    uint16_t *early;
    float *held_total, *held_open; /* [cell] replaces all these arrays; NULL: they are not */
    /* [end_cell - first_cell] r0, the reference of the moments; then the arrays to which the sums
     * over chains of d_b = S_b - r0 n_b and of its square are added */
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
    /* adds S_b = open + fast to total or early, and to the moments; sets fast and open to 0. Held
     * sums: fast.sum has those of the cells to close, and is left as it is */
    void (*close)(gbsi_fast fast, const gbsi_closing *closing);
} gbsi_accumulate;

const gbsi_accumulate *gbsi_accumulate_of(gbsi_simd level);

#endif
