/* SPDX-License-Identifier: Apache-2.0 */
/* Factors of any kind, summed in double [M13], for variables whose sums in float could err by more
 * than GBSI_ROUNDING_LIMIT. */
#include "kernel/in_double.h"
#include "kernel/lanes_kernels.h"
#include "kernel/slice_terms.h"
#include "kernel/terms_rows.h"
#include "kernel/terms_scalar.h"

#define MOST_CHOSEN                                                                           \
    8u /* neighbours with at most so many states are compared state by state instead of being \
          gathered */

/* Adds a table of two variables. The state of the other variable chooses the row of k entries. */
GBSI_INLINE void join_chosen16(const real *table, vu x, uint32_t n_rows, uint32_t k,
                               const uint32_t width, vr *sum, const bool linear)
{
    vr chosen[GBSI_MOST_WIDTH];
    for (uint32_t a = 0; a < width; ++a) {
        chosen[a] = vr_set1(table[a]);
    }
    for (uint32_t b = 1; b < n_rows; ++b) {
        const vm here = vu_eq(x, vu_set1(b));
        for (uint32_t a = 0; a < width; ++a) {
            chosen[a] = vr_select(here, vr_set1(table[(size_t)b * k + a]), chosen[a]);
        }
    }
    for (uint32_t a = 0; a < width; ++a) {
        sum[a] = vr_join(sum[a], chosen[a], linear);
    }
}

GBSI_INLINE void join_table16(const gbsi_plan *plan, const gbsi_term *term, const void *state,
                              uint32_t k, uint32_t from, const uint32_t width, vr *sum, bool wide,
                              const bool linear)
{
    const real *table = pool_of(plan) + term->base + from;
    const uint32_t other = term->n == 1 ? plan->link[term->first].slot : 0;
    const uint32_t n_rows = term->n == 1 ? gbsi_plan_arity(plan, other) : UINT32_MAX;
    if (n_rows == 2) {
        join_chosen16(table, state16(state, other, wide), 2, k, width, sum, linear);
    } else if (n_rows == 3) {
        join_chosen16(table, state16(state, other, wide), 3, k, width, sum, linear);
    } else if (n_rows <= MOST_CHOSEN) {
        join_chosen16(table, state16(state, other, wide), n_rows, k, width, sum, linear);
    } else {
        join_gathered(table, table_index16(plan, term, state, wide), width, sum, linear);
    }
}

/* In plain C this function computes one chain and place at a time, which takes half the time of
 * loops over lanes. */
static void fill16(const gbsi_plan *plan, const gbsi_group *group, gbsi_tile *tile)
{
    const uint32_t width = tile->odds ? 1 : tile->arity;
#define NARROW(k) fill16_width(plan, group, tile, k, false, false)
    if (!GBSI_SPECIALISED) {
        fill_scalar(plan, group, tile, 0, 16 * tile->n_rows, 16);
    } else if (plan->value_bytes != 1) {
        fill16_width(plan, group, tile, width == 1 ? 1 : 0, true, false);
    } else {
        FOR_WIDTH(width, NARROW)
    }
}

static void fill1(const gbsi_plan *plan, const gbsi_group *group, gbsi_tile *tile)
{
    const uint32_t width = tile->odds ? 1 : tile->arity;
    for (uint32_t row = 0; row < tile->n_rows; ++row) {
        if (GBSI_SPECIALISED && whole_slice(plan, tile, row)) {
            slice_terms(plan, group->state, tile->first_slot + 16 * row, width, tile->odds != 0,
                        tile->w + (size_t)row * width * 16, plan->value_bytes != 1, false);
        } else {
            fill_row1(plan, group, tile, row);
        }
    }
}

const gbsi_kernel GBSI_V(gbsi_kernel_precise) = {"precise", fill16, fill1};
