/* SPDX-License-Identifier: Apache-2.0 */
/* Any pairwise tables, neighbours one by one [M2]:
 *     ln p(a | rest) = field[a] + sum over neighbours of pool[base + x k + a] + const
 * with odds in place of the k entries where the variable is binary and finite. Linear slots
 * multiply [M15]. */
#include "kernel/lanes_kernels.h"
#include "kernel/slice_terms.h"

GBSI_INLINE void fill16_form(const gbsi_plan *plan, const void *state, gbsi_tile *tile, bool wide,
                             const bool linear)
{
    const uint32_t width = tile->odds ? 1 : tile->arity;
    const vu stride = vu_set1(width);
    for (uint32_t i = 0; i < tile->n_places; ++i) {
        const uint32_t slot = gbsi_tile_slot(tile, i);
        const float *field = plan->field + gbsi_offset(&plan->field_start, slot);
        float *out = tile->w + (size_t)i * width * GBSI_LANES;
        for (uint32_t a = 0; a < width; ++a) {
            vf_store(out + (size_t)a * GBSI_LANES, vf_set1(field[a]));
        }
        const size_t end = gbsi_offset(&plan->row_start, slot + (size_t)1);
        for (size_t e = gbsi_offset(&plan->row_start, slot); e < end; ++e) {
            const float *table = plan->pool + plan->edge[e].base;
            vu index = vu_mul(state16(state, plan->neighbour[e], wide), stride);
            for (uint32_t a = 0; a < width; ++a) {
                float *sum = out + (size_t)a * GBSI_LANES;
                vf_store(sum, join(vf_load(sum), vf_gather(table + a, index), linear));
            }
        }
    }
}

static void fill16(const gbsi_plan *plan, const gbsi_group *group, gbsi_tile *tile)
{
    if (plan->value_bytes != 1) {
        fill16_form(plan, group->state, tile, true, tile->linear != 0);
    } else if (tile->linear) {
        fill16_form(plan, group->state, tile, false, true);
    } else {
        fill16_form(plan, group->state, tile, false, false);
    }
}

GBSI_INLINE float place1(const gbsi_plan *plan, const void *state, uint32_t slot, uint32_t a,
                         uint32_t width, bool wide, const bool linear)
{
    const gbsi_row row = gbsi_plan_row(plan, slot);
    const size_t end = row.n * row.step;
    float sum = plan->field[gbsi_offset(&plan->field_start, slot) + a];
    for (size_t e = 0; e < end; e += row.step) {
        const size_t x = state1(state, row.slot[e], wide);
        sum = join1(sum, plan->pool[row.base[e] + x * width + a], linear);
    }
    return sum;
}

static void fill1(const gbsi_plan *plan, const gbsi_group *group, gbsi_tile *tile)
{
    const bool wide = plan->value_bytes != 1;
    const bool linear = tile->linear != 0;
    const uint32_t width = tile->odds ? 1 : tile->arity;
    for (uint32_t row = 0; row < tile->n_rows; ++row) {
        float *out = tile->w + (size_t)row * width * 16;
        if (whole_slice(plan, tile, row)) {
            slice_terms(plan, group->state, tile->first_slot + 16 * row, width, out, wide, linear);
            continue;
        }
        for (uint32_t i = 0; i < 16; ++i) {
            const uint32_t place =
                16 * row + i < tile->n_places ? 16 * row + i : tile->n_places - 1;
            for (uint32_t a = 0; a < width; ++a) {
                out[(size_t)a * 16 + i] =
                    place1(plan, group->state, gbsi_tile_slot(tile, place), a, width, wide, linear);
            }
        }
    }
}

const gbsi_kernel GBSI_V(gbsi_kernel_pairwise) = {"pairwise", fill16, fill1};
