/* SPDX-License-Identifier: Apache-2.0 */
/* Pairwise tables of any values, looked up for one neighbour after another [M2]:
 *     ln p(a | rest) = field[a] + sum over neighbours of pool[base + x k + a] + const
 * If the variable is binary and its tables are finite, the pool holds one log-odds in place of the
 * k = 2 entries for each state of a neighbour. Linear slots multiply weights [M15]. */
#include "kernel/in_float.h"
#include "kernel/lanes_kernels.h"
#include "kernel/slice_terms.h"

/* Computes own states [from, from + width) of the k states of a slot in sixteen chains. */
GBSI_INLINE void states16(const gbsi_plan *plan, const void *state, uint32_t slot, uint32_t k,
                          uint32_t from, const uint32_t width, float *out, bool wide,
                          const bool linear)
{
    const float *field = plan->field + gbsi_offset(&plan->field_start, slot) + from;
    vf sum[GBSI_MOST_WIDTH];
    for (uint32_t a = 0; a < width; ++a) {
        sum[a] = vf_set1(field[a]);
    }
    const size_t end = gbsi_offset(&plan->row_start, slot + (size_t)1);
    for (size_t e = gbsi_offset(&plan->row_start, slot); e < end; ++e) {
        const uint32_t neighbour = plan->neighbour[e];
        const vu index = times(state16(state, neighbour, wide), k);
        const size_t n = (size_t)gbsi_plan_arity(plan, neighbour) * k - from;
        join_entries(plan->pool + plan->edge[e].base + from, n, index, width, sum, linear);
    }
    for (uint32_t a = 0; a < width; ++a) {
        vf_store(out + (size_t)(from + a) * GBSI_LANES, sum[a]);
    }
}

/* Fills a tile whose rows have the constant width `width`; 0 stands for any width. */
GBSI_INLINE void fill16_width(const gbsi_plan *shared, const void *state, const gbsi_tile *tile,
                              const uint32_t width, bool wide, const bool linear)
{
    /* a local copy, which no store can change, so that its pointers stay in registers */
    const gbsi_plan plan = *shared;
    const gbsi_tile t = *tile;
    const uint32_t k = width != 0 ? width : (t.odds != 0 ? 1 : t.arity);
    for (uint32_t i = 0; i < t.n_places; ++i) {
        const uint32_t slot = gbsi_tile_slot(&t, i);
        float *out = t.w + (size_t)i * k * GBSI_LANES;
        if (width != 0) {
            states16(&plan, state, slot, k, 0, width, out, wide, linear);
            continue;
        }
        for (uint32_t from = 0, to = 0; (to = gbsi_tile_block(&t, from, k)) > from;) {
            for (; from + GBSI_BLOCK <= to; from += GBSI_BLOCK) {
                states16(&plan, state, slot, k, from, GBSI_BLOCK, out, wide, linear);
            }
            for (; from < to; ++from) {
                states16(&plan, state, slot, k, from, 1, out, wide, linear);
            }
        }
    }
}

static void fill16(const gbsi_plan *plan, const gbsi_group *group, gbsi_tile *tile)
{
    const void *state = group->state;
    const uint32_t width = tile->odds ? 1 : tile->arity;
#define NARROW_LINEAR(k) fill16_width(plan, state, tile, k, false, true)
#define NARROW_LOGS(k)   fill16_width(plan, state, tile, k, false, false)
    if (plan->value_bytes != 1) {
        fill16_width(plan, state, tile, width == 1 ? 1 : 0, true, tile->linear != 0);
    } else if (tile->linear) {
        FOR_WIDTH(width, NARROW_LINEAR)
    } else {
        FOR_WIDTH(width, NARROW_LOGS)
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
            slice_terms(plan, group->state, tile->first_slot + 16 * row, width, tile->odds != 0,
                        out, wide, linear);
            continue;
        }
        const uint32_t n = places_in(tile, row);
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t slot = gbsi_tile_slot(tile, 16 * row + i);
            for (uint32_t from = 0, to = 0; (to = gbsi_tile_block(tile, from, width)) > from;
                 from = to) {
                for (uint32_t a = from; a < to; ++a) {
                    out[(size_t)a * 16 + i] =
                        place1(plan, group->state, slot, a, width, wide, linear);
                }
            }
        }
        pad_row(out, width, n);
    }
}

const gbsi_kernel GBSI_V(gbsi_kernel_pairwise) = {"pairwise", fill16, fill1};
