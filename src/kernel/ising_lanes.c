/* SPDX-License-Identifier: Apache-2.0 */
/* Binary variables with pairwise, finite factors [M3]:
 *     l = ln p(1 | rest) - ln p(0 | rest) = field + sum over neighbours of w x
 * summed by fused multiply-adds, neighbours in ascending slot; rows longer than GBSI_LONG_ROW in 16
 * strided partials and a fixed tree. The same order in every packing, hence the same bits. */
#include <math.h>

#include "kernel/lanes_kernels.h"
#include "kernel/state.h"

/* Partial sums i and i + 8, then + 4, + 2, + 1. */
GBSI_INLINE vf tree16(vf *partial)
{
    for (unsigned half = 8; half > 0; half /= 2) {
        for (unsigned i = 0; i < half; ++i) {
            partial[i] = vf_add(partial[i], partial[i + half]);
        }
    }
    return partial[0];
}

GBSI_INLINE vf long_row16(const gbsi_plan *plan, const void *state, uint32_t slot, bool wide)
{
    vf partial[16];
    for (unsigned i = 0; i < 16; ++i) {
        partial[i] = vf_set1(0.0F);
    }
    const size_t start = plan->row_start[slot];
    for (size_t e = start; e < plan->row_start[slot + 1]; ++e) {
        vf *sum = &partial[(e - start) % 16];
        vf x = vf_from_small(state16(state, plan->neighbour[e], wide));
        *sum = vf_fma(x, vf_set1(plan->edge[e].coupling), *sum);
    }
    return vf_add(vf_set1(plan->field[plan->field_start[slot]]), tree16(partial));
}

/* Inlined with a constant degree for grids. */
GBSI_INLINE vf row16(const gbsi_plan *plan, const void *state, size_t start, const size_t degree,
                     vf l, bool wide)
{
    for (size_t e = start; e < start + degree; ++e) {
        vf x = vf_from_small(state16(state, plan->neighbour[e], wide));
        l = vf_fma(x, vf_set1(plan->edge[e].coupling), l);
    }
    return l;
}

GBSI_INLINE void fill16_width(const gbsi_plan *plan, const void *state, gbsi_tile *tile, bool wide)
{
    for (uint32_t i = 0; i < tile->n_places; ++i) {
        const uint32_t slot = tile_slot(tile, i);
        const size_t start = plan->row_start[slot];
        const size_t end = plan->row_start[slot + 1];
        vf l = vf_set1(plan->field[plan->field_start[slot]]);
        if (end - start == 4) {
            l = row16(plan, state, start, 4, l, wide);
        } else if (end - start <= GBSI_LONG_ROW) {
            l = row16(plan, state, start, end - start, l, wide);
        } else {
            l = long_row16(plan, state, slot, wide);
        }
        vf_store(tile->logw + (size_t)i * GBSI_LANES, l);
    }
}

static void fill16(const gbsi_plan *plan, const gbsi_group *group, gbsi_tile *tile)
{
    if (plan->value_bytes == 1) {
        fill16_width(plan, group->state, tile, false);
    } else {
        fill16_width(plan, group->state, tile, true);
    }
}

/* One place of one chain: what the slices below compute, for slots that are not a whole slice. */
GBSI_INLINE float place1(const gbsi_plan *plan, const void *state, uint32_t slot, bool wide)
{
    const size_t start = plan->row_start[slot];
    const size_t end = plan->row_start[slot + 1];
    float l = plan->field[plan->field_start[slot]];
    if (end - start <= GBSI_LONG_ROW) {
        for (size_t e = start; e < end; ++e) {
            l = fmaf((float)state1(state, plan->neighbour[e], wide), plan->edge[e].coupling, l);
        }
        return l;
    }
    float partial[16] = {0};
    for (size_t e = start; e < end; ++e) {
        float *sum = &partial[(e - start) % 16];
        *sum = fmaf((float)state1(state, plan->neighbour[e], wide), plan->edge[e].coupling, *sum);
    }
    for (unsigned half = 8; half > 0; half /= 2) {
        for (unsigned i = 0; i < half; ++i) {
            partial[i] += partial[i + half];
        }
    }
    return l + partial[0];
}

/* Sixteen consecutive slots of one chain, whole slices of the sliced ELL. Padding adds 0 * x. */
GBSI_INLINE vf slice(const gbsi_plan *plan, const void *state, uint32_t slot, bool wide)
{
    const size_t start = plan->sell.slice_start[slot / 16];
    const size_t end = plan->sell.slice_start[slot / 16 + 1];
    vf l = vf_load(plan->field + plan->field_start[slot]);
    for (size_t e = start; e < end; e += 16) {
        vu neighbour = vu_load(plan->sell.neighbour + e);
        vu x = wide ? vu_gather_u16(state, neighbour) : vu_gather_u8(state, neighbour);
        l = vf_fma(vf_from_small(x), vf_load(plan->sell.coupling + e), l);
    }
    return l;
}

GBSI_INLINE void fill1_width(const gbsi_plan *plan, const void *state, gbsi_tile *tile, bool wide)
{
    for (uint32_t row = 0; row < tile->n_rows; ++row) {
        const uint32_t first = tile->first_slot + 16 * row;
        float *out = tile->logw + (size_t)row * 16;
        const bool whole = tile->contiguous && first % 16 == 0 && 16 * row + 16 <= tile->n_places;
        if (whole && plan->sell.slice_start[first / 16 + 1] - plan->sell.slice_start[first / 16] <=
                         16 * (size_t)GBSI_LONG_ROW) {
            vf_store(out, slice(plan, state, first, wide));
            continue;
        }
        for (uint32_t i = 0; i < 16; ++i) {
            uint32_t place = 16 * row + i;
            place = place < tile->n_places ? place : tile->n_places - 1;
            out[i] = place1(plan, state, tile_slot(tile, place), wide);
        }
    }
}

static void fill1(const gbsi_plan *plan, const gbsi_group *group, gbsi_tile *tile)
{
    if (plan->value_bytes == 1) {
        fill1_width(plan, group->state, tile, false);
    } else {
        fill1_width(plan, group->state, tile, true);
    }
}

const gbsi_kernel GBSI_V(gbsi_kernel_ising) = {"ising", fill16, fill1};
