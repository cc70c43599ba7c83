/* SPDX-License-Identifier: Apache-2.0 */
/* Potts couplings to neighbours one by one [M4]:
 *     ln p(a | rest) = field[a] + sum over neighbours of J [x = a] + const
 * With one J for the whole row the neighbours in state a are counted in bytes first. */
#include <math.h>

#include "kernel/lanes_kernels.h"
#include "kernel/state.h"

#define BLOCK 8 /* neighbours kept in registers at a time */

/* Counts of neighbours in each state as bytes; degree <= 255, one J. Inlined with a constant degree
 * for grids, so that the neighbours stay in registers over the states. */
GBSI_INLINE void uniform16(const gbsi_plan *plan, const uint8_t *state, uint32_t slot, uint32_t k,
                           const size_t degree, float *out)
{
    const float *field = plan->field + plan->field_start[slot];
    const size_t start = plan->row_start[slot];
    const vf j = vf_set1(degree > 0 ? plan->edge[start].coupling : 0.0F);
    vb x[BLOCK];
    const size_t n = degree < BLOCK ? degree : BLOCK;
    for (size_t d = 0; d < n; ++d) {
        x[d] = vb_load(state + (size_t)plan->neighbour[start + d] * GBSI_LANES);
    }
    for (uint32_t a = 0; a < k; ++a) {
        const vb value = vb_set1((uint8_t)a);
        vb count = vb_set1(0);
        for (size_t d = 0; d < n; ++d) {
            count = vb_sub(count, vb_eq(x[d], value)); /* 255 is -1 */
        }
        for (size_t d = n; d < degree; ++d) {
            const vb y = vb_load(state + (size_t)plan->neighbour[start + d] * GBSI_LANES);
            count = vb_sub(count, vb_eq(y, value));
        }
        vf_store(out + (size_t)a * GBSI_LANES,
                 vf_fma(vf_from_small(vb_widen(count)), j, vf_set1(field[a])));
    }
}

static void uniform16_narrow(const gbsi_plan *plan, const uint8_t *state, uint32_t slot, uint32_t k,
                             float *out)
{
    const size_t degree = plan->row_start[slot + 1] - plan->row_start[slot];
    switch (degree) {
    case 2:
        uniform16(plan, state, slot, k, 2, out);
        return;
    case 3:
        uniform16(plan, state, slot, k, 3, out);
        return;
    case 4:
        uniform16(plan, state, slot, k, 4, out);
        return;
    case 6:
        uniform16(plan, state, slot, k, 6, out);
        return;
    default:
        uniform16(plan, state, slot, k, degree, out);
        return;
    }
}

/* Counting again, for 16-bit states. */
GBSI_INLINE void uniform16_wide(const gbsi_plan *plan, const void *state, uint32_t slot, uint32_t k,
                                float *out)
{
    const float *field = plan->field + plan->field_start[slot];
    const size_t start = plan->row_start[slot];
    const size_t end = plan->row_start[slot + 1];
    const vf j = vf_set1(end > start ? plan->edge[start].coupling : 0.0F);
    for (uint32_t a = 0; a < k; ++a) {
        vu value = vu_set1(a);
        vu count = vu_set1(0);
        for (size_t e = start; e < end; ++e) {
            vm same = vu_eq(state16(state, plan->neighbour[e], true), value);
            count = vu_add(count, vu_select(same, vu_set1(1), vu_set1(0)));
        }
        vf_store(out + (size_t)a * GBSI_LANES, vf_fma(vf_from_small(count), j, vf_set1(field[a])));
    }
}

GBSI_INLINE void mixed16(const gbsi_plan *plan, const void *state, uint32_t slot, uint32_t k,
                         float *out, bool wide)
{
    const float *field = plan->field + plan->field_start[slot];
    for (uint32_t a = 0; a < k; ++a) {
        vf sum = vf_set1(field[a]);
        for (size_t e = plan->row_start[slot]; e < plan->row_start[slot + 1]; ++e) {
            vm same = vu_eq(state16(state, plan->neighbour[e], wide), vu_set1(a));
            sum = vf_add(sum, vf_select(same, vf_set1(plan->edge[e].coupling), vf_set1(0.0F)));
        }
        vf_store(out + (size_t)a * GBSI_LANES, sum);
    }
}

static void fill16(const gbsi_plan *plan, const gbsi_group *group, gbsi_tile *tile)
{
    const bool wide = plan->value_bytes != 1;
    const uint32_t k = tile->arity;
    for (uint32_t i = 0; i < tile->n_places; ++i) {
        const uint32_t slot = tile_slot(tile, i);
        float *out = tile->logw + (size_t)i * k * GBSI_LANES;
        if (!plan->uniform[slot]) {
            mixed16(plan, group->state, slot, k, out, wide);
        } else if (wide) {
            uniform16_wide(plan, group->state, slot, k, out);
        } else {
            uniform16_narrow(plan, group->state, slot, k, out);
        }
    }
}

GBSI_INLINE float place1(const gbsi_plan *plan, const void *state, uint32_t slot, uint32_t a,
                         bool wide)
{
    const float field = plan->field[plan->field_start[slot] + a];
    const size_t start = plan->row_start[slot];
    const size_t end = plan->row_start[slot + 1];
    if (plan->uniform[slot]) {
        uint32_t count = 0;
        for (size_t e = start; e < end; ++e) {
            count += state1(state, plan->neighbour[e], wide) == a;
        }
        return fmaf((float)count, end > start ? plan->edge[start].coupling : 0.0F, field);
    }
    float sum = field;
    for (size_t e = start; e < end; ++e) {
        bool same = state1(state, plan->neighbour[e], wide) == a;
        sum += same ? plan->edge[e].coupling : 0.0F;
    }
    return sum;
}

static void fill1(const gbsi_plan *plan, const gbsi_group *group, gbsi_tile *tile)
{
    const bool wide = plan->value_bytes != 1;
    for (uint32_t place = 0; place < 16 * tile->n_rows; ++place) {
        uint32_t slot = tile_slot(tile, place < tile->n_places ? place : tile->n_places - 1);
        float *out = tile->logw + (size_t)(place / 16) * tile->arity * 16 + place % 16;
        for (uint32_t a = 0; a < tile->arity; ++a) {
            out[(size_t)a * 16] = place1(plan, group->state, slot, a, wide);
        }
    }
}

const gbsi_kernel GBSI_V(gbsi_kernel_potts) = {"potts", fill16, fill1};
