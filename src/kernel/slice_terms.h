/* SPDX-License-Identifier: Apache-2.0 */
/* A regular slice of terms (classes PAIRWISE and TABLE): sixteen consecutive slots of one chain. */
#ifndef GBSI_KERNEL_SLICE_TERMS_H
#define GBSI_KERNEL_SLICE_TERMS_H

#include "kernel/lookup.h"

/* Own states [from, from + width) of the k of each slot. */
GBSI_INLINE void slice_states(const gbsi_plan *plan, const void *state, uint32_t slot, uint32_t k,
                              uint32_t from, const uint32_t width, float *out, bool wide,
                              const bool linear)
{
    const gbsi_slice *s = &plan->sell.slice[slot / 16];
    const float *field = plan->field + gbsi_offset(&plan->field_start, slot) + from;
    const vu by_slot = times(vu_iota(), k);
    vf sum[GBSI_MOST_WIDTH];
    for (uint32_t a = 0; a < width; ++a) {
        sum[a] = vf_gather(field + a, by_slot);
    }
    size_t link = s->link;
    for (uint32_t t = 0; t < s->width; ++t) {
        vu index = vu_load(plan->sell.base + s->value + (size_t)16 * t);
        for (uint32_t d = 0; d < s->depth; ++d, link += 16) {
            const vu x = gather16(state, plan->sell.slot + link, wide);
            index = vu_add(index, vu_mul(x, vu_load(plan->sell.stride + link)));
        }
        join_gathered(plan->pool + from, index, width, sum, linear);
    }
    for (uint32_t a = 0; a < width; ++a) {
        vf_store(out + (size_t)(from + a) * GBSI_LANES, sum[a]);
    }
}

/* Rows of `constant` states, or of `width` if 0. */
GBSI_INLINE void slice_rows(const gbsi_plan *plan, const void *state, uint32_t slot, uint32_t width,
                            const uint32_t constant, float *out, bool wide, const bool linear)
{
    if (constant != 0) {
        slice_states(plan, state, slot, constant, 0, constant, out, wide, linear);
        return;
    }
    uint32_t from = 0;
    for (; from + GBSI_BLOCK <= width; from += GBSI_BLOCK) {
        slice_states(plan, state, slot, width, from, GBSI_BLOCK, out, wide, linear);
    }
    for (; from < width; ++from) {
        slice_states(plan, state, slot, width, from, 1, out, wide, linear);
    }
}

/* @param width 1 for odds, else the arity. @param out [width][16]. */
GBSI_INLINE void slice_terms(const gbsi_plan *plan, const void *state, uint32_t slot,
                             uint32_t width, float *out, bool wide, const bool linear)
{
#define SLICE(k) slice_rows(plan, state, slot, width, k, out, wide, linear)
    FOR_WIDTH(width, SLICE)
}

#endif
