/* SPDX-License-Identifier: Apache-2.0 */
/* Standard errors from batch means. Passes are divided into blocks [0, n_0), [n_0, 2 n_0), [2 n_0,
 * 4 n_0), ... Each block has an equal number of batches per chain, so that batches double in length
 * from block to block. A batch b of one chain gives the sum S_b of its probabilities p (or its
 * number of visits), and its number of updates n_b. Batches of all chains are pooled. Let r = sum
 * S_b / sum n_b for B batches. The variance v of one batch about the common mean is the variance of
 * a ratio estimator (Cochran (1977), Sampling Techniques, 3rd ed., section 6.3). If slots have no
 * update counts of their own, n_b is constant, and the variance is the batch-means estimator of
 * Flegal & Jones (2010), Annals of Statistics 38(2):1034-1070, eq. 6:
 *     v = sum_b (S_b - r n_b)^2 / (B - 1)
 *       = (sum d_b^2 - 2 s sum d_b n_b + s^2 sum n_b^2) / (B - 1),
 *     d_b = S_b - r0 n_b, s = r - r0 = sum d_b / sum n_b for any r0.
 * The sum of d_b is the growth of the totals. If r0 is the mean of all passes before the block,
 * little cancels, and floats hold the squares. In the first block, r0 is the mean of the first
 * batch of the first chain.
 *
 * Batches are nearly independent. T passes of C chains, with U updates per chain, therefore have
 *     var(p) = v * (T C / length) / (U C)^2 = (v / length) * T / (C U^2).
 * The rate v / length is taken from the running block once half of its batches are closed, and from
 * the previous block before that. Before half of the first block, no standard error is reported. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "estimate/estimate_internal.h"
#include "simd/math.h"

/* Number of passes of a batch in the first block. Shorter batches would hide the correlation
 * between passes. */
#define FIRST_LENGTH 4u

static uint64_t first_length(const gbsi_estimate *e)
{
    return e->shape.first_length == 0 ? FIRST_LENGTH : e->shape.first_length;
}

#define MOST_PER_CHAIN 128u

/* Number of batches per chain: 16 for 8 chains or more, else the least power of two that gives 128
 * batches in all. shape.n_batches overrides this number. */
static uint64_t batches_per_chain(const gbsi_estimate *e)
{
    const uint32_t n_chains = e->shape.n_chains;
    uint64_t per_chain = 16;
    if (e->shape.n_batches != 0) {
        return e->shape.n_batches;
    }
    while (n_chains < 8 && per_chain * n_chains < MOST_PER_CHAIN) {
        per_chain *= 2;
    }
    return per_chain;
}

/* After at most 2 * 128 * 128 passes, a batch becomes longer than fast counts can hold. Until then
 * `early` has room for all counts. */
_Static_assert(2 * MOST_PER_CHAIN * GBSI_PASSES_OF_COUNTS <= UINT16_MAX, "early is too narrow");

void gbsi_batches_start(gbsi_estimate *e)
{
    gbsi_batches *b = &e->batches;
    uint64_t block_start = 0;
    b->per_chain = batches_per_chain(e);
    b->length = first_length(e);
    b->block_end = b->length * b->per_chain;
    while (b->block_end <= e->n_passes) {
        block_start = b->block_end;
        b->length = block_start / b->per_chain;
        b->block_end *= 2;
    }
    b->has_rate = block_start > 0;
    b->n_closed = (e->n_passes - block_start) / b->length;
    b->start = block_start + b->n_closed * b->length;
}

/* ---- the reference ---- */

static bool is_first_block(const gbsi_estimate *e)
{
    return e->batches.block_end == first_length(e) * e->batches.per_chain;
}

/* Number of passes before the current block. */
static uint64_t block_start(const gbsi_estimate *e)
{
    return is_first_block(e) ? 0 : e->batches.block_end / 2;
}

/* Computes, for each cell, the total over all chains at the beginning of the current block. If
 * there are few chains, these totals are found among the half-time totals, because blocks begin
 * after 2^j passes.
 * @param sum [end_cell - first_cell] */
static void find_start_totals(const gbsi_estimate *e, size_t first_cell, size_t end_cell,
                              double *restrict sum)
{
    const gbsi_batches *b = &e->batches;
    const size_t n = end_cell - first_cell;
    if (is_first_block(e)) {
        memset(sum, 0, n * sizeof *sum);
        return;
    }
    if (!e->split) {
        memcpy(sum, b->start_total + first_cell, n * sizeof *sum);
        return;
    }
    assert(e->half[1].pass == block_start(e));
    memset(sum, 0, n * sizeof *sum);
    const size_t lanes = e->shape.lanes;
    for (uint32_t group = 0; group < e->shape.n_groups; group++) {
        const float *restrict total = e->half[1].total + (group * e->n_cells + first_cell) * lanes;
        const uint32_t n_real = gbsi_estimate_real_lanes(e, group);
        for (size_t i = 0; i < n; i++) {
            for (uint32_t lane = 0; lane < n_real; lane++) {
                sum[i] += (double)total[i * lanes + lane];
            }
        }
    }
}

/* Computes r0. @param start from find_start_totals(). @param r0 [end_cell - first_cell] out. */
static void find_reference(const gbsi_estimate *e, uint32_t slot, size_t first_cell,
                           size_t end_cell, const double *restrict start, double *restrict r0)
{
    const gbsi_batches *b = &e->batches;
    const size_t n = end_cell - first_cell;
    const double updates = e->counted ? (double)b->updates_start[slot] : (double)block_start(e);
    const double inverse = updates > 0 ? 1 / (updates * e->shape.n_chains) : 0;
    /* in the first block, `rate` holds the reference */
    const float *restrict first = b->rate + first_cell;
    if (is_first_block(e)) {
        for (size_t i = 0; i < n; i++) {
            r0[i] = (double)first[i];
        }
        return;
    }
    for (size_t i = 0; i < n; i++) {
        r0[i] = start[i] * inverse;
    }
}

/* Sets the reference of the first block to the mean of the first batch of the first chain, before
 * this batch is closed. */
static void set_first_reference(gbsi_estimate *e, uint32_t slot, size_t first_cell, size_t end_cell)
{
    const double n = (double)gbsi_estimate_updates(e, slot);
    if (e->shape.held) {
        float *sum = e->batches.rate + first_cell;
        e->held.sum(e->held.context, 0, (uint32_t)first_cell, (uint32_t)(end_cell - first_cell),
                    sum);
        for (size_t i = 0; i < end_cell - first_cell; i++) {
            sum[i] /= (float)n;
        }
        return;
    }
    for (size_t cell = first_cell; cell < end_cell; cell++) {
        const double sum = gbsi_estimate_chain_total(e, 0, cell, 0);
        e->batches.rate[cell] = n > 0 ? (float)(sum / n) : 0;
    }
}

/* ---- closing ---- */

#define CELLS_CLOSED 512u /* number of cells that are closed together */
_Static_assert(CELLS_CLOSED == GBSI_SLOTS_HELD, "they are asked for as they are closed");

/* Closes the batch for cells of a chain that holds its sums itself. */
static void close_held(const gbsi_estimate *e, uint32_t group, gbsi_closing *closing)
{
    float sum[CELLS_CLOSED];
    e->held.sum(e->held.context, group, (uint32_t)closing->first_cell,
                (uint32_t)(closing->end_cell - closing->first_cell), sum);
    closing->held_total = e->held_total + group * e->n_cells;
    closing->held_open = e->batches.open_used ? e->held_open + group * e->n_cells : NULL;
    e->lanes->close((gbsi_fast){.sum = sum}, closing);
}

/* Closes the batch for cells of slots that had n_b updates in the batch. Sums over all chains are
 * in double, in the order of the chains, and are rounded once. These sums do not depend on how
 * chains are grouped into lanes. */
static void close_cells(gbsi_estimate *e, uint32_t slot, size_t first_cell, size_t end_cell,
                        double n_b)
{
    gbsi_batches *b = &e->batches;
    double r0[CELLS_CLOSED];
    double sum[CELLS_CLOSED];
    double square[CELLS_CLOSED];
    const size_t n = e->n_cells * e->shape.lanes;
    gbsi_closing closing = {.lanes = e->shape.lanes,
                            .first_cell = first_cell,
                            .end_cell = end_cell,
                            .n_b = n_b,
                            .reference = r0,
                            .sum = sum,
                            .square = square};
    if (is_first_block(e) && b->n_closed == 0) {
        set_first_reference(e, slot, first_cell, end_cell);
    }
    find_start_totals(e, first_cell, end_cell, sum);
    find_reference(e, slot, first_cell, end_cell, sum, r0);
    for (size_t i = 0; i < end_cell - first_cell; i++) {
        sum[i] = 0;
        square[i] = (double)b->square[first_cell + i];
    }
    for (uint32_t group = 0; group < e->shape.n_groups; group++) {
        closing.n_real = gbsi_estimate_real_lanes(e, group);
        closing.total = e->total == NULL ? NULL : e->total + group * n;
        closing.open = e->open != NULL && b->open_used ? e->open + group * n : NULL;
        closing.early = e->early != NULL && !b->open_used ? e->early + group * n : NULL;
        if (e->shape.held) {
            close_held(e, group, &closing);
        } else {
            e->lanes->close(gbsi_estimate_fast(e, group), &closing);
        }
    }
    for (size_t i = 0; i < end_cell - first_cell; i++) {
        b->square[first_cell + i] = (float)square[i];
    }
    for (size_t i = 0; b->cross != NULL && i < end_cell - first_cell; i++) {
        b->cross[first_cell + i] += n_b * sum[i];
    }
}

static void close_range(gbsi_estimate *e, uint32_t slot, size_t first_cell, size_t end_cell,
                        double n_b)
{
    for (size_t cell = first_cell; cell < end_cell; cell += CELLS_CLOSED) {
        const size_t end = end_cell - cell < CELLS_CLOSED ? end_cell : cell + CELLS_CLOSED;
        close_cells(e, slot, cell, end, n_b);
    }
}

static void close_slots(gbsi_estimate *e, uint32_t first, uint32_t end)
{
    gbsi_batches *b = &e->batches;
    if (!e->counted) {
        close_range(e, first, gbsi_offset(&e->cell_start, first), gbsi_offset(&e->cell_start, end),
                    (double)b->length);
        return;
    }
    for (uint32_t slot = first; slot < end; slot++) {
        const double n_b = (double)(e->updates[slot] - b->updates_open[slot]);
        close_range(e, slot, gbsi_offset(&e->cell_start, slot),
                    gbsi_offset(&e->cell_start, slot + (size_t)1), n_b);
        b->n_sum[slot] += n_b;
        b->n_square[slot] += n_b * n_b;
        b->updates_open[slot] = e->updates[slot];
    }
}

/* Sum over all chains of the totals of closed batches. */
static double closed_total(const gbsi_estimate *e, size_t cell)
{
    const size_t lanes = e->shape.lanes;
    double sum = 0;
    for (uint32_t group = 0; group < e->shape.n_groups; group++) {
        const uint32_t n_real = gbsi_estimate_real_lanes(e, group);
        for (uint32_t lane = 0; lane < n_real; lane++) {
            sum += gbsi_estimate_closed(e, ((size_t)group * e->n_cells + cell) * lanes + lane);
        }
    }
    return sum;
}

/* Relative rounding error of a sum of squares in float. The reported variance is at least this
 * fraction of the sum of squares. */
#define SQUARE_ROUNDING 0x1p-22

/* Computes v / length from the closed batches of the running block. @param total from
 * closed_total(). */
static double block_rate(const gbsi_estimate *e, uint32_t slot, size_t cell, double total)
{
    const gbsi_batches *b = &e->batches;
    const double n_chains = e->shape.n_chains;
    const double n_batches = (double)b->n_closed * n_chains;
    const double square = (double)b->square[cell];
    const double n = e->counted ? b->n_sum[slot] * n_chains : n_batches * (double)b->length;
    if (n <= 0) {
        return NAN;
    }
    double start = 0;
    if (!is_first_block(e) && !e->split) {
        start = b->start_total[cell]; /* does the work of find_start_totals() for one cell, without
                                         loops */
    } else {
        find_start_totals(e, cell, cell + 1, &start);
    }
    double r0 = 0;
    find_reference(e, slot, cell, cell + 1, &start, &r0);
    const double d = total - start - r0 * n;
    double squares = square - d * (d / n_batches);
    if (e->counted) {
        const double shift = d / n;
        squares =
            square - 2 * shift * b->cross[cell] + shift * shift * (b->n_square[slot] * n_chains);
    }
    const double least = square * SQUARE_ROUNDING;
    return (squares > least ? squares : least) / (n_batches - 1) / (double)b->length;
}

static void end_block(gbsi_estimate *e, uint32_t first, uint32_t end)
{
    gbsi_batches *b = &e->batches;
    for (uint32_t slot = first; slot < end; slot++) {
        const size_t end_cell = gbsi_offset(&e->cell_start, slot + (size_t)1);
        for (size_t cell = gbsi_offset(&e->cell_start, slot); cell < end_cell; cell++) {
            const double total = closed_total(e, cell);
            b->rate[cell] = (float)block_rate(e, slot, cell, total);
            b->square[cell] = 0;
            if (b->start_total != NULL) {
                b->start_total[cell] = total;
            }
            if (e->counted) {
                b->cross[cell] = 0;
            }
        }
        if (e->counted) {
            b->n_sum[slot] = b->n_square[slot] = 0;
            b->updates_start[slot] = e->updates[slot];
        }
    }
}

void gbsi_batches_end_pass(gbsi_estimate *e, gbsi_pool *pool)
{
    gbsi_batches *b = &e->batches;
    if (e->n_passes - b->start == b->length) {
        gbsi_estimate_share(e, pool, close_slots);
        b->open_used = false;
        b->start = e->n_passes;
        b->n_closed++;
    }
    if (e->n_passes == b->block_end) {
        gbsi_estimate_share(e, pool, end_block);
        b->has_rate = true;
        b->n_closed = 0;
        b->length = b->block_end /
                    b->per_chain; /* the next block is as long as all blocks before together */
        b->block_end *= 2;
    }
}

/* ---- claims ---- */

static bool claims_running_block(const gbsi_batches *b)
{
    return 2 * b->n_closed >= b->per_chain;
}

double gbsi_estimate_df(const gbsi_estimate *e)
{
    const gbsi_batches *b = &e->batches;
    const double n_chains = e->shape.n_chains;
    if (claims_running_block(b)) {
        return (double)b->n_closed * n_chains - 1;
    }
    return b->has_rate ? (double)b->per_chain * n_chains - 1 : 0;
}

double gbsi_batches_mcse(const gbsi_estimate *e, uint32_t slot, size_t cell)
{
    const bool running = claims_running_block(&e->batches);
    return gbsi_batches_mcse_of(e, slot, cell, running ? closed_total(e, cell) : 0.0);
}

double gbsi_batches_mcse_of(const gbsi_estimate *e, uint32_t slot, size_t cell, double closed)
{
    const gbsi_batches *b = &e->batches;
    double rate = NAN;
    if (claims_running_block(b)) {
        rate = block_rate(e, slot, cell, closed);
    } else if (b->has_rate) {
        rate = (double)b->rate[cell];
    }
    const double updates = (double)gbsi_estimate_updates(e, slot);
    if (updates <= 0 || isnan(rate)) {
        return NAN;
    }
    const double n_chains = e->shape.n_chains;
    return gbsi_sqrt(rate * (double)e->n_passes / n_chains) / updates;
}
