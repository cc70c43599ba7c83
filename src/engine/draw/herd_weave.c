/* SPDX-License-Identifier: Apache-2.0 */
/* Saves the herding weights of a model whose slots are shared among ranks. The weights are saved in
 * the order in which a single process saves them. */
#include "draw/herd.h"
#include "plan/plan.h"

/* For keys by bins: end of the cells of a slot of two states. The cells of the next slot of two
 * states begin at this end. */
static size_t end_of_cells(const gbsi_herd *herd, uint32_t slot)
{
    const gbsi_plan *plan = herd->plan;
    uint32_t next = slot + 1;
    while (next < plan->n_slots && gbsi_plan_arity(plan, next) != 2) {
        ++next;
    }
    return next < plan->n_slots ? herd->cell[next] : herd->n_phases + herd->n_balances;
}

/* Span of a slot's elements in an array of phases, turns or balances. */
static gbsi_span cells_of(const void *context, uint32_t slot)
{
    const gbsi_herd *herd = context;
    const size_t each = herd->paired ? 2 : herd->lanes;
    if (gbsi_plan_arity(herd->plan, slot) != 2) {
        return (gbsi_span){0, 0};
    }
    if (herd->cell != NULL) {
        const size_t first = herd->cell[slot];
        return (gbsi_span){first * each, (end_of_cells(herd, slot) - first) * each};
    }
    const gbsi_key_slot *s = &herd->keys.slot[slot];
    return (gbsi_span){s->cell * each, s->n_keys * each};
}

static gbsi_span vectors_of(const void *context, uint32_t slot)
{
    const gbsi_herd *herd = context;
    const size_t k = gbsi_plan_arity(herd->plan, slot);
    if (k == 2 || herd->cell != NULL) {
        return (gbsi_span){0, 0};
    }
    const gbsi_key_slot *s = &herd->keys.slot[slot];
    return (gbsi_span){s->cell * herd->lanes, s->n_keys * k * herd->lanes};
}

/* ---- tables ---------------------------------------------------------------------------------- */

typedef struct tables {
    gbsi_herd *herd;
    uint32_t group;
} tables;

/* Bytes of a row of the slot's table; 0 if the slot has no table. The saved data state the number
 * of rows. */
static uint64_t row_bytes(const void *object, uint32_t slot)
{
    const tables *t = object;
    return gbsi_herd_table(t->herd, slot, t->group) == NULL
               ? 0
               : gbsi_herd_row_shape(t->herd, slot).bytes;
}

static gbs_status put_table(const void *object, uint32_t slot, const gbsi_sink *sink,
                            gbs_error *err)
{
    const tables *t = object;
    return gbsi_herd_save_table(t->herd, slot, t->group, sink, err);
}

static gbs_status take_table(void *object, uint32_t slot, const gbsi_source *source, gbs_error *err)
{
    const tables *t = object;
    return gbsi_herd_load_table(t->herd, slot, t->group, source, err);
}

static gbs_status skip_table(const void *object, uint64_t width, const gbsi_source *source,
                             gbs_error *err)
{
    const tables *t = object;
    const gbsi_row_shape row = {.bytes = (size_t)width};
    return width == 0 ? GBS_OK : gbsi_key_table_skip(row, gbsi_herd_is_named(t->herd), source, err);
}

/* ---- all weights ----------------------------------------------------------------------------- */

static gbs_status weave_group(gbsi_herd *herd, uint32_t g, const gbsi_weave *weave,
                              const gbsi_sink *sink, const gbsi_source *source, gbs_error *err)
{
    const gbsi_herd_group *group = &herd->group[g];
    const bool turns = herd->cell == NULL && herd->how.bounded;
    tables t = {herd, g};
    gbsi_woven array[] = {
        {group->phase, sizeof *group->phase, herd, cells_of},
        {turns ? group->phase + herd->keys.n_phases * herd->lanes : NULL, sizeof *group->phase,
         herd, cells_of},
        {group->balance, sizeof *group->balance, herd, cells_of},
        {group->vector, sizeof *group->vector, herd, vectors_of},
    };
    const bool there[] = {herd->cell == NULL || herd->how.post || herd->how.rounded, turns,
                          herd->cell != NULL && !herd->how.post && !herd->how.rounded,
                          herd->cell == NULL};
    for (size_t i = 0; i < sizeof array / sizeof array[0]; ++i) {
        const gbsi_rows rows = gbsi_rows_of_array(&array[i]);
        GBSI_PASS(there[i] ? gbsi_weave_rows(weave, &rows, sink, source, err) : GBS_OK);
    }
    const gbsi_rows rows = {
        .object = &t, .width = row_bytes, .put = put_table, .take = take_table, .skip = skip_table};
    return gbsi_weave_rows(weave, &rows, sink, source, err);
}

gbs_status gbsi_herd_weave(void *state, const gbsi_weave *weave, const gbsi_sink *sink,
                           const gbsi_source *source, gbs_error *err)
{
    gbsi_herd *herd = state;
    gbs_status status = GBS_OK;
    herd->taken = sink != NULL ? herd->taken : 0;
    for (uint32_t g = 0; g < herd->n_groups && status >= 0; ++g) {
        status = weave_group(herd, g, weave, sink, source, err);
    }
    return status;
}
