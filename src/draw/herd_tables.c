/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of slots with more contexts than a table of them can hold: rows made when a context is
 * met, grown before a pass with room for every context that the pass can add. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "draw/herd.h"
#include "base/saved.h"
#include "plan/kernel.h"

static bool is_named(const gbsi_herd *herd)
{
    return herd->keys.scheme == GBS_KEYS_SHARED;
}

/* Bounded herding keeps whole turns beside each phase. */
static size_t row_bytes_of(const gbsi_herd *herd, uint32_t slot)
{
    const uint32_t k = gbsi_plan_arity(herd->plan, slot);
    const uint32_t per_lane = herd->how.bounded && k == 2 ? 2 : 1;
    return gbsi_key_table_row_bytes(k, per_lane * herd->lanes);
}

static gbsi_row_shape row_shape_of(const gbsi_herd *herd, uint32_t slot)
{
    const bool phases = gbsi_plan_arity(herd->plan, slot) == 2;
    return (gbsi_row_shape){.bytes = row_bytes_of(herd, slot),
                            .number = phases ? sizeof(uint32_t) : sizeof(double)};
}

/* ---- codes ----------------------------------------------------------------------------------- */

/* What one variable adds to the code of the whole state. */
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

void gbsi_herd_moved(gbsi_herd *herd, uint32_t slot, uint32_t group, const gbsi_view *view,
                     uint32_t value)
{
    if (herd->keys.scheme == GBS_KEYS_COMPLETE) {
        herd->group[group].whole[view->lane] +=
            part_of_whole(herd, slot, value) - part_of_whole(herd, slot, gbsi_view_at(view, slot));
    }
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

void *gbsi_herd_row(gbsi_herd *herd, uint32_t slot, uint32_t group, const gbsi_view *view)
{
    const uint32_t k = gbsi_plan_arity(herd->plan, slot);
    const uint64_t code = code_of(herd, slot, group, view);
    gbsi_key_table *table = &herd->group[group].table[herd->keys.slot[slot].cell];
    const size_t row_bytes = row_bytes_of(herd, slot);
    const uint32_t found = gbsi_key_table_find(table, code);
    if (found != GBSI_NONE) {
        return gbsi_key_table_row(table, found, row_bytes);
    }
    /* The next free row is scratch until it is known whether the context has one already. */
    double two[2];
    double *logw = k == 2 ? two : gbsi_key_table_row(table, (uint32_t)table->n_rows, row_bytes);
    gbsi_conditional_logw(&herd->keys.conditionals, slot, view, logw);
    uint64_t name = code;
    bool fresh = true;
    uint32_t at = 0;
    if (is_named(herd)) {
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

/* ---- between passes -------------------------------------------------------------------------- */

static gbs_status no_room(const gbsi_herd *herd, uint32_t slot, uint64_t needed, gbs_error *err)
{
    char text[80];
    char wanted[16];
    char room[16];
    gbsi_bytes_text((double)needed, wanted);
    gbsi_bytes_text((double)herd->room, room);
    return gbsi_fail(err, GBS_ERR_LIMIT,
                     "the herding weights met so far would take %s with those of variable %s; "
                     "there is room for %s: use --draw discretized, --keys shared, fewer --chains, "
                     "or a larger --memory-limit",
                     wanted, gbsi_slot_text(herd->plan, slot, text), room);
}

static gbs_status grow(gbsi_herd *herd, uint32_t slot, uint32_t group, uint32_t visits,
                       gbs_error *err)
{
    gbsi_key_table *table = &herd->group[group].table[herd->keys.slot[slot].cell];
    const size_t row_bytes = row_bytes_of(herd, slot);
    const size_t wanted = table->n_codes + (size_t)visits * herd->lanes;
    if (wanted <= table->capacity / 2) {
        return GBS_OK;
    }
    const bool named = is_named(herd);
    const uint64_t old =
        table->capacity == 0 ? 0 : gbsi_key_table_bytes(table->capacity / 2, row_bytes, named);
    const uint64_t bytes = gbsi_key_table_bytes(wanted, row_bytes, named);
    if (wanted >= GBSI_NONE || herd->taken + bytes > herd->room) { /* both stand while one moves */
        return no_room(herd, slot, herd->taken + bytes, err);
    }
    const gbs_status status = gbsi_key_table_reserve(table, wanted, row_bytes, named, err);
    herd->taken += status == GBS_OK ? bytes - old : 0;
    return status;
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

gbs_status gbsi_herd_begin_pass(void *state, const gbsi_schedule *schedule, const gbsi_group *group,
                                uint64_t pass, gbs_error *err)
{
    gbsi_herd *herd = state;
    gbs_status status = GBS_OK;
    (void)pass;
    if (herd->visits == NULL) {
        return GBS_OK;
    }
    gbsi_schedule_count(herd->plan, schedule, herd->visits);
    for (uint32_t g = 0; g < herd->n_groups; ++g) {
        if (herd->group[g].whole != NULL) {
            start_whole(herd, &group[g], g);
        }
        for (uint32_t slot = 0; slot < herd->plan->n_slots; ++slot) {
            if (herd->keys.slot[slot].coding == GBSI_CODE_HASHED) {
                GBSI_TRY(grow(herd, slot, g, herd->visits[slot], err));
            }
        }
    }
cleanup:
    return status;
}

/* Of a group; tables of groups differ, so that it is their mean. */
double gbsi_herd_n_weights(const void *state)
{
    const gbsi_herd *herd = state;
    const size_t n_tables = herd->keys.n_hashed + herd->n_many; /* one of them is 0 */
    double dense = 0.0;
    double met = 0.0;
    for (uint32_t slot = 0; herd->keys.slot != NULL && slot < herd->plan->n_slots; ++slot) {
        dense += herd->keys.slot[slot].n_keys;
    }
    dense += herd->cell != NULL ? (double)(herd->n_phases + herd->n_balances) : 0.0;
    for (uint32_t g = 0; g < herd->n_groups; ++g) {
        for (size_t t = 0; t < n_tables; ++t) {
            met += (double)herd->group[g].table[t].n_rows;
        }
    }
    return dense + met / herd->n_groups;
}

/* ---- to be resumed --------------------------------------------------------------------------- */

gbs_status gbsi_key_table_save(const gbsi_key_table *t, gbsi_row_shape row, bool named,
                               const gbsi_sink *sink, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint64_t n[2] = {t->n_codes, t->n_rows};
    GBSI_TRY(gbsi_put_numbers(sink, n, 2, sizeof *n, err));
    for (size_t i = 0; i < t->capacity; ++i) {
        if (t->row[i] != GBSI_NONE) {
            GBSI_TRY(gbsi_put_numbers(sink, &t->code[i], 1, sizeof t->code[i], err));
            GBSI_TRY(gbsi_put_numbers(sink, &t->row[i], 1, sizeof t->row[i], err));
        }
    }
    if (named) {
        GBSI_TRY(gbsi_put_numbers(sink, t->name, t->n_rows, sizeof *t->name, err));
    }
    GBSI_TRY(
        gbsi_put_numbers(sink, t->rows, t->n_rows * (row.bytes / row.number), row.number, err));
cleanup:
    return status;
}

gbs_status gbsi_key_table_load(gbsi_key_table *t, gbsi_row_shape row, bool named, uint64_t room,
                               const gbsi_source *source, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint64_t n[2];
    gbsi_key_table made = {0};
    GBSI_TRY(gbsi_take_numbers(source, n, 2, sizeof *n, err));
    if (n[1] > n[0] || n[0] >= GBSI_NONE / 2 || (!named && n[0] != n[1]) ||
        (n[0] > 0 && gbsi_key_table_bytes(n[0], row.bytes, named) > room)) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_FORMAT,
                           "saved herding weights: %" PRIu64 " contexts, %" PRIu64 " rows", n[0],
                           n[1]));
    }
    GBSI_TRY(gbsi_key_table_reserve(&made, n[0], row.bytes, named, err));
    for (uint64_t i = 0; i < n[0]; ++i) {
        uint64_t code = 0;
        uint32_t at = 0;
        GBSI_TRY(gbsi_take_numbers(source, &code, 1, sizeof code, err));
        GBSI_TRY(gbsi_take_numbers(source, &at, 1, sizeof at, err));
        if (at >= n[1] || gbsi_key_table_find(&made, code) != GBSI_NONE) {
            GBSI_TRY(gbsi_fail(err, GBS_ERR_FORMAT, "saved herding weights: row %u of %" PRIu64, at,
                               n[1]));
        }
        gbsi_key_table_restore(&made, code, at);
    }
    made.n_rows = n[1];
    if (named && n[1] > 0) {
        GBSI_TRY(gbsi_take_numbers(source, made.name, n[1], sizeof *made.name, err));
        gbsi_key_table_restore_names(&made);
    }
    GBSI_TRY(
        gbsi_take_numbers(source, made.rows, n[1] * (row.bytes / row.number), row.number, err));
    gbsi_key_table_free(t);
    *t = made;
    made = (gbsi_key_table){0};
cleanup:
    gbsi_key_table_free(&made);
    return status;
}

gbs_status gbsi_herd_save(const void *state, const gbsi_sink *sink, gbs_error *err)
{
    const gbsi_herd *herd = state;
    gbs_status status = GBS_OK;
    for (uint32_t g = 0; g < herd->n_groups; ++g) {
        const gbsi_herd_group *group = &herd->group[g];
        GBSI_TRY(gbsi_put_numbers(sink, group->phase, herd->n_phases * herd->lanes,
                                  sizeof *group->phase, err));
        GBSI_TRY(gbsi_put_numbers(sink, group->balance, herd->n_balances * herd->lanes,
                                  sizeof *group->balance, err));
        GBSI_TRY(gbsi_put_numbers(sink, group->vector, herd->n_shares * herd->lanes,
                                  sizeof *group->vector, err));
        for (uint32_t slot = 0; herd->keys.n_hashed > 0 && slot < herd->plan->n_slots; ++slot) {
            const gbsi_key_slot *s = &herd->keys.slot[slot];
            if (s->coding == GBSI_CODE_HASHED) {
                GBSI_TRY(gbsi_key_table_save(&group->table[s->cell], row_shape_of(herd, slot),
                                             is_named(herd), sink, err));
            }
        }
    }
cleanup:
    return status;
}

gbs_status gbsi_herd_load(void *state, const gbsi_source *source, gbs_error *err)
{
    gbsi_herd *herd = state;
    gbs_status status = GBS_OK;
    herd->taken = 0;
    for (uint32_t g = 0; g < herd->n_groups; ++g) {
        gbsi_herd_group *group = &herd->group[g];
        GBSI_TRY(gbsi_take_numbers(source, group->phase, herd->n_phases * herd->lanes,
                                   sizeof *group->phase, err));
        GBSI_TRY(gbsi_take_numbers(source, group->balance, herd->n_balances * herd->lanes,
                                   sizeof *group->balance, err));
        GBSI_TRY(gbsi_take_numbers(source, group->vector, herd->n_shares * herd->lanes,
                                   sizeof *group->vector, err));
        for (uint32_t slot = 0; herd->keys.n_hashed > 0 && slot < herd->plan->n_slots; ++slot) {
            const gbsi_key_slot *s = &herd->keys.slot[slot];
            if (s->coding == GBSI_CODE_HASHED) {
                gbsi_key_table *table = &group->table[s->cell];
                const gbsi_row_shape row = row_shape_of(herd, slot);
                GBSI_TRY(gbsi_key_table_load(table, row, is_named(herd), herd->room - herd->taken,
                                             source, err));
                herd->taken += gbsi_key_table_bytes(table->capacity / 2, row.bytes, is_named(herd));
            }
        }
    }
cleanup:
    return status;
}
