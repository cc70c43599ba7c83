/* SPDX-License-Identifier: Apache-2.0 */
/* Lays out the rows of neighbours of all slots. Their size is computed before they are filled. */
#include "base/memory.h"
#include "plan/compile.h"

gbs_status gbsi_lay_out_rows(gbsi_compile *c, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    for (uint32_t s = 0; s < plan->n_slots; ++s) {
        plan->has_edges |= c->degree[s] > 0 && gbsi_plan_by_count(plan, s) == GBSI_NONE;
    }
    uint32_t *degree = c->degree;
    c->degree = NULL;
    GBSI_PASS(gbsi_offsets_take(degree, plan->n_slots, &plan->row_start, "plan", err));
    plan->n_ends = gbsi_offset(&plan->row_start, plan->n_slots);
    return GBS_OK;
}

gbs_status gbsi_take_rows(gbsi_plan *plan, gbs_error *err)
{
    plan->neighbour = gbsi_alloc_array(plan->n_ends, sizeof *plan->neighbour);
    plan->edge = plan->has_edges ? gbsi_alloc_array(plan->n_ends, sizeof *plan->edge) : NULL;
    return plan->neighbour == NULL || (plan->has_edges && plan->edge == NULL)
               ? gbsi_no_memory(err, "plan", plan->n_ends * 8)
               : GBS_OK;
}
