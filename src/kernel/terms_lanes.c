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

/* Entries of the table of a term: strides are those of the others in scope order, last fastest, so
 * that the first is the largest. */
GBSI_INLINE size_t table_entries(const gbsi_plan *plan, const gbsi_term *term, uint32_t width)
{
    const gbsi_link *first = &plan->link[term->first];
    return term->n == 0 ? width : (size_t)first->aux * gbsi_plan_arity(plan, first->slot);
}

/* What a term that is no table adds to own states [from, from + width). */
GBSI_INLINE void join_other16(const gbsi_plan *plan, const gbsi_group *group, const gbsi_term *term,
                              uint32_t slot, uint32_t from, const uint32_t width, bool odds,
                              vf *sum, bool wide, const bool linear)
{
    const float *pool = plan->pool + term->base;
    if (term->kind == GBSI_TERM_LOGICAL) {
        const vu index = logical_index16(plan, group, term, slot, wide);
        const size_t n = (term->n_others - term->head + (size_t)1) << term->head; /* indices */
        if (odds) {
            sum[0] = join(sum[0], entry_of(pool, n, index), linear);
            return;
        }
        const vf otherwise = entry_of(pool, 2 * n, vu_shl(index, 1));
        const vf holds = entry_of(pool, 2 * n, vu_add(vu_shl(index, 1), vu_set1(1)));
        for (uint32_t a = 0; a < width; ++a) {
            sum[a] = join(sum[a], from + a == term->literal ? holds : otherwise, linear);
        }
    } else if (term->kind == GBSI_TERM_SPIN) {
        const vm down = spin_down16(plan, group, term, slot, wide);
        for (uint32_t a = 0; a < width; ++a) { /* two states, or their odds */
            const vf up = vf_set1(pool[from + a]);
            sum[a] = join(sum[a], vf_select(down, vf_set1(pool[1 - from - a]), up), linear);
        }
    } else {
        const vu x = state16(group->state, plan->link[term->first].slot, wide);
        for (uint32_t a = 0; a < width; ++a) {
            const vm same = vu_eq(x, vu_set1(from + a));
            sum[a] = join(sum[a], vf_select(same, vf_set1(pool[1]), vf_set1(pool[0])), linear);
        }
    }
}

/* Own states [from, from + width) of the k of a slot, in sixteen chains. */
GBSI_INLINE void states16(const gbsi_plan *plan, const gbsi_group *group, uint32_t slot, uint32_t k,
                          uint32_t from, const uint32_t width, bool odds, float *out, bool wide,
                          const bool linear)
{
    const float *field = plan->field + gbsi_offset(&plan->field_start, slot) + from;
    vf sum[GBSI_MOST_WIDTH];
    for (uint32_t a = 0; a < width; ++a) {
        sum[a] = vf_set1(field[a]);
    }
    const size_t end = gbsi_offset(&plan->term_start, slot + (size_t)1);
    for (size_t t = gbsi_offset(&plan->term_start, slot); t < end; ++t) {
        const gbsi_term *term = &plan->term[t];
        if (term->kind == GBSI_TERM_TABLE) {
            const vu index = table_index16(plan, term, group->state, wide);
            join_entries(plan->pool + term->base + from, table_entries(plan, term, k) - from, index,
                         width, sum, linear);
        } else {
            join_other16(plan, group, term, slot, from, width, odds, sum, wide, linear);
        }
    }
    for (uint32_t a = 0; a < width; ++a) {
        vf_store(out + (size_t)(from + a) * GBSI_LANES, sum[a]);
    }
}

/* A tile whose rows are `width` wide, or any width if 0. */
GBSI_INLINE void fill16_width(const gbsi_plan *shared, const gbsi_group *group,
                              const gbsi_tile *tile, const uint32_t width, bool wide,
                              const bool linear)
{
    const gbsi_plan plan = *shared; /* no store can change a copy: its pointers stay in registers */
    const gbsi_tile t = *tile;
    const gbsi_group g = *group;
    const bool odds = t.odds != 0;
    const uint32_t k = width != 0 ? width : (odds ? 1 : t.arity);
    for (uint32_t i = 0; i < t.n_places; ++i) {
        const uint32_t slot = gbsi_tile_slot(&t, i);
        float *out = t.w + (size_t)i * k * GBSI_LANES;
        uint32_t from = 0;
        for (; width == 0 && from + GBSI_BLOCK <= k; from += GBSI_BLOCK) {
            states16(&plan, &g, slot, k, from, GBSI_BLOCK, odds, out, wide, linear);
        }
        for (; width == 0 && from < k; ++from) {
            states16(&plan, &g, slot, k, from, 1, odds, out, wide, linear);
        }
        if (width != 0) {
            states16(&plan, &g, slot, k, 0, width, odds, out, wide, linear);
        }
    }
}

static void fill16(const gbsi_plan *plan, const gbsi_group *group, gbsi_tile *tile)
{
    const uint32_t width = tile->odds ? 1 : tile->arity;
#define NARROW_LINEAR(k) fill16_width(plan, group, tile, k, false, true)
#define NARROW_LOGS(k)   fill16_width(plan, group, tile, k, false, false)
    if (!GBSI_SPECIALISED) {
        fill16_width(plan, group, tile, 0, plan->value_bytes != 1, tile->linear != 0);
    } else if (plan->value_bytes != 1) {
        fill16_width(plan, group, tile, width == 1 ? 1 : 0, true, tile->linear != 0);
    } else if (tile->linear) {
        FOR_WIDTH(width, NARROW_LINEAR)
    } else {
        FOR_WIDTH(width, NARROW_LOGS)
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
