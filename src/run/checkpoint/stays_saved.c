/* SPDX-License-Identifier: Apache-2.0 */
/* Saves and loads the stays that have been counted, and the stays that have not ended. If ranks
 * share the chains or the model, the bytes equal those that one process would write. */
#include <string.h>

#include "base/memory.h"
#include "chains/run.h"
#include "ranks/ranks.h"

/* The stays of one group of chains. */
typedef struct group {
    const gbsi_executor *x;
    const gbsi_stays *s;
    uint32_t g;
} group;

/* ---- stays that go on ------------------------------------------------------------------------ */

static uint64_t width(const void *object, uint32_t slot)
{
    const gbsi_executor *x = ((const group *)object)->x;
    (void)slot;
    return (uint64_t)x->lanes * (sizeof(uint16_t) + 1 + sizeof(uint64_t));
}

static gbs_status put(const void *object, uint32_t slot, const gbsi_sink *sink, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const group *of = object;
    const gbsi_executor *x = of->x;
    const gbsi_stays *s = of->s;
    const size_t at = slot * s->row + (size_t)of->g * x->lanes;
    uint16_t before[GBSI_LANES];
    for (uint32_t lane = 0; lane < x->lanes; ++lane) {
        before[lane] = (uint16_t)gbsi_state_at(s->before, at + lane, x->plan->value_bytes);
    }
    GBSI_TRY(gbsi_put_numbers(sink, before, x->lanes, sizeof before[0], err));
    GBSI_TRY(gbsi_put_numbers(sink, s->lasted + at, x->lanes, 1, err));
    GBSI_TRY(gbsi_put_numbers(sink, s->since + at, x->lanes, sizeof *s->since, err));
cleanup:
    return status;
}

static gbs_status take(void *object, uint32_t slot, const gbsi_source *source, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const group *of = object;
    const gbsi_executor *x = of->x;
    const gbsi_stays *s = of->s;
    const size_t at = slot * s->row + (size_t)of->g * x->lanes;
    uint16_t before[GBSI_LANES];
    GBSI_TRY(gbsi_take_numbers(source, before, x->lanes, sizeof before[0], err));
    GBSI_TRY(gbsi_take_numbers(source, s->lasted + at, x->lanes, 1, err));
    GBSI_TRY(gbsi_take_numbers(source, s->since + at, x->lanes, sizeof *s->since, err));
    for (uint32_t lane = 0; lane < x->lanes; ++lane) {
        if (before[lane] >= gbsi_plan_arity(x->plan, slot) ||
            s->lasted[at + lane] > GBSI_LONG_STAY || s->since[at + lane] > s->pass) {
            return gbsi_fail(err, GBS_ERR_FORMAT, "the saved stays are damaged");
        }
        gbsi_stays_set_state(s, at + lane, x->plan->value_bytes, before[lane]);
    }
cleanup:
    return status;
}

static gbs_status save_groups(const void *object, const gbsi_sink *sink, gbs_error *err)
{
    gbs_status status = GBS_OK;
    group of = *(const group *)object;
    for (of.g = 0; of.g < of.x->n_groups; ++of.g) {
        for (uint32_t slot = 0; slot < of.s->n_slots; ++slot) {
            GBSI_TRY(put(&of, slot, sink, err));
        }
    }
cleanup:
    return status;
}

static gbs_status load_groups(const group *all, const gbsi_source *source, gbs_error *err)
{
    gbs_status status = GBS_OK;
    group of = *all;
    const uint64_t bytes = of.s->n_slots * width(&of, 0);
    GBSI_TRY(gbsi_skip_bytes(source, gbsi_groups_before(of.x) * bytes, err));
    for (of.g = 0; of.g < of.x->n_groups; ++of.g) {
        for (uint32_t slot = 0; slot < of.s->n_slots; ++slot) {
            GBSI_TRY(take(&of, slot, source, err));
        }
    }
    GBSI_TRY(gbsi_skip_bytes(source, gbsi_groups_behind(of.x) * bytes, err));
cleanup:
    return status;
}

static gbs_status weave_groups(const group *all, const gbsi_sink *sink, const gbsi_source *source,
                               gbs_error *err)
{
    gbs_status status = GBS_OK;
    group of = *all;
    const gbsi_rows rows = {.object = &of, .all = true, .width = width, .put = put, .take = take};
    for (of.g = 0; of.g < of.x->n_groups && status >= 0; ++of.g) {
        status = gbsi_weave_rows(of.x->weave, &rows, sink, source, err);
    }
    return status;
}

/* ---- stays that have ended ------------------------------------------------------------------- */

enum { NUMBERS = sizeof(gbsi_cell_stays) / sizeof(uint64_t) };

static uint64_t cells_width(const void *object, uint32_t slot)
{
    const gbsi_stays *s = ((const group *)object)->s;
    return (s->cell[slot + (size_t)1] - s->cell[slot]) * sizeof *s->n;
}

static gbs_status put_cells(const void *object, uint32_t slot, const gbsi_sink *sink,
                            gbs_error *err)
{
    const gbsi_stays *s = ((const group *)object)->s;
    return gbsi_put_numbers(sink, &s->n[s->cell[slot]],
                            (s->cell[slot + (size_t)1] - s->cell[slot]) * NUMBERS, sizeof(uint64_t),
                            err);
}

static gbs_status take_cells(void *object, uint32_t slot, const gbsi_source *source, gbs_error *err)
{
    const gbsi_stays *s = ((const group *)object)->s;
    return gbsi_take_numbers(source, &s->n[s->cell[slot]],
                             (s->cell[slot + (size_t)1] - s->cell[slot]) * NUMBERS,
                             sizeof(uint64_t), err);
}

static gbs_status weave_cells(const group *all, const gbsi_sink *sink, const gbsi_source *source,
                              gbs_error *err)
{
    group of = *all;
    const gbsi_rows rows = {
        .object = &of, .width = cells_width, .put = put_cells, .take = take_cells};
    return gbsi_weave_rows(of.x->weave, &rows, sink, source, err);
}

static gbs_status save_cells(const group *all, const gbsi_sink *sink, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_ranks *ranks = all->x->ranks;
    const size_t n = all->s->n_cells * NUMBERS;
    uint64_t *sum = gbsi_alloc_array(n, sizeof *sum);
    GBSI_TRY(GBSI_HAVE(err, "stays", sum));
    memcpy(sum, all->s->n, n * sizeof *sum);
    if (ranks != NULL) {
        GBSI_TRY(ranks->combine(ranks->context, GBS_COMBINE_SUM_U64, sum, n, err));
    }
    GBSI_TRY(gbsi_put_numbers(sink, sum, n, sizeof *sum, err));
cleanup:
    gbsi_free(sum);
    return status;
}

/* ---- all stays ------------------------------------------------------------------------------- */

static group all_of(const gbsi_sampling *sampling)
{
    return (group){.x = &sampling->engine.executor, .s = &sampling->estimates.stays};
}

static gbs_status save(const void *object, const gbsi_sink *sink, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const group all = all_of(object);
    const uint8_t begun = all.s->begun;
    GBSI_TRY(gbsi_put_numbers(sink, &begun, 1, 1, err));
    GBSI_TRY(gbsi_put_numbers(sink, &all.s->pass, 1, sizeof all.s->pass, err));
    if (all.x->weave != NULL) {
        GBSI_TRY(weave_cells(&all, sink, NULL, err));
        GBSI_TRY(weave_groups(&all, sink, NULL, err));
    } else {
        GBSI_TRY(save_cells(&all, sink, err));
        GBSI_TRY(gbsi_ranks_save(all.x->ranks, &all, save_groups, sink, err));
    }
cleanup:
    return status;
}

gbs_status gbsi_stays_save(const gbsi_sampling *sampling, const gbsi_sink *sink, gbs_error *err)
{
    return gbsi_put_sealed(sink, sampling, save, err);
}

static gbs_status load(void *object, const gbsi_source *source, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_sampling *sampling = object;
    const group all = all_of(sampling);
    const gbs_ranks *ranks = all.x->ranks;
    uint8_t begun = 0;
    GBSI_TRY(gbsi_take_numbers(source, &begun, 1, 1, err));
    GBSI_TRY(
        gbsi_take_numbers(source, &sampling->estimates.stays.pass, 1, sizeof all.s->pass, err));
    if (all.x->weave != NULL) {
        GBSI_TRY(weave_cells(&all, NULL, source, err));
        GBSI_TRY(weave_groups(&all, NULL, source, err));
    } else {
        GBSI_TRY(
            gbsi_take_numbers(source, all.s->n, all.s->n_cells * NUMBERS, sizeof(uint64_t), err));
        if (ranks != NULL && ranks->rank > 0) { /* rank 0 has the stays of all ranks */
            memset(all.s->n, 0, all.s->n_cells * sizeof *all.s->n);
        }
        GBSI_TRY(load_groups(&all, source, err));
    }
    sampling->estimates.stays.begun = begun != 0;
cleanup:
    return status;
}

gbs_status gbsi_stays_load(gbsi_sampling *sampling, const gbsi_source *source, gbs_error *err)
{
    return gbsi_take_sealed(source, sampling, load, "stays", err);
}
