/* SPDX-License-Identifier: Apache-2.0 */
/* A regular slice of terms (classes PAIRWISE and TABLE): sixteen consecutive slots of one chain. */
#ifndef GBSI_KERNEL_SLICE_TERMS_H
#define GBSI_KERNEL_SLICE_TERMS_H

#include "kernel/state.h"

/* @param width 1 for odds, else the arity. @param out [width][16]. */
GBSI_INLINE void slice_terms(const gbsi_plan *plan, const void *state, uint32_t slot,
                             uint32_t width, float *out, bool wide, const bool linear)
{
    const gbsi_slice *s = &plan->sell.slice[slot / 16];
    const float *field = plan->field + gbsi_offset(&plan->field_start, slot);
    const vu by_slot = vu_mul(vu_iota(), vu_set1(width));
    for (uint32_t a = 0; a < width; ++a) {
        vf_store(out + (size_t)a * GBSI_LANES, vf_gather(field + a, by_slot));
    }
    size_t link = s->link;
    for (uint32_t t = 0; t < s->width; ++t) {
        vu index = vu_load(plan->sell.base + s->value + (size_t)16 * t);
        for (uint32_t d = 0; d < s->depth; ++d, link += 16) {
            const vu x = gather16(state, plan->sell.slot + link, wide);
            index = vu_add(index, vu_mul(x, vu_load(plan->sell.stride + link)));
        }
        for (uint32_t a = 0; a < width; ++a) {
            float *sum = out + (size_t)a * GBSI_LANES;
            vf_store(sum, join(vf_load(sum), vf_gather(plan->pool + a, index), linear));
        }
    }
}

#endif
