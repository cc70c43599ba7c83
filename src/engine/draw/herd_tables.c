/* SPDX-License-Identifier: Apache-2.0 */
/* Hashed tables of weights: saving, loading and growing them. Tables grow either before a pass,
 * with room for every key that the pass can add, or before each update. */
#include "base/memory.h"
#include "draw/herd.h"
#include "plan/kernel.h"

/* Whether a slot has a hashed table in every group. */
static bool is_hashed(const gbsi_herd *herd, uint32_t slot)
{
    return herd->n_tables > 0 &&
           (herd->cell != NULL ? gbsi_plan_arity(herd->plan, slot) != 2
                               : herd->keys.slot[slot].coding == GBSI_CODE_HASHED);
}

gbsi_key_table *gbsi_herd_table(const gbsi_herd *herd, uint32_t slot, uint32_t group)
{
    if (!is_hashed(herd, slot)) {
        return NULL;
    }
    const size_t number = herd->cell != NULL ? herd->cell[slot] : herd->keys.slot[slot].cell;
    return &herd->group[group].table[number];
}

/* Shape of the rows of a slot's table. If keys determine the conditional, a row has the conditional
 * and the weights. In bounded herding of two states a row has a number of whole turns for each
 * phase. */
gbsi_row_shape gbsi_herd_row_shape(const gbsi_herd *herd, uint32_t slot)
{
    const gbsi_herding *how = &herd->how;
    const uint32_t k = gbsi_plan_arity(herd->plan, slot);
    const bool decide = gbsi_keys_decide(how->keys);
    const bool phases = decide ? k == 2 : gbsi_herding_sticks(how);
    const size_t number = phases ? sizeof(uint32_t) : sizeof(double);
    const uint32_t per_lane = how->bounded && k == 2 ? 2 : 1;
    const size_t bytes = decide ? gbsi_key_table_row_bytes(k, per_lane * herd->lanes)
                                : (size_t)(phases ? k - 1 : k) * herd->lanes * number;
    return (gbsi_row_shape){.bytes = bytes, .number = number};
}

/* ---- growth ---------------------------------------------------------------------------------- */

static gbs_status no_room(const gbsi_herd *herd, uint32_t slot, uint64_t needed, gbs_error *err)
{
    char text[80];
    char wanted[16];
    char room[16];
    gbsi_bytes_text((double)needed, wanted);
    gbsi_bytes_text((double)herd->room, room);
    return gbsi_fail(err, GBS_ERR_LIMIT,
                     "the herding weights would take %s with those of variable %s; "
                     "there is room for %s: %s, or a larger --memory-limit",
                     wanted, gbsi_slot_text(herd->plan, slot, text), room,
                     gbsi_keys_decide(herd->how.keys)
                         ? "use --draw discretized, --keys shared, fewer --chains"
                         : "fewer --bins or --chains");
}

/* Makes room in a slot's table for the keys of `visits` further visits by every chain of the group.
 */
static gbs_status grow(gbsi_herd *herd, uint32_t slot, uint32_t group, uint32_t visits,
                       gbs_error *err)
{
    gbsi_key_table *table = gbsi_herd_table(herd, slot, group);
    if (table == NULL || table->n_codes + (size_t)visits * herd->lanes <= table->capacity / 2) {
        return GBS_OK;
    }
    const bool named = gbsi_herd_is_named(herd);
    const size_t wanted = table->n_codes + (size_t)visits * herd->lanes;
    const size_t row_bytes = gbsi_herd_row_shape(herd, slot).bytes;
    const uint64_t old =
        table->capacity == 0 ? 0 : gbsi_key_table_bytes(table->capacity / 2, row_bytes, named);
    const uint64_t bytes = gbsi_key_table_bytes(wanted, row_bytes, named);
    /* the old and the new table exist together while rows are moved */
    if (wanted >= GBSI_NONE || herd->taken + bytes > herd->room) {
        return no_room(herd, slot, herd->taken + bytes, err);
    }
    const gbs_status status = gbsi_key_table_reserve(table, wanted, row_bytes, named, err);
    herd->taken += status == GBS_OK ? bytes - old : 0;
    return status;
}

gbs_status gbsi_herd_begin_pass(void *state, const gbsi_schedule *schedule, const gbsi_group *group,
                                uint64_t pass, gbs_error *err)
{
    gbsi_herd *herd = state;
    (void)group;
    (void)pass;
    if (herd->n_tables == 0) {
        return GBS_OK;
    }
    gbsi_schedule_count(herd->plan, schedule, herd->visits);
    for (uint32_t g = 0; g < herd->n_groups; ++g) {
        for (uint32_t slot = 0; slot < herd->plan->n_slots; ++slot) {
            GBSI_PASS(grow(herd, slot, g, herd->visits[slot], err));
        }
    }
    return GBS_OK;
}

gbs_status gbsi_herd_expect(void *state, uint32_t slot, gbs_error *err)
{
    gbsi_herd *herd = state;
    for (uint32_t g = 0; g < herd->n_groups; ++g) {
        GBSI_PASS(grow(herd, slot, g, 1, err));
    }
    return GBS_OK;
}

/* Number of weights of a group, averaged over groups, whose tables differ in size. */
double gbsi_herd_n_weights(const void *state)
{
    const gbsi_herd *herd = state;
    double dense = 0.0;
    double met = 0.0;
    for (uint32_t slot = 0; herd->keys.slot != NULL && slot < herd->plan->n_slots; ++slot) {
        dense += herd->keys.slot[slot].n_keys;
    }
    dense += herd->cell != NULL ? (double)(herd->n_phases + herd->n_balances) : 0.0;
    for (uint32_t g = 0; g < herd->n_groups; ++g) {
        for (size_t t = 0; t < herd->n_tables; ++t) {
            met += (double)herd->group[g].table[t].n_rows;
        }
    }
    return dense + met / herd->n_groups;
}

/* ---- saving and loading ---------------------------------------------------------------------- */

gbs_status gbsi_herd_save_table(const gbsi_herd *herd, uint32_t slot, uint32_t group,
                                const gbsi_sink *sink, gbs_error *err)
{
    const gbsi_key_table *table = gbsi_herd_table(herd, slot, group);
    return table == NULL ? GBS_OK
                         : gbsi_key_table_save(table, gbsi_herd_row_shape(herd, slot),
                                               gbsi_herd_is_named(herd), sink, err);
}

gbs_status gbsi_herd_load_table(gbsi_herd *herd, uint32_t slot, uint32_t group,
                                const gbsi_source *source, gbs_error *err)
{
    gbsi_key_table *table = gbsi_herd_table(herd, slot, group);
    const gbsi_row_shape row = gbsi_herd_row_shape(herd, slot);
    const bool named = gbsi_herd_is_named(herd);
    if (table == NULL) {
        return GBS_OK;
    }
    const gbs_status status =
        gbsi_key_table_load(table, row, named, herd->room - herd->taken, source, err);
    if (status >= 0) {
        herd->taken += gbsi_key_table_bytes(table->capacity / 2, row.bytes, named);
    }
    return status;
}

gbs_status gbsi_herd_save(const void *state, const gbsi_sink *sink, gbs_error *err)
{
    const gbsi_herd *herd = state;
    for (uint32_t g = 0; g < herd->n_groups; ++g) {
        const gbsi_herd_group *group = &herd->group[g];
        GBSI_PASS(gbsi_put_numbers(sink, group->phase, herd->n_phases * herd->lanes,
                                   sizeof *group->phase, err));
        GBSI_PASS(gbsi_put_numbers(sink, group->balance, herd->n_balances * herd->lanes,
                                   sizeof *group->balance, err));
        GBSI_PASS(gbsi_put_numbers(sink, group->vector, herd->n_shares * herd->lanes,
                                   sizeof *group->vector, err));
        for (uint32_t slot = 0; herd->n_tables > 0 && slot < herd->plan->n_slots; ++slot) {
            GBSI_PASS(gbsi_herd_save_table(herd, slot, g, sink, err));
        }
    }
    return GBS_OK;
}

gbs_status gbsi_herd_load(void *state, const gbsi_source *source, gbs_error *err)
{
    gbsi_herd *herd = state;
    herd->taken = 0;
    for (uint32_t g = 0; g < herd->n_groups; ++g) {
        gbsi_herd_group *group = &herd->group[g];
        GBSI_PASS(gbsi_take_numbers(source, group->phase, herd->n_phases * herd->lanes,
                                    sizeof *group->phase, err));
        GBSI_PASS(gbsi_take_numbers(source, group->balance, herd->n_balances * herd->lanes,
                                    sizeof *group->balance, err));
        GBSI_PASS(gbsi_take_numbers(source, group->vector, herd->n_shares * herd->lanes,
                                    sizeof *group->vector, err));
        for (uint32_t slot = 0; herd->n_tables > 0 && slot < herd->plan->n_slots; ++slot) {
            GBSI_PASS(gbsi_herd_load_table(herd, slot, g, source, err));
        }
    }
    return GBS_OK;
}

gbs_status gbsi_herd_skip(const void *state, const gbsi_source *source, gbs_error *err)
{
    const gbsi_herd *herd = state;
    const gbsi_herd_group *g = NULL;
    GBSI_PASS(gbsi_skip_bytes(source,
                              herd->lanes * (herd->n_phases * sizeof *g->phase +
                                             herd->n_balances * sizeof *g->balance +
                                             herd->n_shares * sizeof *g->vector),
                              err));
    for (uint32_t slot = 0; slot < herd->plan->n_slots; ++slot) {
        if (is_hashed(herd, slot)) {
            GBSI_PASS(gbsi_key_table_skip(gbsi_herd_row_shape(herd, slot), gbsi_herd_is_named(herd),
                                          source, err));
        }
    }
    return GBS_OK;
}
