/* SPDX-License-Identifier: Apache-2.0 */
/* The second packing of the ISING class: sliced ELL (Monakov, Lokhmotov & Avetisyan 2010), for
 * groups of one chain, where sixteen lanes are sixteen consecutive slots. */
#include "base/memory.h"
#include "plan/compile.h"

/* What slice i is like. */
typedef struct slice {
    uint32_t first, end; /* slots */
    size_t width;        /* longest row */
    uint32_t table;      /* shared by all 16 slots, or GBSI_NONE */
    bool regular;
} slice;

/* One form for all, no rows of strided partials, and tables by count for all or none: then one
 * sequence of operations computes all sixteen. */
static slice look_at(const gbsi_plan *plan, size_t i)
{
    slice s = {.first = (uint32_t)(16 * i), .table = GBSI_NONE};
    s.end = plan->n_slots - s.first < 16 ? plan->n_slots : s.first + 16;
    s.regular = s.end - s.first == 16;
    uint32_t n_counted = 0;
    bool same_table = true;
    for (uint32_t slot = s.first; slot < s.end; ++slot) {
        const size_t degree = plan->row_start[slot + 1] - plan->row_start[slot];
        const bool counted = plan->by_count[slot] != GBSI_NONE;
        s.regular &= plan->class_id[slot] == GBSI_CLASS_ISING &&
                     plan->form[slot] == plan->form[s.first] &&
                     (counted || degree <= GBSI_LONG_ROW);
        s.width = degree > s.width ? degree : s.width;
        n_counted += counted;
        same_table &= plan->by_count[slot] == plan->by_count[s.first];
    }
    if (s.regular && n_counted > 0) {
        s.regular = same_table;
        s.table = same_table ? plan->by_count[s.first] : GBSI_NONE;
    }
    s.width = s.regular ? s.width : 0; /* rows serve the others */
    return s;
}

static gbs_status take(gbsi_sell *sell, const gbsi_plan *plan, size_t n_slices, gbs_error *err)
{
    sell->slice_start = gbsi_alloc_array_zero(n_slices + 1, sizeof *sell->slice_start);
    sell->coupling_start = gbsi_alloc_array_zero(n_slices + 1, sizeof *sell->coupling_start);
    sell->table = gbsi_alloc_array(n_slices, sizeof *sell->table);
    sell->regular = gbsi_alloc_array(n_slices, 1);
    if (sell->slice_start == NULL || sell->coupling_start == NULL || sell->table == NULL ||
        sell->regular == NULL) {
        return gbsi_no_memory(err, "plan", n_slices * 21);
    }
    for (size_t i = 0; i < n_slices; ++i) {
        const slice s = look_at(plan, i);
        sell->table[i] = s.table;
        sell->regular[i] = s.regular;
        sell->slice_start[i + 1] = sell->slice_start[i] + 16 * s.width;
        sell->coupling_start[i + 1] =
            sell->coupling_start[i] + (s.table == GBSI_NONE ? 16 * s.width : 0);
    }
    sell->neighbour = gbsi_alloc_lanes(sell->slice_start[n_slices], sizeof *sell->neighbour);
    sell->coupling = gbsi_alloc_lanes(sell->coupling_start[n_slices], sizeof *sell->coupling);
    return sell->neighbour == NULL || sell->coupling == NULL
               ? gbsi_no_memory(err, "plan", 8 * sell->slice_start[n_slices])
               : GBS_OK;
}

static void fill_slice(gbsi_plan *plan, size_t i)
{
    gbsi_sell *sell = &plan->sell;
    const size_t width = (sell->slice_start[i + 1] - sell->slice_start[i]) / 16;
    const float neutral = (plan->form[16 * i] & GBSI_LINEAR) != 0 ? 1.0F : 0.0F;
    for (uint32_t lane = 0; lane < 16 && width > 0; ++lane) {
        const size_t row = plan->row_start[16 * i + lane];
        const size_t degree = plan->row_start[16 * i + lane + 1] - row;
        for (size_t d = 0; d < width; ++d) {
            const size_t at = 16 * d + lane;
            sell->neighbour[sell->slice_start[i] + at] = d < degree ? plan->neighbour[row + d] : 0;
            if (sell->table[i] == GBSI_NONE) {
                sell->coupling[sell->coupling_start[i] + at] =
                    d < degree ? plan->edge[row + d].coupling : neutral;
            }
        }
    }
}

gbs_status gbsi_compile_sell(gbsi_compile *c, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    const size_t n_slices = ((size_t)plan->n_slots + 15) / 16;
    const gbs_status status = take(&plan->sell, plan, n_slices, err);
    for (size_t i = 0; status == GBS_OK && i < n_slices; ++i) {
        fill_slice(plan, i);
    }
    return status;
}
