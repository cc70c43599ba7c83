/* SPDX-License-Identifier: Apache-2.0 */
/* Two shapes of everything. Sixteen lanes: a cell is a row of sixteen chains, and a tile of
 * consecutive slots is added as one stream. One lane: cells of one chain lie side by side; a
 * binary tile of consecutive slots is again one stream, anything else is scattered. */
#include <stddef.h>
#include <string.h>

#include "estimate/accumulate.h"
#include "simd/lanes.h"

void GBSI_V(gbsi_accumulate_tile)(float *sum, const gbsi_offsets *cell_start,
                                  const gbsi_tile *tile);
void GBSI_V(gbsi_accumulate_state)(uint8_t *count, const gbsi_arity_run *run, size_t n_runs,
                                   const gbsi_state_rows *rows);
void GBSI_V(gbsi_accumulate_flush)(gbsi_fast fast, double *open, size_t n);
void GBSI_V(gbsi_accumulate_close)(gbsi_fast fast, const gbsi_closing *closing);

/* ---- probabilities ---- */

/* Rows of p per place, and which of them have a cell. */
typedef struct tile_rows {
    size_t width, first, kept;
} tile_rows;

static tile_rows rows_of(const gbsi_tile *tile)
{
    if (tile->odds) {
        return (tile_rows){1, 0, 1};
    }
    if (tile->arity == 2) {
        return (tile_rows){2, 1, 1}; /* state 0 is the complement */
    }
    return (tile_rows){tile->arity, 0, tile->arity};
}

static void add_rows(float *restrict sum, const float *restrict p, size_t n)
{
    for (size_t i = 0; i < n * GBSI_LANES; i += GBSI_LANES) {
        vf_store(sum + i, vf_add(vf_load(sum + i), vf_load(p + i)));
    }
}

static void add_chains(float *sum, const gbsi_offsets *cell_start, const gbsi_tile *tile)
{
    const tile_rows rows = rows_of(tile);
    if (tile->contiguous && rows.kept == rows.width) {
        add_rows(sum + gbsi_offset(cell_start, tile->first_slot) * GBSI_LANES, tile->p,
                 tile->n_places * rows.width);
        return;
    }
    for (size_t place = 0; place < tile->n_places; place++) {
        const size_t slot = gbsi_tile_slot(tile, (uint32_t)place);
        add_rows(sum + gbsi_offset(cell_start, slot) * GBSI_LANES,
                 tile->p + (place * rows.width + rows.first) * GBSI_LANES, rows.kept);
    }
}

static void add_places(float *sum, const gbsi_offsets *cell_start, const gbsi_tile *tile)
{
    const tile_rows rows = rows_of(tile);
    const size_t n_places = tile->n_places; /* the last row may be padded: not counted */
    size_t place = 0;
    if (tile->contiguous && rows.width == 1) {
        float *to = sum + gbsi_offset(cell_start, tile->first_slot);
        const size_t n_full = n_places / GBSI_LANES;
        add_rows(to, tile->p, n_full);
        for (place = n_full * GBSI_LANES; place < n_places; place++) {
            to[place] += tile->p[place];
        }
        return;
    }
    for (; place < n_places; place++) {
        const size_t slot = gbsi_tile_slot(tile, (uint32_t)place);
        const size_t row = place / GBSI_LANES * rows.width + rows.first;
        const float *from = tile->p + row * GBSI_LANES + place % GBSI_LANES;
        float *to = sum + gbsi_offset(cell_start, slot);
        for (size_t a = 0; a < rows.kept; a++) {
            to[a] += from[a * GBSI_LANES];
        }
    }
}

void GBSI_V(gbsi_accumulate_tile)(float *sum, const gbsi_offsets *cell_start, const gbsi_tile *tile)
{
    if (tile->n_places == 0) {
        return;
    }
    if (tile->lanes == GBSI_LANES) {
        add_chains(sum, cell_start, tile);
    } else {
        add_places(sum, cell_start, tile);
    }
}

/* ---- counts ---- */

/* Above this arity sixteen increments are cheaper than a comparison with every state. */
#define MOST_COMPARED 16u

static void count_binary(uint8_t *restrict count, const gbsi_state_rows *rows, size_t first,
                         size_t n)
{
    if (rows->value_bytes == 1) {
        const uint8_t *restrict state = (const uint8_t *)rows->state + first;
        size_t i = 0;
        for (; i + 16 <= n; i += 16) {
            vb_store(count + i, vb_add(vb_load(count + i), vb_load(state + i)));
        }
        for (; i < n; i++) {
            count[i] = (uint8_t)(count[i] + state[i]);
        }
    } else {
        const uint16_t *restrict state = (const uint16_t *)rows->state + first;
        for (size_t i = 0; i < n; i++) {
            count[i] = (uint8_t)(count[i] + state[i]);
        }
    }
}

static vb load_states(const gbsi_state_rows *rows, size_t slot)
{
    const size_t at = slot * GBSI_LANES;
    return rows->value_bytes == 1 ? vb_load((const uint8_t *)rows->state + at)
                                  : vb_narrow(vu_load_u16((const uint16_t *)rows->state + at));
}

static void count_compared(uint8_t *count, const gbsi_arity_run *run, const gbsi_state_rows *rows)
{
    for (size_t i = 0; i < run->n_slots; i++) {
        const vb state = load_states(rows, run->first_slot + i);
        for (uint32_t a = 0; a < run->arity; a++, count += GBSI_LANES) {
            /* equal lanes are 255, that is -1 */
            vb_store(count, vb_sub(vb_load(count), vb_eq(state, vb_set1((uint8_t)a))));
        }
    }
}

static void count_scattered(uint8_t *count, const gbsi_arity_run *run, const gbsi_state_rows *rows)
{
    const size_t lanes = rows->lanes;
    for (size_t i = 0; i < run->n_slots; i++, count += run->arity * lanes) {
        for (size_t lane = 0; lane < rows->n_real; lane++) {
            const size_t at = (run->first_slot + i) * lanes + lane;
            const size_t state = rows->value_bytes == 1 ? ((const uint8_t *)rows->state)[at]
                                                        : ((const uint16_t *)rows->state)[at];
            count[state * lanes + lane]++;
        }
    }
}

void GBSI_V(gbsi_accumulate_state)(uint8_t *count, const gbsi_arity_run *run, size_t n_runs,
                                   const gbsi_state_rows *rows)
{
    for (; n_runs > 0; n_runs--, run++) {
        uint8_t *to = count + run->first_cell * rows->lanes;
        if (run->arity == 2) {
            count_binary(to, rows, (size_t)run->first_slot * rows->lanes,
                         (size_t)run->n_slots * rows->lanes);
        } else if (rows->lanes == GBSI_LANES && run->arity <= MOST_COMPARED) {
            count_compared(to, run, rows);
        } else {
            count_scattered(to, run, rows);
        }
    }
}

/* ---- flushing and closing ---- */

void GBSI_V(gbsi_accumulate_flush)(gbsi_fast fast, double *restrict open, size_t n)
{
    if (fast.sum != NULL) {
        float *restrict sum = fast.sum;
        for (size_t i = 0; i < n; i++) {
            open[i] += (double)sum[i];
            sum[i] = 0;
        }
    } else {
        uint8_t *restrict count = fast.count;
        for (size_t i = 0; i < n; i++) {
            open[i] += (double)count[i];
            count[i] = 0;
        }
    }
}

/* S_b of n (cell, lane)s from `at` on, out of the fast and the open sums and into the totals. */
static inline void take_batch(gbsi_fast fast, const gbsi_closing *closing, size_t at, size_t n,
                              double *restrict batch)
{
    if (fast.sum != NULL) {
        float *restrict sum = fast.sum + at;
        for (size_t j = 0; j < n; j++) {
            batch[j] = (double)sum[j];
            sum[j] = 0;
        }
    } else {
        uint8_t *restrict count = fast.count + at;
        for (size_t j = 0; j < n; j++) {
            batch[j] = (double)count[j];
            count[j] = 0;
        }
    }
    if (closing->open != NULL) {
        double *restrict open = closing->open + at;
        for (size_t j = 0; j < n; j++) {
            batch[j] += open[j];
            open[j] = 0;
        }
    }
    double *restrict total = closing->total + at;
    for (size_t j = 0; j < n; j++) {
        total[j] += batch[j];
    }
}

/* Cells closed side by side: each is a chain of dependent additions, real lanes ascending. */
#define CELLS_AT_ONCE 4u

static inline void add_moments(const gbsi_closing *closing, size_t cell, size_t n_cells,
                               size_t lanes, const double *batch)
{
    const size_t at = cell - closing->first_cell;
    double expected[CELLS_AT_ONCE];
    double sum[CELLS_AT_ONCE];
    double square[CELLS_AT_ONCE];
    for (size_t i = 0; i < n_cells; i++) {
        expected[i] = closing->reference[at + i] * closing->n_b;
        sum[i] = closing->sum[at + i];
        square[i] = closing->square[at + i];
    }
    for (size_t j = 0; j < closing->n_real; j++) {
        for (size_t i = 0; i < n_cells; i++) {
            const double d = batch[i * lanes + j] - expected[i];
            sum[i] += d;
            square[i] += d * d;
        }
    }
    for (size_t i = 0; i < n_cells; i++) {
        closing->sum[at + i] = sum[i];
        closing->square[at + i] = square[i];
    }
}

static inline void close_some(gbsi_fast fast, const gbsi_closing *closing, size_t cell,
                              size_t n_cells, size_t lanes)
{
    double batch[CELLS_AT_ONCE * GBSI_LANES];
    take_batch(fast, closing, cell * lanes, n_cells * lanes, batch);
    add_moments(closing, cell, n_cells, lanes, batch);
}

static inline void close_lanes(gbsi_fast fast, const gbsi_closing *closing, size_t lanes)
{
    size_t cell = closing->first_cell;
    for (; cell + CELLS_AT_ONCE <= closing->end_cell; cell += CELLS_AT_ONCE) {
        close_some(fast, closing, cell, CELLS_AT_ONCE, lanes);
    }
    for (; cell < closing->end_cell; cell++) {
        close_some(fast, closing, cell, 1, lanes);
    }
}

void GBSI_V(gbsi_accumulate_close)(gbsi_fast fast, const gbsi_closing *closing)
{
    if (closing->lanes == GBSI_LANES) { /* a constant, for the loops inside */
        close_lanes(fast, closing, GBSI_LANES);
    } else {
        close_lanes(fast, closing, 1);
    }
}
