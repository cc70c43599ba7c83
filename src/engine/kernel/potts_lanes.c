/* SPDX-License-Identifier: Apache-2.0 */
/* Potts couplings, added for one neighbour after another [M4]:
 *     ln p(a | rest) = field[a] + sum over neighbours of J [x = a] + const
 * If all neighbours of a slot have the same J, the kernel counts the c neighbours in state a in
 * bytes and looks up J c in a table. Linear slots multiply weights instead [M15]. */
#include <math.h>

#include "kernel/lanes_kernels.h"
#include "kernel/state.h"

#define BLOCK 8 /* number of neighbours whose states registers hold at a time */

typedef struct own_states {
    uint32_t from, to;
} own_states;

/* `degree` is a compile-time constant where this function is inlined for grids. The states of the
 * neighbours then stay in registers while the loop runs over own states. */
GBSI_INLINE void counted16(const gbsi_plan *plan, const uint8_t *state, uint32_t slot,
                           own_states own, const size_t degree, float *out, const bool linear)
{
    const float *field = plan->field + gbsi_offset(&plan->field_start, slot);
    const float *table = plan->pool + gbsi_plan_by_count(plan, slot);
    const size_t start = gbsi_offset(&plan->row_start, slot);
    vb x[BLOCK];
    const size_t n = degree < BLOCK ? degree : BLOCK;
    for (size_t d = 0; d < n; ++d) {
        x[d] = vb_load(state + (size_t)plan->neighbour[start + d] * GBSI_LANES);
    }
    for (uint32_t a = own.from; a < own.to; ++a) {
        const vb value = vb_set1((uint8_t)a);
        vb count = vb_set1(0);
        for (size_t d = 0; d < n; ++d) {
            /* a true comparison is 255, which is -1 in a byte */
            count = vb_sub(count, vb_eq(x[d], value));
        }
        for (size_t d = n; d < degree; ++d) {
            const vb y = vb_load(state + (size_t)plan->neighbour[start + d] * GBSI_LANES);
            count = vb_sub(count, vb_eq(y, value));
        }
        vf_store(out + (size_t)a * GBSI_LANES,
                 join(vf_set1(field[a]), by_count(table, vb_widen(count), degree), linear));
    }
}

GBSI_INLINE void counted16_degree(const gbsi_plan *plan, const uint8_t *state, uint32_t slot,
                                  own_states own, float *out, const bool linear)
{
    const size_t degree =
        gbsi_offset(&plan->row_start, slot + (size_t)1) - gbsi_offset(&plan->row_start, slot);
    switch (degree) {
    case 2:
        counted16(plan, state, slot, own, 2, out, linear);
        return;
    case 3:
        counted16(plan, state, slot, own, 3, out, linear);
        return;
    case 4:
        counted16(plan, state, slot, own, 4, out, linear);
        return;
    case 6:
        counted16(plan, state, slot, own, 6, out, linear);
        return;
    default:
        counted16(plan, state, slot, own, degree, out, linear);
        return;
    }
}

/* Does the work of counted16() for states of 16 bits. */
GBSI_INLINE void counted16_wide(const gbsi_plan *plan, const void *state, uint32_t slot,
                                own_states own, float *out, const bool linear)
{
    const float *field = plan->field + gbsi_offset(&plan->field_start, slot);
    const float *table = plan->pool + gbsi_plan_by_count(plan, slot);
    const size_t start = gbsi_offset(&plan->row_start, slot);
    const size_t end = gbsi_offset(&plan->row_start, slot + (size_t)1);
    for (uint32_t a = own.from; a < own.to; ++a) {
        vu value = vu_set1(a);
        vu count = vu_set1(0);
        for (size_t e = start; e < end; ++e) {
            vm same = vu_eq(state16(state, plan->neighbour[e], true), value);
            count = vu_add(count, vu_select(same, vu_set1(1), vu_set1(0)));
        }
        vf_store(out + (size_t)a * GBSI_LANES,
                 join(vf_set1(field[a]), by_count(table, count, end - start), linear));
    }
}

GBSI_INLINE void mixed16(const gbsi_plan *plan, const void *state, uint32_t slot, own_states own,
                         float *out, bool wide, const bool linear)
{
    const float *field = plan->field + gbsi_offset(&plan->field_start, slot);
    const size_t start = gbsi_offset(&plan->row_start, slot);
    const size_t end = gbsi_offset(&plan->row_start, slot + (size_t)1);
    const vf neutral = vf_set1(linear ? 1.0F : 0.0F);
    for (uint32_t a = own.from; a < own.to; ++a) {
        vf sum = vf_set1(field[a]);
        for (size_t e = start; e < end; ++e) {
            vm same = vu_eq(state16(state, plan->neighbour[e], wide), vu_set1(a));
            sum = join(sum, vf_select(same, vf_set1(plan->edge[e].coupling), neutral), linear);
        }
        vf_store(out + (size_t)a * GBSI_LANES, sum);
    }
}

GBSI_INLINE void row16(const gbsi_plan *plan, const void *state, uint32_t slot, own_states own,
                       float *out, bool wide, const bool linear)
{
    if (gbsi_plan_by_count(plan, slot) == GBSI_NONE) {
        mixed16(plan, state, slot, own, out, wide, linear);
    } else if (wide) {
        counted16_wide(plan, state, slot, own, out, linear);
    } else {
        counted16_degree(plan, state, slot, own, out, linear);
    }
}

static __attribute__((noinline)) void long_row16(const gbsi_plan *plan, const void *state,
                                                 gbsi_tile *tile, uint32_t slot, float *out,
                                                 bool wide, const bool linear)
{
    own_states own = {0, 0};
    for (; (own.to = gbsi_tile_block(tile, own.from, tile->arity)) > own.from; own.from = own.to) {
        row16(plan, state, slot, own, out, wide, linear);
    }
}

GBSI_INLINE void fill16_form(const gbsi_plan *plan, const void *state, gbsi_tile *tile, bool wide,
                             const bool linear)
{
    const uint32_t k = tile->arity;
    for (uint32_t i = 0; i < tile->n_places; ++i) {
        const uint32_t slot = gbsi_tile_slot(tile, i);
        float *out = tile->w + (size_t)i * k * GBSI_LANES;
        if (tile->watch == NULL) {
            row16(plan, state, slot, (own_states){0, k}, out, wide, linear);
        } else {
            long_row16(plan, state, tile, slot, out, wide, linear);
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
                         bool wide, const bool linear)
{
    const gbsi_row row = gbsi_plan_row(plan, slot);
    const size_t end = row.n * row.step;
    const uint32_t table = gbsi_plan_by_count(plan, slot);
    const float field = plan->field[gbsi_offset(&plan->field_start, slot) + a];
    if (table != GBSI_NONE) {
        uint32_t count = 0;
        for (size_t e = 0; e < end; e += row.step) {
            count += state1(state, row.slot[e], wide) == a;
        }
        return join1(field, plan->pool[table + count], linear);
    }
    float sum = field;
    for (size_t e = 0; e < end; e += row.step) {
        bool same = state1(state, row.slot[e], wide) == a;
        sum = join1(sum, same ? row.coupling[e] : (linear ? 1.0F : 0.0F), linear);
    }
    return sum;
}

/* largest number of neighbours per slot of a slice whose states stay in registers or in the L1
 * cache while the loop runs over own states */
#define HELD 16

/* Computes a slice in which some slots count their neighbours. */
static __attribute__((noinline)) void mixed_slice(const gbsi_plan *plan, const void *state,
                                                  uint32_t slot, uint32_t k, float *out, bool wide,
                                                  const bool linear)
{
    const gbsi_slice *s = &plan->sell.slice[slot / 16];
    const mixed_lanes mixed = mixed_of(plan, s);
    const float *field = plan->field + gbsi_offset(&plan->field_start, slot);
    const vf neutral = vf_set1(linear ? 1.0F : 0.0F);
    for (uint32_t a = 0; a < k; ++a) {
        const vf own = vf_gather(field + a, vu_mul(vu_iota(), vu_set1(k)));
        vf sum = own;
        vu count = vu_set1(0);
        for (uint32_t d = 0; d < s->width; ++d) {
            const size_t at = (size_t)16 * d;
            const vu x = gather16(state, plan->sell.slot + s->link + at, wide);
            const vm same = vu_eq(x, vu_set1(a));
            count = vu_add(count, counts_one(&mixed, d, same));
            const vf coupling = vf_load(plan->sell.coupling + s->value + at);
            sum = join(sum, vf_select(same, coupling, neutral), linear);
        }
        const vf looked_up = vf_gather(plan->pool, vu_add(mixed.table, count));
        vf_store(out + (size_t)a * GBSI_LANES,
                 vf_select(mixed.without, sum, join(own, looked_up, linear)));
    }
}

/* Computes a regular slice: sixteen consecutive slots of one chain. */
GBSI_INLINE void slice(const gbsi_plan *plan, const void *state, uint32_t slot, uint32_t k,
                       float *out, bool wide, const bool linear)
{
    const gbsi_slice *s = &plan->sell.slice[slot / 16];
    const uint32_t *neighbour = plan->sell.slot + s->link;
    const float *coupling = plan->sell.coupling + s->value;
    const float *field = plan->field + gbsi_offset(&plan->field_start, slot);
    const vu by_slot = vu_mul(vu_iota(), vu_set1(k));
    const vf neutral = vf_set1(linear ? 1.0F : 0.0F);
    const bool counted = s->table != GBSI_NONE;
    if (s->mixed) {
        mixed_slice(plan, state, slot, k, out, wide, linear);
        return;
    }
    vu held[HELD];
    for (uint32_t d = 0; d < s->width && d < HELD; ++d) {
        held[d] = gather16(state, neighbour + (size_t)16 * d, wide);
    }
    for (uint32_t a = 0; a < k; ++a) {
        vf sum = vf_gather(field + a, by_slot);
        vu count = vu_set1(0);
        for (uint32_t d = 0; d < s->width; ++d) {
            const size_t at = (size_t)16 * d;
            const vu x = d < HELD ? held[d] : gather16(state, neighbour + at, wide);
            const vm same = vu_eq(x, vu_set1(a));
            if (counted) {
                count = vu_add(count, vu_select(same, vu_set1(1), vu_set1(0)));
            } else {
                sum = join(sum, vf_select(same, vf_load(coupling + at), neutral), linear);
            }
        }
        if (counted) {
            sum = join(sum, by_count(plan->pool + s->table, count, s->width), linear);
        }
        vf_store(out + (size_t)a * GBSI_LANES, sum);
    }
}

GBSI_INLINE void fill1_form(const gbsi_plan *plan, const void *state, gbsi_tile *tile, bool wide,
                            const bool linear)
{
    for (uint32_t row = 0; row < tile->n_rows; ++row) {
        float *out = tile->w + (size_t)row * tile->arity * 16;
        if (whole_slice(plan, tile, row)) {
            slice(plan, state, tile->first_slot + 16 * row, tile->arity, out, wide, linear);
            continue;
        }
        const uint32_t n = places_in(tile, row);
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t slot = gbsi_tile_slot(tile, 16 * row + i);
            for (uint32_t from = 0, to = 0; (to = gbsi_tile_block(tile, from, tile->arity)) > from;
                 from = to) {
                for (uint32_t a = from; a < to; ++a) {
                    out[(size_t)a * 16 + i] = place1(plan, state, slot, a, wide, linear);
                }
            }
        }
        pad_row(out, tile->arity, n);
    }
}

static void fill1(const gbsi_plan *plan, const gbsi_group *group, gbsi_tile *tile)
{
    if (plan->value_bytes != 1) {
        fill1_form(plan, group->state, tile, true, tile->linear != 0);
    } else if (tile->linear) {
        fill1_form(plan, group->state, tile, false, true);
    } else {
        fill1_form(plan, group->state, tile, false, false);
    }
}

const gbsi_kernel GBSI_V(gbsi_kernel_potts) = {"potts", fill16, fill1};
