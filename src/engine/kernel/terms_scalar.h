/* SPDX-License-Identifier: Apache-2.0 */
/* Computes terms for one place of one chain at a time. Classes TABLE and LOGICAL use the operations
 * of in_float.h, class PRECISE uses those of in_double.h. Terms are added in the same order as in
 * the vector kernels. */
#ifndef GBSI_KERNEL_TERMS_SCALAR_H
#define GBSI_KERNEL_TERMS_SCALAR_H
#include <math.h>
#include <stdbool.h>

#include "plan/kernel.h"

/* One chain of a group, as the scalar code reads it. */
typedef struct scalar_view {
    const gbsi_plan *plan;
    const gbsi_group *group;
    const gbsi_tile *tile;
    uint32_t lanes, lane;
    bool linear; /* whether weights are multiplied instead of adding log-weights; false if `real` is
                    double */
} scalar_view;

static inline uint32_t state_of(const scalar_view *view, uint32_t slot)
{
    const size_t i = (size_t)slot * view->lanes + view->lane;
    return gbsi_state_at(view->group->state, i, view->plan->value_bytes);
}

static inline uint32_t scalar_count(const scalar_view *view, const gbsi_term *term, uint32_t slot)
{
    const gbsi_link *link = view->plan->link + term->first;
    if (term->counter != GBSI_NONE) {
        uint32_t count = view->group->counter[(size_t)term->counter * view->lanes + view->lane];
        return count - (term->own_body && state_of(view, slot) == term->literal);
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i + term->head < term->n; ++i) {
        uint32_t literal = term->kind == GBSI_TERM_SPIN ? 1 : link[i].aux;
        count += state_of(view, link[i].slot) == literal;
    }
    return count;
}

static inline void scalar_noisy(const scalar_view *view, const gbsi_term *term, uint32_t slot,
                                uint32_t from, uint32_t to, bool odds, real *sum)
{
    for (uint32_t a = from; a < to; ++a) {
        real value = (real)gbsi_noisy_term_log(view->plan, view->group, term, slot, view->lanes,
                                               view->lane, a);
        if (odds) { /* a single number, the odds of state 1 against state 0 */
            value = (real)gbsi_noisy_term_log(view->plan, view->group, term, slot, view->lanes,
                                              view->lane, 1) -
                    value;
        }
        sum[a - from] = real_join(sum[a - from], value, view->linear);
    }
}

/* Joins a term to the sums of own states [from, to), which lie in sum[0] to sum[to - from - 1]. If
 * `odds` is set, sum[0] is a log-odds. */
static inline void scalar_term(const scalar_view *view, const gbsi_term *term, uint32_t slot,
                               uint32_t from, uint32_t to, bool odds, real *sum)
{
    const gbsi_plan *plan = view->plan;
    const gbsi_link *link = plan->link + term->first;
    const real *pool = pool_of(plan) + term->base;
    switch ((gbsi_term_kind)term->kind) {
    case GBSI_TERM_TABLE: {
        size_t index = 0;
        for (uint32_t i = 0; i < term->n; ++i) {
            index += (size_t)link[i].aux * state_of(view, link[i].slot);
        }
        for (uint32_t a = from; a < to; ++a) {
            sum[a - from] = real_join(sum[a - from], pool[index + a], view->linear);
        }
        return;
    }
    case GBSI_TERM_LOGICAL: {
        size_t index = scalar_count(view, term, slot);
        if (term->head) {
            const gbsi_link *head = link + term->n - 1;
            index = 2 * index + (state_of(view, head->slot) == head->aux);
        }
        if (odds) {
            sum[0] = real_join(sum[0], pool[index], view->linear);
            return;
        }
        const real otherwise = pool[2 * index];
        const real holds = pool[2 * index + 1];
        for (uint32_t a = from; a < to; ++a) {
            sum[a - from] =
                real_join(sum[a - from], a == term->literal ? holds : otherwise, view->linear);
        }
        return;
    }
    case GBSI_TERM_SPIN: {
        const uint32_t down = (term->n_others - scalar_count(view, term, slot)) % 2;
        for (uint32_t a = from; a < to; ++a) {
            sum[a - from] = real_join(sum[a - from], pool[a ^ down], view->linear);
        }
        return;
    }
    case GBSI_TERM_NOISY:
        scalar_noisy(view, term, slot, from, to, odds, sum);
        return;
    case GBSI_TERM_POTTS: {
        const uint32_t x = state_of(view, link[0].slot);
        for (uint32_t a = from; a < to; ++a) {
            sum[a - from] = real_join(sum[a - from], pool[a == x], view->linear);
        }
        return;
    }
    }
}

/* Sums are computed for a block of own states at a time, so that the block's sums fit on the stack
 * for variables of any arity. */
#define SCALAR_BLOCK 64

static inline void scalar_block(const scalar_view *view, uint32_t slot, uint32_t from, uint32_t to,
                                bool odds, real *sum)
{
    const gbsi_plan *plan = view->plan;
    const real *field = field_of(plan, slot);
    for (uint32_t a = from; a < to; ++a) {
        sum[a - from] = field[a];
    }
    const size_t end = gbsi_offset(&plan->term_start, slot + (size_t)1);
    for (size_t t = gbsi_offset(&plan->term_start, slot); t < end; ++t) {
        scalar_term(view, &plan->term[t], slot, from, to, odds, sum);
    }
}

static inline uint32_t block_end(uint32_t from, uint32_t width)
{
    return width - from < SCALAR_BLOCK ? width : from + SCALAR_BLOCK;
}

static inline real scalar_largest(real top, const real *sum, uint32_t n)
{
    for (uint32_t a = 0; a < n; ++a) {
        top = sum[a] > top ? sum[a] : top;
    }
    return top;
}

/* Asks the watch before each block whether a long update may go on. */
static inline bool go_on(const scalar_view *view)
{
    const gbsi_tile *tile = view->tile;
    return !gbsi_watch_spend(tile->watch, tile->operations * SCALAR_BLOCK / tile->lanes);
}

/* Writes the sums of one place. If the largest sum must be subtracted and there are several blocks,
 * all sums are computed twice: first to find the largest sum, then to subtract it. */
static inline void scalar_place(const scalar_view *view, uint32_t slot, uint32_t width, bool odds,
                                float *out, size_t stride)
{
    real sum[SCALAR_BLOCK];
    const bool once = width <= SCALAR_BLOCK;
    const bool shifted = SUMS_ARE_SHIFTED && !odds;
    real top = -(real)INFINITY;
    for (uint32_t from = 0; (once || shifted) && from < width && go_on(view);
         from += SCALAR_BLOCK) {
        const uint32_t to = block_end(from, width);
        scalar_block(view, slot, from, to, odds, sum);
        top = scalar_largest(top, sum, to - from);
    }
    top = shifted && top > -(real)INFINITY ? top : (real)0;
    for (uint32_t from = 0; from < width && go_on(view); from += SCALAR_BLOCK) {
        const uint32_t to = block_end(from, width);
        if (!once) {
            scalar_block(view, slot, from, to, odds, sum);
        }
        for (uint32_t a = from; a < to; ++a) {
            out[(size_t)a * stride] = (float)(shifted ? sum[a - from] - top : sum[a - from]);
        }
    }
}

/* Fills cells [first, end) of the rows of 16 lanes. A cell is one place and chain: 16 cells form a
 * row. */
static void fill_scalar(const gbsi_plan *plan, const gbsi_group *group, gbsi_tile *tile,
                        uint32_t first, uint32_t end, uint32_t lanes)
{
    const uint32_t width = tile->odds ? 1 : tile->arity;
    for (uint32_t cell = first; cell < end; ++cell) {
        const scalar_view view = {
            plan, group, tile, lanes, lanes == 1 ? 0 : cell % 16, tile->linear != 0};
        const uint32_t slot = gbsi_tile_slot(tile, lanes == 1 ? cell : cell / 16);
        scalar_place(&view, slot, width, tile->odds != 0,
                     tile->w + (size_t)(cell / 16) * width * 16 + cell % 16, 16);
    }
}

/* Fills a row of places of one chain. */
static void fill_row1(const gbsi_plan *plan, const gbsi_group *group, gbsi_tile *tile, uint32_t row)
{
    const uint32_t width = tile->odds ? 1 : tile->arity;
    const uint32_t n = places_in(tile, row);
    fill_scalar(plan, group, tile, 16 * row, 16 * row + n, 1);
    pad_row(tile->w + (size_t)row * width * 16, width, n);
}

#endif
