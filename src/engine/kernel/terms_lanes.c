/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel of factors of more than two variables: tables, logical factors [M5] and spin products.
 *     ln p(a | rest) = field[a] + sum over terms of the log-weight of a + const
 * Linear slots multiply weights instead [M15]. */
#include "kernel/in_float.h"
#include "kernel/lanes_kernels.h"
#include "kernel/slice_terms.h"
#include "kernel/terms_rows.h"
#include "kernel/terms_scalar.h"

/* Number of entries in the table of a term. Strides are listed in the order of the other variables
 * in the scope, of which the last varies fastest. The first stride is therefore the largest. */
GBSI_INLINE size_t table_entries(const gbsi_plan *plan, const gbsi_term *term, uint32_t width)
{
    const gbsi_link *first = &plan->link[term->first];
    return term->n == 0 ? width : (size_t)first->aux * gbsi_plan_arity(plan, first->slot);
}

GBSI_INLINE void join_table16(const gbsi_plan *plan, const gbsi_term *term, const void *state,
                              uint32_t k, uint32_t from, const uint32_t width, vr *sum, bool wide,
                              const bool linear)
{
    const vu index = table_index16(plan, term, state, wide);
    join_entries(plan->pool + term->base + from, table_entries(plan, term, k) - from, index, width,
                 sum, linear);
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

static void fill1(const gbsi_plan *plan, const gbsi_group *group, gbsi_tile *tile)
{
    const uint32_t width = tile->odds ? 1 : tile->arity;
    for (uint32_t row = 0; row < tile->n_rows; ++row) {
        if (whole_slice(plan, tile, row)) {
            slice_terms(plan, group->state, tile->first_slot + 16 * row, width, tile->odds != 0,
                        tile->w + (size_t)row * width * 16, plan->value_bytes != 1,
                        tile->linear != 0);
        } else {
            fill_row1(plan, group, tile, row);
        }
    }
}

const gbsi_kernel GBSI_V(gbsi_kernel_terms) = {"table", fill16, fill1};
