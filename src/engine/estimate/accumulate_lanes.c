/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of accumulate.h for sixteen lanes and for one lane. With sixteen lanes, a cell is a row
 * of sixteen chains, and a tile of consecutive slots is added as one stream. With one lane, the
 * cells of a chain lie side by side. The cells of a binary tile of consecutive slots are then
 * contiguous too; the cells of other tiles are scattered. */
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

/* Number of rows of tile->p for each place, and the rows among them that have a cell. */
typedef struct tile_rows {
    size_t width, first, kept;
} tile_rows;

static tile_rows rows_of(const gbsi_tile *tile)
{
    if (tile->odds) {
        return (tile_rows){1, 0, 1};
    }
    if (tile->arity == 2) {
        return (tile_rows){2, 1, 1}; /* the probability of state 0 of a binary slot has no cell */
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

#define MOST_TURNED 16u /* most cells of a slot for add_consecutive() */

/* Adds whole rows of consecutive slots of one chain. A row has the numbers of sixteen places state
 * by state, while cells lie place by place. @return the number of places added. */
static size_t add_consecutive(float *to, const gbsi_tile *tile, tile_rows rows)
{
    const size_t n_full = tile->n_places / GBSI_LANES;
    uint32_t from[MOST_TURNED * GBSI_LANES]; /* index of each cell in its row */
    if (rows.kept > MOST_TURNED) {
        return 0;
    }
    for (size_t i = 0; i < rows.kept * GBSI_LANES; i++) {
        from[i] = (uint32_t)((rows.first + i % rows.kept) * GBSI_LANES + i / rows.kept);
    }
    const float *p = tile->p;
    for (size_t row = 0; row < n_full; row++, p += rows.width * GBSI_LANES) {
        for (size_t c = 0; c < rows.kept * GBSI_LANES; c += GBSI_LANES, to += GBSI_LANES) {
            const vf more = rows.kept == 1 ? vf_load(p + rows.first * GBSI_LANES)
                                           : vf_gather(p, vu_load(from + c));
            vf_store(to, vf_add(vf_load(to), more));
        }
    }
    return n_full * GBSI_LANES;
}

static void add_places(float *sum, const gbsi_offsets *cell_start, const gbsi_tile *tile)
{
    const tile_rows rows = rows_of(tile);
    const size_t n_places = tile->n_places; /* padding at the end of the last row is not added */
    size_t place = 0;
    if (tile->contiguous) {
        place = add_consecutive(sum + gbsi_offset(cell_start, tile->first_slot), tile, rows);
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

/* Largest arity for which sixteen states at a time are compared with every possible state. For
 * larger arities, sixteen single increments are cheaper. */
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
            /* a comparison gives 255, which is -1 in a byte, in lanes whose state is a */
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

/* Closes cells of one chain that holds its sums, which the estimate has fetched from the chain. */
static inline void close_held(const float *restrict held, const gbsi_closing *closing)
{
    const size_t first = closing->first_cell;
    const size_t n = closing->end_cell - first;
    float *restrict total = closing->held_total + first;
    float *restrict open = closing->held_open == NULL ? NULL : closing->held_open + first;
    for (size_t i = 0; i < n; i++) {
        const float s = open == NULL ? held[i] : held[i] + open[i];
        const double d = (double)s - closing->reference[i] * closing->n_b;
        total[i] += s;
        closing->sum[i] += d;
        closing->square[i] += d * d;
    }
    if (open != NULL) {
        memset(open, 0, n * sizeof *open);
    }
}

/* Adds the sums of one chain, whose cells lie side by side. */
static inline void close_chain(gbsi_fast fast, const gbsi_closing *closing)
{
    const size_t first = closing->first_cell;
    const size_t n = closing->end_cell - first;
    double *restrict total = closing->total + first;
    double *restrict sum = closing->sum;
    double *restrict square = closing->square;
    const double *restrict reference = closing->reference;
    const double n_b = closing->n_b;
    for (size_t i = 0; i < n; i++) {
        double s = fast.sum != NULL ? (double)fast.sum[first + i] : (double)fast.count[first + i];
        s += closing->open != NULL ? closing->open[first + i] : 0;
        const double d = s - reference[i] * n_b;
        if (closing->early != NULL) {
            closing->early[first + i] = (uint16_t)(closing->early[first + i] + (uint32_t)s);
        } else {
            total[i] += s;
        }
        sum[i] += d;
        square[i] += d * d;
    }
    if (fast.sum != NULL) {
        memset(fast.sum + first, 0, n * sizeof *fast.sum);
    } else {
        memset(fast.count + first, 0, n);
    }
    if (closing->open != NULL) {
        memset(closing->open + first, 0, n * sizeof *closing->open);
    }
}

/* Number of cells, and number of chains, of a block that is added up at once. The sum of each cell
 * is a sequence of dependent additions over the chains, in ascending order. To add sixteen cells at
 * a time, a vector has the numbers of sixteen cells of one chain. */
#define BLOCK GBSI_LANES

/* Returns the fast sums of sixteen chains in one cell, and sets them to 0. */
static inline vf take_row(gbsi_fast fast, size_t at)
{
    if (fast.sum != NULL) {
        const vf sum = vf_load(fast.sum + at);
        vf_store(fast.sum + at, vf_set1(0.0F));
        return sum;
    }
    const vf count = vf_from_small(vb_widen(vb_load(fast.count + at)));
    vb_store(fast.count + at, vb_set1(0));
    return count;
}

static inline void add_total(double *total, vd s)
{
    vd_store(total, vd_add(vd_load(total), s));
}

/* Transposes the counts of sixteen cells, so that chain[j] has the counts of chain j. The
 * transposition takes four rounds, each of which interleaves the first half of the vectors with the
 * second half. */
static inline void turn_counts(vb chain[BLOCK])
{
    for (int round = 0; round < 4; round++) {
        vb zipped[BLOCK];
        for (size_t i = 0; i < BLOCK / 2; i++) {
            zipped[2 * i] = vb_zip_low(chain[i], chain[i + BLOCK / 2]);
            zipped[2 * i + 1] = vb_zip_high(chain[i], chain[i + BLOCK / 2]);
        }
        memcpy(chain, zipped, sizeof zipped);
    }
}

/* Adds the counts of sixteen chains in n_cells cells, from `cell` on, to `early` as integers, and
 * sets the counts to 0. @param chain out: chain[j] has the counts of chain j in these cells. */
static inline void take_counts(gbsi_fast fast, const gbsi_closing *closing, size_t cell,
                               size_t n_cells, vb chain[BLOCK])
{
    for (size_t i = n_cells; i < BLOCK; i++) {
        chain[i] = vb_set1(0);
    }
    for (size_t i = 0; i < n_cells; i++) {
        const size_t at = (cell + i) * GBSI_LANES;
        chain[i] = vb_load(fast.count + at);
        vb_add_u16(closing->early + at, chain[i]);
        vb_store(fast.count + at, vb_set1(0));
    }
    turn_counts(chain);
}

/* Adds the sums S_b of n_cells cells, from `cell` on, to the totals. @param batch [BLOCK][16] out:
 * the sums; entries beyond n_cells are not changed. */
static inline void take_block(gbsi_fast fast, const gbsi_closing *closing, size_t cell,
                              size_t n_cells, float *batch)
{
    for (size_t i = 0; i < n_cells; i++) {
        const size_t at = (cell + i) * GBSI_LANES;
        const vf row = take_row(fast, at);
        add_total(closing->total + at, vd_from_vf(row));
        vf_store(batch + i * GBSI_LANES, row);
    }
}

/* Does the work of take_block() in double, for batches that are too long for the fast sums. */
static void take_long_block(gbsi_fast fast, const gbsi_closing *closing, size_t cell,
                            size_t n_cells, double *batch)
{
    for (size_t i = 0; i < n_cells; i++) {
        const size_t at = (cell + i) * GBSI_LANES;
        const vd s = vd_add(vd_from_vf(take_row(fast, at)), vd_load(closing->open + at));
        add_total(closing->total + at, s);
        vd_store(closing->open + at, vd_zero());
        vd_store(batch + i * GBSI_LANES, s);
    }
}

/* Sums over chains of d_b and d_b^2. */
typedef struct moments {
    vd expected, sum, square;
} moments;

static inline void add_chain(moments *m, vd s)
{
    const vd d = vd_sub(s, m->expected);
    m->sum = vd_add(m->sum, d);
    m->square = vd_add(m->square, vd_mul(d, d));
}

/* Adds the moments of a block of n_cells cells to `sum` and `square`. */
static inline void close_block(gbsi_fast fast, const gbsi_closing *closing, size_t cell,
                               const size_t n_cells, const double *reference, double *sum,
                               double *square)
{
    const vu column = vu_shl(vu_iota(), 4);
    moments m = {.expected = vd_mul(vd_load(reference), vd_set1(closing->n_b)),
                 .sum = vd_load(sum),
                 .square = vd_load(square)};
    if (closing->early != NULL) {
        vb chain[BLOCK];
        take_counts(fast, closing, cell, n_cells, chain);
        for (size_t j = 0; j < closing->n_real; j++) {
            add_chain(&m, vd_from_vf(vf_from_small(vb_widen(chain[j]))));
        }
    } else if (closing->open == NULL) {
        float batch[BLOCK * GBSI_LANES] = {0};
        take_block(fast, closing, cell, n_cells, batch);
        for (size_t j = 0; j < closing->n_real; j++) {
            add_chain(&m, vd_from_vf(vf_gather(batch + j, column)));
        }
    } else {
        double batch[BLOCK * GBSI_LANES] = {0};
        take_long_block(fast, closing, cell, n_cells, batch);
        for (size_t j = 0; j < closing->n_real; j++) {
            add_chain(&m, vd_gather(batch + j, column));
        }
    }
    vd_store(sum, m.sum);
    vd_store(square, m.square);
}

/* Closes the cells of the last block, which are fewer than a vector has. */
static void close_rest(gbsi_fast fast, const gbsi_closing *closing, size_t cell, size_t n_cells)
{
    const size_t at = cell - closing->first_cell;
    double reference[BLOCK] = {0};
    double sum[BLOCK] = {0};
    double square[BLOCK] = {0};
    memcpy(reference, closing->reference + at, n_cells * sizeof *reference);
    memcpy(sum, closing->sum + at, n_cells * sizeof *sum);
    memcpy(square, closing->square + at, n_cells * sizeof *square);
    close_block(fast, closing, cell, n_cells, reference, sum, square);
    memcpy(closing->sum + at, sum, n_cells * sizeof *sum);
    memcpy(closing->square + at, square, n_cells * sizeof *square);
}

void GBSI_V(gbsi_accumulate_close)(gbsi_fast fast, const gbsi_closing *closing)
{
    if (closing->held_total != NULL) {
        close_held(fast.sum, closing);
        return;
    }
    if (closing->lanes != GBSI_LANES) {
        close_chain(fast, closing);
        return;
    }
    size_t cell = closing->first_cell;
    for (; cell + BLOCK <= closing->end_cell; cell += BLOCK) {
        const size_t at = cell - closing->first_cell;
        close_block(fast, closing, cell, BLOCK, closing->reference + at, closing->sum + at,
                    closing->square + at);
    }
    if (cell < closing->end_cell) {
        close_rest(fast, closing, cell, closing->end_cell - cell);
    }
}
