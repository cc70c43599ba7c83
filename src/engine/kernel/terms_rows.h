/* SPDX-License-Identifier: Apache-2.0 */
/* Computes terms in sixteen chains with the operations of in_float.h or in_double.h. The including
 * file must define join_table16(), which this file declares. */
#ifndef GBSI_KERNEL_TERMS_ROWS_H
#define GBSI_KERNEL_TERMS_ROWS_H

#include <math.h>

#include "kernel/slice_terms.h"

/* Joins the table of a term to the sums of own states [from, from + width) of k. */
GBSI_INLINE void join_table16(const gbsi_plan *plan, const gbsi_term *term, const void *state,
                              uint32_t k, uint32_t from, const uint32_t width, vr *sum, bool wide,
                              const bool linear);

/* The index of a term in its table: the sum over links of stride * state. */
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

/* For a logical term, number of the true literals of neighbours in the body; for a spin term,
 * number of neighbours in state 1. */
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

/* Lanes in which an odd number of the other spins is down, so that the product of their signs is
 * -1. */
GBSI_INLINE vm spin_down16(const gbsi_plan *plan, const gbsi_group *group, const gbsi_term *term,
                           uint32_t slot, bool wide)
{
    vu down = vu_sub(vu_set1(term->n_others), count16(plan, group, term, slot, wide));
    return vu_eq(vu_and(down, vu_set1(1)), vu_set1(1));
}

/* Adds a noisy term for one chain after another. Its logarithms take most of the time, so that
 * vector code would gain nothing. */
GBSI_INLINE void join_noisy16(const gbsi_plan *plan, const gbsi_group *group, const gbsi_term *term,
                              uint32_t slot, uint32_t from, const uint32_t width, bool odds,
                              vr *sum, const bool linear)
{
    real own[2][GBSI_LANES];
    for (uint32_t a = 0; a < width; ++a) {
        for (uint32_t lane = 0; lane < GBSI_LANES; ++lane) {
            own[0][lane] =
                (real)gbsi_noisy_term_log(plan, group, term, slot, GBSI_LANES, lane, from + a);
            if (odds) {
                own[1][lane] =
                    (real)gbsi_noisy_term_log(plan, group, term, slot, GBSI_LANES, lane, 1);
                own[0][lane] = own[1][lane] - own[0][lane];
            }
        }
        sum[a] = vr_join(sum[a], vr_load(own[0]), linear);
    }
}

/* Joins the log-weights or weights of a term without a table to `sum`, for own states [from, from +
 * width). */
GBSI_INLINE void join_other16(const gbsi_plan *plan, const gbsi_group *group, const gbsi_term *term,
                              uint32_t slot, uint32_t from, const uint32_t width, bool odds,
                              vr *sum, bool wide, const bool linear)
{
    const real *pool = pool_of(plan) + term->base;
    if (term->kind == GBSI_TERM_LOGICAL) {
        const vu index = logical_index16(plan, group, term, slot, wide);
        /* number of indices */
        const size_t n = (term->n_others - term->head + (size_t)1) << term->head;
        if (odds) {
            sum[0] = vr_join(sum[0], entry_of(pool, n, index), linear);
            return;
        }
        const vr otherwise = entry_of(pool, 2 * n, vu_shl(index, 1));
        const vr holds = entry_of(pool, 2 * n, vu_add(vu_shl(index, 1), vu_set1(1)));
        for (uint32_t a = 0; a < width; ++a) {
            sum[a] = vr_join(sum[a], from + a == term->literal ? holds : otherwise, linear);
        }
    } else if (term->kind == GBSI_TERM_SPIN) {
        const vm down = spin_down16(plan, group, term, slot, wide);
        for (uint32_t a = 0; a < width; ++a) { /* two own states, or one number for their odds */
            const vr up = vr_set1(pool[from + a]);
            sum[a] = vr_join(sum[a], vr_select(down, vr_set1(pool[1 - from - a]), up), linear);
        }
    } else if (term->kind == GBSI_TERM_NOISY) {
        join_noisy16(plan, group, term, slot, from, width, odds, sum, linear);
    } else {
        const vu x = state16(group->state, plan->link[term->first].slot, wide);
        for (uint32_t a = 0; a < width; ++a) {
            const vm same = vu_eq(x, vu_set1(from + a));
            sum[a] = vr_join(sum[a], vr_select(same, vr_set1(pool[1]), vr_set1(pool[0])), linear);
        }
    }
}

/* Computes own states [from, from + width) of the k states of a slot in sixteen chains. */
GBSI_INLINE void sums16(const gbsi_plan *plan, const gbsi_group *group, uint32_t slot, uint32_t k,
                        uint32_t from, const uint32_t width, bool odds, vr *sum, bool wide,
                        const bool linear)
{
    const real *field = field_of(plan, slot) + from;
    for (uint32_t a = 0; a < width; ++a) {
        sum[a] = vr_set1(field[a]);
    }
    const size_t end = gbsi_offset(&plan->term_start, slot + (size_t)1);
    for (size_t t = gbsi_offset(&plan->term_start, slot); t < end; ++t) {
        const gbsi_term *term = &plan->term[t];
        if (term->kind == GBSI_TERM_TABLE) {
            join_table16(plan, term, group->state, k, from, width, sum, wide, linear);
        } else {
            join_other16(plan, group, term, slot, from, width, odds, sum, wide, linear);
        }
    }
}

/* Computes a row whose number of states k is a constant. */
GBSI_INLINE void narrow_row16(const gbsi_plan *plan, const gbsi_group *group, uint32_t slot,
                              const uint32_t k, bool odds, float *out, bool wide, const bool linear)
{
    vr sum[GBSI_MOST_WIDTH];
    sums16(plan, group, slot, k, 0, k, odds, sum, wide, linear);
    const vr top = odds ? vr_set1(0.0F) : vr_largest(vr_set1(-INFINITY), sum, k);
    store_below(out, sum, k, top);
}

/* Computes a row of any width in blocks of states. */
GBSI_INLINE void wide_row16(const gbsi_plan *plan, const gbsi_group *group, const gbsi_tile *tile,
                            uint32_t slot, uint32_t k, float *out, bool wide, const bool linear)
{
    const bool odds = tile->odds != 0;
    const uint32_t shifted = SUMS_ARE_SHIFTED && !odds ? k : 0;
    vr sum[GBSI_BLOCK];
    vr top = vr_set1(odds ? 0.0F : -INFINITY);
    for (uint32_t from = 0, to = 0; (to = gbsi_tile_block(tile, from, shifted)) > from;) {
        for (; from < to; ++from) {
            sums16(plan, group, slot, k, from, 1, odds, sum, wide, linear);
            top = vr_largest(top, sum, 1);
        }
    }
    for (uint32_t from = 0, to = 0; (to = gbsi_tile_block(tile, from, k)) > from;) {
        for (; from + GBSI_BLOCK <= to; from += GBSI_BLOCK) {
            sums16(plan, group, slot, k, from, GBSI_BLOCK, odds, sum, wide, linear);
            store_below(out + (size_t)from * GBSI_LANES, sum, GBSI_BLOCK, top);
        }
        for (; from < to; ++from) {
            sums16(plan, group, slot, k, from, 1, odds, sum, wide, linear);
            store_below(out + (size_t)from * GBSI_LANES, sum, 1, top);
        }
    }
}

/* Fills a tile whose rows have the constant width `width`; 0 stands for any width. */
GBSI_INLINE void fill16_width(const gbsi_plan *shared, const gbsi_group *group,
                              const gbsi_tile *tile, const uint32_t width, bool wide,
                              const bool linear)
{
    /* a local copy, which no store can change, so that its pointers stay in registers */
    const gbsi_plan plan = *shared;
    const gbsi_tile t = *tile;
    const gbsi_group g = *group;
    const bool odds = t.odds != 0;
    const uint32_t k = width != 0 ? width : (odds ? 1 : t.arity);
    for (uint32_t i = 0; i < t.n_places; ++i) {
        const uint32_t slot = gbsi_tile_slot(&t, i);
        float *out = t.w + (size_t)i * k * GBSI_LANES;
        if (width != 0) {
            narrow_row16(&plan, &g, slot, width, odds, out, wide, linear);
        } else {
            wide_row16(&plan, &g, &t, slot, k, out, wide, linear);
        }
    }
}

#endif
