/* SPDX-License-Identifier: Apache-2.0 */
/* Factors seen whole: tables of any order, logical factors [M5], spin products.
 *     ln p(a | rest) = field[a] + sum over terms of their log-weight at a + const
 * Linear slots multiply weights instead [M15]. */
#include "kernel/lanes_kernels.h"
#include "kernel/slice_terms.h"

/* Where in its table a term stands: sum over links of stride * state. */
GBSI_INLINE vu table_index16(const gbsi_plan *plan, const gbsi_term *term, const void *state,
                             bool wide)
{
    const gbsi_link *link = plan->link + term->first;
    vu index = vu_set1(0);
    for (uint32_t i = 0; i < term->n; ++i) {
        vu x = state16(state, link[i].slot, wide);
        index = vu_add(index, vu_mul(x, vu_set1(link[i].aux)));
    }
    return index;
}

GBSI_INLINE vu truth16(const void *state, uint32_t slot, uint32_t literal, bool wide)
{
    return vu_select(vu_eq(state16(state, slot, wide), vu_set1(literal)), vu_set1(1), vu_set1(0));
}

/* True body neighbours of a logical term, states 1 among the neighbours of a spin term. */
GBSI_INLINE vu count16(const gbsi_plan *plan, const gbsi_group *group, const gbsi_term *term,
                       uint32_t slot, bool wide)
{
    const gbsi_link *link = plan->link + term->first;
    if (term->counter != GBSI_NONE) {
        vu count = vu_load(group->counter + (size_t)term->counter * GBSI_LANES);
        return term->own_body ? vu_sub(count, truth16(group->state, slot, term->literal, wide))
                              : count;
    }
    vu count = vu_set1(0);
    for (uint32_t i = 0; i + term->head < term->n; ++i) {
        const uint32_t literal = term->kind == GBSI_TERM_SPIN ? 1 : link[i].aux;
        count = vu_add(count, truth16(group->state, link[i].slot, literal, wide));
    }
    return count;
}

GBSI_INLINE vu logical_index16(const gbsi_plan *plan, const gbsi_group *group,
                               const gbsi_term *term, uint32_t slot, bool wide)
{
    vu index = count16(plan, group, term, slot, wide);
    if (term->head) {
        const gbsi_link *head = plan->link + term->first + term->n - 1;
        index = vu_add(vu_shl(index, 1), truth16(group->state, head->slot, head->aux, wide));
    }
    return index;
}

/* -1 where an odd number of the other spins is down: the product of the others' signs. */
GBSI_INLINE vm spin_down16(const gbsi_plan *plan, const gbsi_group *group, const gbsi_term *term,
                           uint32_t slot, bool wide)
{
    vu down = vu_sub(vu_set1(term->n_others), count16(plan, group, term, slot, wide));
    return vu_eq(vu_and(down, vu_set1(1)), vu_set1(1));
}

GBSI_INLINE void join_row(float *out, uint32_t a, vf value, const bool linear)
{
    float *sum = out + (size_t)a * GBSI_LANES;
    vf_store(sum, join(vf_load(sum), value, linear));
}

GBSI_INLINE void join_term16(const gbsi_plan *plan, const gbsi_group *group, const gbsi_term *term,
                             uint32_t slot, uint32_t k, bool odds, float *out, bool wide,
                             const bool linear)
{
    const float *pool = plan->pool + term->base;
    switch ((gbsi_term_kind)term->kind) {
    case GBSI_TERM_TABLE: {
        vu index = table_index16(plan, term, group->state, wide);
        for (uint32_t a = 0; a < (odds ? 1 : k); ++a) {
            join_row(out, a, vf_gather(pool + a, index), linear);
        }
        return;
    }
    case GBSI_TERM_LOGICAL: {
        vu index = logical_index16(plan, group, term, slot, wide);
        if (odds) {
            join_row(out, 0, vf_gather(pool, index), linear);
            return;
        }
        index = vu_shl(index, 1);
        vf otherwise = vf_gather(pool, index);
        for (uint32_t a = 0; a < k; ++a) {
            join_row(out, a, a == term->literal ? vf_gather(pool + 1, index) : otherwise, linear);
        }
        return;
    }
    case GBSI_TERM_SPIN: {
        vm down = spin_down16(plan, group, term, slot, wide);
        for (uint32_t a = 0; a < (odds ? 1 : k); ++a) {
            join_row(out, a, vf_select(down, vf_set1(pool[1 - a]), vf_set1(pool[a])), linear);
        }
        return;
    }
    case GBSI_TERM_POTTS: {
        vu x = state16(group->state, plan->link[term->first].slot, wide);
        for (uint32_t a = 0; a < k; ++a) {
            vm same = vu_eq(x, vu_set1(a));
            join_row(out, a, vf_select(same, vf_set1(pool[1]), vf_set1(pool[0])), linear);
        }
        return;
    }
    }
}

GBSI_INLINE void fill16_form(const gbsi_plan *plan, const gbsi_group *group, gbsi_tile *tile,
                             bool wide, const bool linear)
{
    const bool odds = tile->odds != 0;
    const uint32_t width = odds ? 1 : tile->arity;
    for (uint32_t i = 0; i < tile->n_places; ++i) {
        const uint32_t slot = gbsi_tile_slot(tile, i);
        const float *field = plan->field + gbsi_offset(&plan->field_start, slot);
        float *out = tile->w + (size_t)i * width * GBSI_LANES;
        for (uint32_t a = 0; a < width; ++a) {
            vf_store(out + (size_t)a * GBSI_LANES, vf_set1(field[a]));
        }
        const size_t end = gbsi_offset(&plan->term_start, slot + (size_t)1);
        for (size_t t = gbsi_offset(&plan->term_start, slot); t < end; ++t) {
            join_term16(plan, group, &plan->term[t], slot, tile->arity, odds, out, wide, linear);
        }
    }
}

static void fill16(const gbsi_plan *plan, const gbsi_group *group, gbsi_tile *tile)
{
    if (plan->value_bytes != 1) {
        fill16_form(plan, group, tile, true, tile->linear != 0);
    } else if (tile->linear) {
        fill16_form(plan, group, tile, false, true);
    } else {
        fill16_form(plan, group, tile, false, false);
    }
}

#define REAL     float
#define POOL     plan->pool
#define FIELD    plan->field
#define TAKE_TOP false
#include "kernel/terms_scalar.h"

static void fill1(const gbsi_plan *plan, const gbsi_group *group, gbsi_tile *tile)
{
    const uint32_t width = tile->odds ? 1 : tile->arity;
    for (uint32_t row = 0; row < tile->n_rows; ++row) {
        if (whole_slice(plan, tile, row)) {
            slice_terms(plan, group->state, tile->first_slot + 16 * row, width,
                        tile->w + (size_t)row * width * 16, plan->value_bytes != 1,
                        tile->linear != 0);
        } else {
            fill_scalar(plan, group, tile, 16 * row, 16 * row + 16, 1);
        }
    }
}

const gbsi_kernel GBSI_V(gbsi_kernel_terms) = {"table", fill16, fill1};
