/* SPDX-License-Identifier: Apache-2.0 */
/* A regular slice of terms (classes PAIRWISE, TABLE and PRECISE): sixteen consecutive slots of one
 * chain. The operations are those of in_float.h or in_double.h. */
#ifndef GBSI_KERNEL_SLICE_TERMS_H
#define GBSI_KERNEL_SLICE_TERMS_H

#include <math.h>

#include "kernel/lookup.h"

/* Computes own states [from, from + width) of the k states of each slot. */
GBSI_INLINE void slice_sums(const gbsi_plan *plan, const void *state, uint32_t slot, uint32_t k,
                            uint32_t from, const uint32_t width, vr *sum, bool wide,
                            const bool linear)
{
    const gbsi_slice *s = &plan->sell.slice[slot / 16];
    const real *field = field_of(plan, slot) + from;
    const vu by_slot = times(vu_iota(), k);
    for (uint32_t a = 0; a < width; ++a) {
        sum[a] = vr_gather(field + a, by_slot);
    }
    size_t link = s->link;
    for (uint32_t t = 0; t < s->width; ++t) {
        vu index = vu_load(plan->sell.base + s->value + (size_t)16 * t);
        for (uint32_t d = 0; d < s->depth; ++d, link += 16) {
            const vu x = gather16(state, plan->sell.slot + link, wide);
            index = vu_add(index, vu_mul(x, vu_load(plan->sell.stride + link)));
        }
        join_gathered(pool_of(plan) + from, index, width, sum, linear);
    }
}

GBSI_INLINE void store_below(float *out, const vr *sum, const uint32_t width, vr top)
{
    for (uint32_t a = 0; a < width; ++a) {
        vr_store_below(out + (size_t)a * GBSI_LANES, sum[a], top);
    }
}

/* Computes rows of `constant` states; 0 stands for `width` states. */
GBSI_INLINE void slice_rows(const gbsi_plan *plan, const void *state, uint32_t slot, uint32_t width,
                            const uint32_t constant, bool odds, float *out, bool wide,
                            const bool linear)
{
    vr sum[GBSI_MOST_WIDTH];
    vr top = vr_set1(odds ? 0.0F : -INFINITY);
    if (constant != 0) {
        slice_sums(plan, state, slot, constant, 0, constant, sum, wide, linear);
        top = odds ? top : vr_largest(top, sum, constant);
        store_below(out, sum, constant, top);
        return;
    }
    for (uint32_t from = 0; SUMS_ARE_SHIFTED && !odds && from < width; ++from) {
        slice_sums(plan, state, slot, width, from, 1, sum, wide, linear);
        top = vr_largest(top, sum, 1);
    }
    uint32_t from = 0;
    for (; from + GBSI_BLOCK <= width; from += GBSI_BLOCK) {
        slice_sums(plan, state, slot, width, from, GBSI_BLOCK, sum, wide, linear);
        store_below(out + (size_t)from * GBSI_LANES, sum, GBSI_BLOCK, top);
    }
    for (; from < width; ++from) {
        slice_sums(plan, state, slot, width, from, 1, sum, wide, linear);
        store_below(out + (size_t)from * GBSI_LANES, sum, 1, top);
    }
}

/* @param width 1 for odds, else the number of own states. @param out [width][16]. */
GBSI_INLINE void slice_terms(const gbsi_plan *plan, const void *state, uint32_t slot,
                             uint32_t width, bool odds, float *out, bool wide, const bool linear)
{
#define SLICE(k) slice_rows(plan, state, slot, width, k, odds, out, wide, linear)
    FOR_WIDTH(width, SLICE)
}

#endif
