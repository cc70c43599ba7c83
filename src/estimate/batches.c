/* SPDX-License-Identifier: Apache-2.0 */
/* Standard errors from batch means. Passes come in blocks, [0, n_0), [n_0, 2 n_0), [2 n_0, 4 n_0),
 * ...; each block is cut into the same number of batches per chain, so batches double in length
 * from block to block. A batch b of one chain gives S_b, the sum of its p (or its visits), and
 * n_b, its number of updates. Batches of all chains are pooled. With r = sum S_b / sum n_b and
 * B batches the variance of one batch about the common mean is that of the ratio estimator
 * (Cochran (1977), Sampling Techniques, 3rd ed., section 6.3; without own update counts n_b is
 * constant and this is the batch-means estimator of Flegal & Jones (2010), Annals of Statistics
 * 38(2):1034-1070, eq. 6):
 *     v = sum_b (S_b - r n_b)^2 / (B - 1)
 *       = (sum S_b^2 - 2 r sum S_b n_b + r^2 sum n_b^2) / (B - 1)
 * and, batches being nearly independent, T passes of C chains of U updates each have
 *     var(p) = v * (T C / length) / (U C)^2 = (v / length) * T / (C U^2).
 * v / length, the rate, is claimed from the running block once half of its batches are closed,
 * before that from the block before; before half of the first block there is no claim. */
#include <math.h>

#include "estimate/estimate_internal.h"
#include "simd/math.h"

/* Even the first batches are that long: shorter ones would hide any correlation. */
#define FIRST_LENGTH 4u

/* 16 with 8 chains or more, else the least power of two with 128 in all. */
static uint64_t batches_per_chain(uint32_t n_chains)
{
    uint64_t per_chain = 16;
    while (n_chains < 8 && per_chain * n_chains < 128) {
        per_chain *= 2;
    }
    return per_chain;
}

void gbsi_batches_start(gbsi_estimate *e)
{
    gbsi_batches *b = &e->batches;
    b->per_chain = batches_per_chain(e->shape.n_chains);
    b->length = FIRST_LENGTH;
    b->block_end = FIRST_LENGTH * b->per_chain;
}

/* ---- closing ---- */

static void close_slots(gbsi_estimate *e, uint32_t first, uint32_t end)
{
    gbsi_batches *b = &e->batches;
    const size_t n = e->n_cells * e->shape.lanes;
    gbsi_closing closing = {
        .lanes = e->shape.lanes,
        .first_slot = first,
        .end_slot = end,
        .cell_start = &e->cell_start,
        .sum = b->sum,
        .square = b->square,
        .cross = b->cross,
        .updates = e->updates,
        .updates_open = b->updates_open,
    };
    for (uint32_t group = 0; group < e->shape.n_groups; group++) {
        closing.n_real = gbsi_estimate_real_lanes(e, group);
        closing.total = e->total + group * n;
        closing.open = b->open_used ? e->open + group * n : NULL;
        e->lanes->close(gbsi_estimate_fast(e, group), &closing);
    }
    for (uint32_t slot = first; e->counted && slot < end; slot++) {
        const double n_b = (double)(e->updates[slot] - b->updates_open[slot]);
        b->n_sum[slot] += n_b;
        b->n_square[slot] += n_b * n_b;
        b->updates_open[slot] = e->updates[slot];
    }
}

/* v / length from the closed batches of the running block. */
static double block_rate(const gbsi_estimate *e, uint32_t slot, size_t cell)
{
    const gbsi_batches *b = &e->batches;
    const double n_chains = e->shape.n_chains;
    const double n_batches = (double)b->n_closed * n_chains;
    double squares = 0;
    if (e->counted) {
        const double n = b->n_sum[slot];
        if (n <= 0) {
            return NAN;
        }
        const double r = b->sum[cell] / (n * n_chains);
        squares = b->square[cell] - 2 * r * b->cross[cell] + r * r * (b->n_square[slot] * n_chains);
    } else {
        squares = b->square[cell] - b->sum[cell] * (b->sum[cell] / n_batches);
    }
    /* Negative by rounding alone. */
    return squares > 0 ? squares / (n_batches - 1) / (double)b->length : 0.0;
}

static void end_block(gbsi_estimate *e, uint32_t first, uint32_t end)
{
    gbsi_batches *b = &e->batches;
    for (uint32_t slot = first; slot < end; slot++) {
        for (size_t cell = gbsi_offset(&e->cell_start, slot);
             cell < gbsi_offset(&e->cell_start, slot + (size_t)1); cell++) {
            b->rate[cell] = block_rate(e, slot, cell);
            b->sum[cell] = b->square[cell] = 0;
            if (e->counted) {
                b->cross[cell] = 0;
            }
        }
        if (e->counted) {
            b->n_sum[slot] = b->n_square[slot] = 0;
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
        b->length = b->block_end / b->per_chain; /* the next block is as long as all so far */
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
    const gbsi_batches *b = &e->batches;
    double rate = NAN;
    if (claims_running_block(b)) {
        rate = block_rate(e, slot, cell);
    } else if (b->has_rate) {
        rate = b->rate[cell];
    }
    const double updates = (double)gbsi_estimate_updates(e, slot);
    if (updates <= 0 || isnan(rate)) {
        return NAN;
    }
    const double n_chains = e->shape.n_chains;
    return gbsi_sqrt(rate * (double)e->n_passes / n_chains) / updates;
}
