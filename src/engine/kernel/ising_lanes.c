/* SPDX-License-Identifier: Apache-2.0 */
/* Binary variables with pairwise, finite factors [M3]:
 *     l = ln p(1 | rest) - ln p(0 | rest) = field + sum over neighbours of w x
 * Neighbours are added in ascending order of slots. A row longer than GBSI_LONG_ROW is added up in
 * 16 strided partial sums, which a fixed tree combines. Linear slots multiply odds instead: they
 * multiply by e^w for each neighbour with x = 1 [M15]. If all neighbours have the same w, the
 * kernel counts the c neighbours in state 1 and looks up w c in a table. Every packing adds in this
 * order, so that all packings give equal bits. */
#include "kernel/lanes_kernels.h"
#include "kernel/state.h"

/* Adds the term of one neighbour to l in the lanes where the neighbour is in state 1. */
GBSI_INLINE vf step(vf l, vm one, vf coupling, const bool linear)
{
    return vf_select(one, join(l, coupling, linear), l);
}

GBSI_INLINE float step1(float l, uint32_t x, float coupling, const bool linear)
{
    return x == 0 ? l : join1(l, coupling, linear);
}

/* Mask of the chains, among sixteen, in which a neighbour is in state 1. */
GBSI_INLINE vm ones16(const void *state, uint32_t slot, bool wide)
{
    return wide ? vu_eq(state16(state, slot, true), vu_set1(1))
                : vb_mask(vb_load((const uint8_t *)state + (size_t)slot * GBSI_LANES));
}

/* Combines sixteen partial sums by a fixed tree: first i with i + 8, then i with i + 4, then i with
 * i + 2, then i with i + 1. */
GBSI_INLINE vf tree16(vf *partial, const bool linear)
{
    for (unsigned half = 8; half > 0; half /= 2) {
        for (unsigned i = 0; i < half; ++i) {
            partial[i] = join(partial[i], partial[i + half], linear);
        }
    }
    return partial[0];
}

GBSI_INLINE vf long_row16(const gbsi_plan *plan, const void *state, uint32_t slot, vf field,
                          bool wide, const bool linear)
{
    vf partial[16];
    for (unsigned i = 0; i < 16; ++i) {
        partial[i] = vf_set1(linear ? 1.0F : 0.0F);
    }
    const size_t start = gbsi_offset(&plan->row_start, slot);
    const size_t end = gbsi_offset(&plan->row_start, slot + (size_t)1);
    for (size_t e = start; e < end; ++e) {
        vf *sum = &partial[(e - start) % 16];
        *sum = step(*sum, ones16(state, plan->neighbour[e], wide), vf_set1(plan->edge[e].coupling),
                    linear);
    }
    return join(field, tree16(partial, linear), linear);
}

/* `degree` is a compile-time constant where this function is inlined for grids. */
GBSI_INLINE vf row16(const gbsi_plan *plan, const void *state, size_t start, const size_t degree,
                     vf l, bool wide, const bool linear)
{
    for (size_t e = start; e < start + degree; ++e) {
        l = step(l, ones16(state, plan->neighbour[e], wide), vf_set1(plan->edge[e].coupling),
                 linear);
    }
    return l;
}

/* Counts the neighbours in state 1 by adding up their states. */
GBSI_INLINE vu count16(const gbsi_plan *plan, const void *state, size_t start, const size_t degree,
                       bool wide)
{
    if (wide) {
        vu count = vu_set1(0);
        for (size_t e = start; e < start + degree; ++e) {
            count = vu_add(count, state16(state, plan->neighbour[e], true));
        }
        return count;
    }
    vb count = vb_set1(0);
    for (size_t e = start; e < start + degree; ++e) {
        const size_t at = (size_t)plan->neighbour[e] * GBSI_LANES;
        count = vb_add(count, vb_load((const uint8_t *)state + at));
    }
    return vb_widen(count);
}

GBSI_INLINE vf conditional16(const gbsi_plan *plan, const void *state, uint32_t slot, bool wide,
                             const bool linear)
{
    const size_t start = gbsi_offset(&plan->row_start, slot);
    const size_t degree = gbsi_offset(&plan->row_start, slot + (size_t)1) - start;
    const vf field = vf_set1(plan->field[gbsi_offset(&plan->field_start, slot)]);
    const uint32_t table = gbsi_plan_by_count(plan, slot);
    if (table != GBSI_NONE) {
        vu count = degree == 4 ? count16(plan, state, start, 4, wide)
                               : count16(plan, state, start, degree, wide);
        return join(field, by_count(plan->pool + table, count, degree), linear);
    }
    if (degree == 4) {
        return row16(plan, state, start, 4, field, wide, linear);
    }
    if (degree <= GBSI_LONG_ROW) {
        return row16(plan, state, start, degree, field, wide, linear);
    }
    return long_row16(plan, state, slot, field, wide, linear);
}

/* Whether every row of the plan has four neighbours, each with its own coupling, so that no row
 * needs a look-up by count. */
static bool is_four_each(const gbsi_plan *plan)
{
    return plan->row_start.width == 4 && plan->by_count == NULL && plan->field_start.width == 1;
}

GBSI_INLINE void fill16_form(const gbsi_plan *shared, const void *state, gbsi_tile *tile, bool wide,
                             const bool linear)
{
    /* a local copy, which no store can change, so that its pointers stay in registers */
    const gbsi_plan plan = *shared;
    const gbsi_tile t = *tile;
    if (is_four_each(shared)) {
        for (uint32_t i = 0; i < t.n_places; ++i) {
            const size_t slot = gbsi_tile_slot(&t, i);
            const vf field = vf_set1(plan.field[slot]);
            vf_store(t.w + (size_t)i * GBSI_LANES,
                     row16(&plan, state, 4 * slot, 4, field, wide, linear));
        }
        return;
    }
    for (uint32_t i = 0; i < t.n_places; ++i) {
        vf_store(t.w + (size_t)i * GBSI_LANES,
                 conditional16(&plan, state, gbsi_tile_slot(&t, i), wide, linear));
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

/* Computes one place of one chain in the order of slice() and mixed_slice() below, for slots that
 * do not fill a slice. */
GBSI_INLINE float place1(const gbsi_plan *plan, const void *state, uint32_t slot, bool wide,
                         const bool linear)
{
    const gbsi_row row = gbsi_plan_row(plan, slot);
    const size_t end = row.n * row.step;
    const uint32_t table = gbsi_plan_by_count(plan, slot);
    const float field = plan->field[gbsi_offset(&plan->field_start, slot)];
    if (table != GBSI_NONE) {
        uint32_t count = 0;
        for (size_t e = 0; e < end; e += row.step) {
            count += state1(state, row.slot[e], wide);
        }
        return join1(field, plan->pool[table + count], linear);
    }
    if (row.n <= GBSI_LONG_ROW) {
        float l = field;
        for (size_t e = 0; e < end; e += row.step) {
            l = step1(l, state1(state, row.slot[e], wide), row.coupling[e], linear);
        }
        return l;
    }
    float partial[16];
    for (unsigned i = 0; i < 16; ++i) {
        partial[i] = linear ? 1.0F : 0.0F;
    }
    for (uint32_t d = 0; d < row.n; ++d) { /* only for slots outside regular slices */
        float *sum = &partial[d % 16];
        *sum = step1(*sum, state1(state, row.slot[d], wide), row.coupling[d], linear);
    }
    for (unsigned half = 8; half > 0; half /= 2) {
        for (unsigned i = 0; i < half; ++i) {
            partial[i] = join1(partial[i], partial[i + half], linear);
        }
    }
    return join1(field, partial[0], linear);
}

/* Computes a slice in which some slots count their neighbours. */
static __attribute__((noinline)) vf mixed_slice(const gbsi_plan *plan, const void *state,
                                                uint32_t slot, bool wide, const bool linear)
{
    const gbsi_slice *s = &plan->sell.slice[slot / 16];
    const mixed_lanes mixed = mixed_of(plan, s);
    const vf field = vf_load(plan->field + gbsi_offset(&plan->field_start, slot));
    vu count = vu_set1(0);
    vf l = field;
    for (uint32_t d = 0; d < s->width; ++d) {
        const size_t at = (size_t)16 * d;
        const vu x = gather16(state, plan->sell.slot + s->link + at, wide);
        const vm one = vu_eq(x, vu_set1(1));
        count = vu_add(count, counts_one(&mixed, d, one));
        l = step(l, one, vf_load(plan->sell.coupling + s->value + at), linear);
    }
    const vf looked_up = vf_gather(plan->pool, vu_add(mixed.table, count));
    return vf_select(mixed.without, l, join(field, looked_up, linear));
}

/* Computes a regular slice: sixteen consecutive slots of one chain. */
GBSI_INLINE vf slice(const gbsi_plan *plan, const void *state, uint32_t slot, bool wide,
                     const bool linear)
{
    const gbsi_slice *s = &plan->sell.slice[slot / 16];
    const uint32_t *neighbour = plan->sell.slot + s->link;
    const vf field = vf_load(plan->field + gbsi_offset(&plan->field_start, slot));
    if (s->table != GBSI_NONE) {
        vu count = vu_set1(0);
        for (uint32_t d = 0; d < s->width; ++d) {
            count = vu_add(count, gather16(state, neighbour + (size_t)16 * d, wide));
        }
        return join(field, by_count(plan->pool + s->table, count, s->width), linear);
    }
    if (s->mixed) {
        return mixed_slice(plan, state, slot, wide, linear);
    }
    const float *coupling = plan->sell.coupling + s->value;
    vf l = field;
    for (size_t at = 0; at < (size_t)16 * s->width; at += 16) {
        const vm one = vu_eq(gather16(state, neighbour + at, wide), vu_set1(1));
        l = step(l, one, vf_load(coupling + at), linear);
    }
    return l;
}

GBSI_INLINE void fill1_form(const gbsi_plan *plan, const void *state, gbsi_tile *tile, bool wide,
                            const bool linear)
{
    for (uint32_t row = 0; row < tile->n_rows; ++row) {
        const uint32_t first = tile->first_slot + 16 * row;
        float *out = tile->w + (size_t)row * 16;
        if (whole_slice(plan, tile, row)) {
            vf_store(out, slice(plan, state, first, wide, linear));
            continue;
        }
        for (uint32_t i = 0; i < 16; ++i) {
            uint32_t place = 16 * row + i;
            place = place < tile->n_places ? place : tile->n_places - 1;
            out[i] = place1(plan, state, gbsi_tile_slot(tile, place), wide, linear);
        }
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

const gbsi_kernel GBSI_V(gbsi_kernel_ising) = {"ising", fill16, fill1};
