/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of slots that have too many contexts for a dense table. The row of a context is made when an
 * update first has this context. */
#include <string.h>

#include "draw/herded.h"
#include "plan/kernel.h"

/* ---- codes ----------------------------------------------------------------------------------- */

/* Contribution of one variable to the code of the whole state. */
static uint64_t part_of_whole(const gbsi_herd *herd, uint32_t slot, uint32_t value)
{
    const gbsi_plan *plan = herd->plan;
    return herd->keys.whole_step != NULL
               ? herd->keys.whole_step[slot] * value
               : gbsi_state_hash(plan->model->user_variable[plan->variable_of[slot]], value);
}

static uint64_t code_of(const gbsi_herd *herd, uint32_t slot, uint32_t group, const gbsi_view *view)
{
    if (herd->keys.scheme == GBS_KEYS_COMPLETE) {
        return herd->group[group].whole[view->lane] -
               part_of_whole(herd, slot, gbsi_view_at(view, slot));
    }
    return gbsi_hashed_code(&herd->keys, slot, view);
}

void gbsi_herded_moved(gbsi_herd *herd, uint32_t slot, uint32_t group, const gbsi_view *view,
                       uint32_t value)
{
    if (herd->keys.scheme == GBS_KEYS_COMPLETE) {
        herd->group[group].whole[view->lane] +=
            part_of_whole(herd, slot, value) - part_of_whole(herd, slot, gbsi_view_at(view, slot));
    }
}

static void start_whole(gbsi_herd *herd, const gbsi_group *group, uint32_t g)
{
    const gbsi_plan *plan = herd->plan;
    uint64_t *whole = herd->group[g].whole;
    memset(whole, 0, herd->lanes * sizeof *whole);
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        for (uint32_t lane = 0; lane < herd->lanes; ++lane) {
            const gbsi_view view = {group->state, plan->value_bytes, herd->lanes, lane};
            whole[lane] += part_of_whole(herd, slot, gbsi_view_at(&view, slot));
        }
    }
}

gbs_status gbsi_herded_begin_pass(void *state, const gbsi_schedule *schedule,
                                  const gbsi_group *group, uint64_t pass, gbs_error *err)
{
    gbsi_herd *herd = state;
    for (uint32_t g = 0; herd->keys.scheme == GBS_KEYS_COMPLETE && g < herd->n_groups; ++g) {
        if (herd->group[g].whole != NULL) {
            start_whole(herd, &group[g], g);
        }
    }
    return gbsi_herd_begin_pass(state, schedule, group, pass, err);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void fill_phases(const gbsi_herd *herd, uint32_t slot, uint32_t group, uint64_t name,
                        double *logw, gbsi_phase_row *row)
{
    const bool possible = gbsi_normalise(logw, 2);
    row->certain = !possible        ? GBSI_NEVER
                   : logw[1] == 0.0 ? GBSI_ALWAYS_0
                   : logw[0] == 0.0 ? GBSI_ALWAYS_1
                                    : GBSI_OPEN;
    row->chance = row->certain == GBSI_OPEN ? gbsi_chance(logw) : 0;
    gbsi_herd_start_phases(herd, slot, group, name, row->chance, row->phase);
    if (herd->how.bounded) {
        memset(row->phase + herd->lanes, 0, herd->lanes * sizeof *row->phase);
    }
}

void *gbsi_herded_row(gbsi_herd *herd, uint32_t slot, uint32_t group, const gbsi_view *view)
{
    const uint32_t k = gbsi_plan_arity(herd->plan, slot);
    const uint64_t code = code_of(herd, slot, group, view);
    gbsi_key_table *table = gbsi_herd_table(herd, slot, group);
    const size_t row_bytes = gbsi_herd_row_shape(herd, slot).bytes;
    const uint32_t found = gbsi_key_table_find(table, code);
    if (found != GBSI_NONE) {
        return gbsi_key_table_row(table, found, row_bytes);
    }
    /* The next free row serves as scratch until a look-up shows whether the context has a row. */
    double two[2];
    double *logw = k == 2 ? two : gbsi_key_table_row(table, (uint32_t)table->n_rows, row_bytes);
    gbsi_conditional_logw(&herd->keys.conditionals, slot, view, logw);
    uint64_t name = code;
    bool fresh = true;
    uint32_t at = 0;
    if (herd->keys.scheme == GBS_KEYS_SHARED) {
        name = gbsi_name_conditional(logw, k);
        at = gbsi_key_table_add_named(table, code, name, &fresh);
    } else {
        at = gbsi_key_table_add(table, code);
    }
    void *row = gbsi_key_table_row(table, at, row_bytes);
    if (fresh && k == 2) {
        fill_phases(herd, slot, group, name, logw, row);
    } else if (fresh) {
        (void)gbsi_normalise(logw, k);
        gbsi_herd_start_vectors(herd, slot, group, name, logw, gbsi_row_vector(row, k, 0));
    }
    return row;
}
