/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts one pass of a sequence into batches [M11]. The graph gives the level of each update. Stable
 * counting sorts order the updates by level and, within a level, by type and slot. The sorted
 * updates are then cut into pieces of one class, form and arity. */
#include <string.h>

#include "base/extremes.h"
#include "base/memory.h"
#include "plan/compile.h"
#include "plan/plan_check.h"
#include "rng/philox.h"

void gbsi_schedule_free(gbsi_schedule *schedule)
{
    GBSI_FREE(schedule->batch_start, schedule->piece, schedule->slot, schedule->position,
              schedule->scratch);
    *schedule = (gbsi_schedule){0};
}

static uint32_t more(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static gbs_status reserve(gbsi_schedule *s, const gbsi_plan *plan, size_t n, gbs_error *err)
{
    void *pointer = s->slot;
    GBSI_PASS(gbsi_reserve(&pointer, &s->slot_capacity, n + 16, sizeof *s->slot, "schedule", err));
    s->slot = pointer;
    if (s->wants_position) {
        pointer = s->position;
        GBSI_PASS(gbsi_reserve(&pointer, &s->position_capacity, n + 16, sizeof *s->position,
                               "schedule", err));
        s->position = pointer;
    }
    /* size of the scratch memory for the last batch of each variable and scope, for levels, keys
     * and sorted updates, and for histograms */
    const size_t words = gbsi_graph_n_last(plan->graph) + 3 * n +
                         more(more(plan->n_slots, (uint32_t)n), more(plan->max_arity, UINT8_MAX)) +
                         2;
    pointer = s->scratch;
    GBSI_PASS(
        gbsi_reserve(&pointer, &s->scratch_capacity, words, sizeof *s->scratch, "schedule", err));
    s->scratch = pointer;
    return GBS_OK;
}

/* ---- pieces -------------------------------------------------------------------------------- */

static gbs_status begin_batch(gbsi_schedule *s, gbs_error *err)
{
    void *pointer = s->batch_start;
    const gbs_status status = gbsi_reserve(&pointer, &s->batch_capacity, (size_t)s->n_batches + 2,
                                           sizeof *s->batch_start, "schedule", err);
    if (status == GBS_OK) {
        s->batch_start = pointer;
        s->batch_start[s->n_batches++] = s->n_pieces;
    }
    return status;
}

static bool extends(const gbsi_plan *plan, const gbsi_piece *piece, uint32_t slot, bool counts)
{
    return (piece->counts != 0) == counts && piece->class_id == gbsi_plan_class(plan, slot) &&
           piece->form == gbsi_plan_form(plan, slot) && piece->arity == gbsi_plan_arity(plan, slot);
}

/* Adds an update to the last piece of the batch if the update continues this piece, otherwise to a
 * new piece. */
static gbs_status add_update(const gbsi_plan *plan, gbsi_schedule *s, size_t place, uint32_t slot,
                             bool counts, gbs_error *err)
{
    gbsi_piece *last =
        s->n_pieces > s->batch_start[s->n_batches - 1] ? &s->piece[s->n_pieces - 1] : NULL;
    if (last != NULL && extends(plan, last, slot, counts)) {
        last->contiguous &= slot == last->first_slot + last->n;
        ++last->n;
        return GBS_OK;
    }
    void *pointer = s->piece;
    const gbs_status status = gbsi_reserve(&pointer, &s->piece_capacity, s->n_pieces + 1,
                                           sizeof *s->piece, "schedule", err);
    if (status == GBS_OK) {
        s->piece = pointer;
        s->piece[s->n_pieces++] = (gbsi_piece){.place = place,
                                               .n = 1,
                                               .first_slot = slot,
                                               .arity = gbsi_plan_arity(plan, slot),
                                               .class_id = (uint8_t)gbsi_plan_class(plan, slot),
                                               .form = (uint8_t)gbsi_plan_form(plan, slot),
                                               .contiguous = 1,
                                               .counts = counts};
    }
    return status;
}

static void begin_pass(gbsi_schedule *s)
{
    s->n_places = 0;
    s->n_pieces = 0;
    s->n_batches = 0;
}

static void end_pass(gbsi_schedule *s, size_t n)
{
    s->n_places = n;
    if (s->n_batches > 0) {
        s->batch_start[s->n_batches] = s->n_pieces;
    }
}

/* Cuts the sorted updates into batches and pieces. Slots are given by place, and levels by update.
 * @param counts [n] whether each update counts; NULL: all updates count. */
static gbs_status cut(const gbsi_plan *plan, const uint32_t *level, const uint32_t *update,
                      const uint32_t *counts, size_t n, gbsi_schedule *s, gbs_error *err)
{
    begin_pass(s);
    for (size_t place = 0; place < n; ++place) {
        if (place == 0 || level[update[place]] != level[update[place - 1]]) {
            GBSI_PASS(begin_batch(s, err));
        }
        const bool fed = counts == NULL || counts[update[place]] != 0;
        GBSI_PASS(add_update(plan, s, place, s->slot[place], fed, err));
    }
    end_pass(s, n);
    return GBS_OK;
}

void gbsi_schedule_count(const gbsi_plan *plan, const gbsi_schedule *schedule, uint32_t *n_updates)
{
    memset(n_updates, 0, plan->n_slots * sizeof *n_updates);
    for (size_t p = 0; p < schedule->n_pieces; ++p) {
        for (uint32_t i = 0; i < schedule->piece[p].n; ++i) {
            ++n_updates[gbsi_piece_slot(schedule, &schedule->piece[p], i)];
        }
    }
}

/* ---- passes -------------------------------------------------------------------------------- */

gbs_status gbsi_plan_own_pass(const gbsi_plan *plan, gbsi_schedule *schedule, gbs_error *err)
{
    begin_pass(schedule);
    for (uint32_t l = 0; l < plan->n_levels; ++l) {
        GBSI_PASS(begin_batch(schedule, err));
        for (uint32_t slot = plan->level_start[l]; slot < plan->level_start[l + 1]; ++slot) {
            GBSI_PASS(add_update(plan, schedule, slot, slot, true, err));
        }
    }
    end_pass(schedule, plan->n_slots);
    gbsi_schedule_check(plan, schedule);
    return GBS_OK;
}

/* Sorts updates by class, form and arity, and then by slot. @param key, spare [n] scratch. */
static void sort_by_rank(const gbsi_plan *plan, const uint32_t *sequence, size_t n,
                         uint32_t *sorted, uint32_t *spare, uint32_t *key, uint32_t *histogram)
{
    for (size_t t = 0; t < n; ++t) {
        key[t] = plan->slot_of[sequence[t]];
    }
    gbsi_sort_by(key, plan->n_slots, NULL, sorted, n, histogram);
    if (plan->by_type) {
        return;
    }
    for (size_t t = 0; t < n; ++t) {
        key[t] = gbsi_plan_arity(plan, plan->slot_of[sequence[t]]);
    }
    gbsi_sort_by(key, plan->max_arity + 1, sorted, spare, n, histogram);
    for (size_t t = 0; t < n; ++t) {
        key[t] = plan->type == NULL ? 0 : plan->type[plan->slot_of[sequence[t]]];
    }
    gbsi_sort_by(key, UINT8_MAX + 1, spare, sorted, n, histogram);
}

/* Marks the updates that count: the last update of each variable of schedule->only, or of every
 * variable if `only` is NULL. @param seen [n_slots] scratch. */
static void find_last(const gbsi_plan *plan, const gbsi_schedule *schedule,
                      const uint32_t *sequence, size_t n, uint32_t *counts, uint32_t *seen)
{
    memset(seen, 0, plan->n_slots * sizeof *seen);
    for (size_t t = n; t-- > 0;) {
        const uint32_t v = sequence[t];
        counts[t] = seen[v] == 0 && (schedule->only == NULL || schedule->only[v] != 0);
        seen[v] = 1;
    }
}

/* Sorts the updates by level and rank, and cuts them into batches and pieces. @param given [n]
 * level of each update; NULL: levels are computed from the graph. */
static gbs_status put_in_levels(const gbsi_plan *plan, const uint32_t *sequence,
                                const uint32_t *given, size_t n, gbsi_schedule *schedule,
                                gbs_error *err)
{
    GBSI_PASS(gbsi_places_check(n, err));
    if (n >= UINT32_MAX) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "a pass of %zu updates; this version holds %u", n,
                         UINT32_MAX - 1);
    }
    GBSI_PASS(reserve(schedule, plan, n, err));
    uint32_t *last = schedule->scratch;
    uint32_t *level = last + gbsi_graph_n_last(plan->graph);
    uint32_t *by_rank = level + n;
    uint32_t *update = by_rank + n; /* until the last sort, the array `update` is used for keys */
    uint32_t *histogram = update + n;
    uint32_t n_levels = 0;
    if (given == NULL) {
        gbsi_graph_schedule_levels(plan->graph, sequence, n, last, level, &n_levels);
    } else {
        memcpy(level, given, n * sizeof *level);
        n_levels = gbsi_largest(given, n) + 1;
    }
    sort_by_rank(plan, sequence, n, by_rank, schedule->slot, update, histogram);
    gbsi_sort_by(level, n_levels, by_rank, update, n, histogram);
    for (size_t place = 0; place < n; ++place) {
        schedule->slot[place] = plan->slot_of[sequence[update[place]]];
    }
    for (size_t pad = 0; pad < 16; ++pad) {
        schedule->slot[n + pad] = n > 0 ? schedule->slot[n - 1] : 0;
    }
    if (schedule->wants_position) {
        memcpy(schedule->position, update, n * sizeof *update);
        for (size_t pad = 0; pad < 16; ++pad) {
            schedule->position[n + pad] = n > 0 ? update[n - 1] : 0;
        }
    }
    if (schedule->wants_last) { /* the array by_rank is free now */
        find_last(plan, schedule, sequence, n, by_rank, histogram);
    }
    GBSI_PASS(cut(plan, level, update, schedule->wants_last ? by_rank : NULL, n, schedule, err));
    gbsi_schedule_check(plan, schedule);
    if (given == NULL && !gbsi_watch_stopped(gbsi_watch_current())) {
        gbsi_schedule_check_batches(plan, schedule, last);
    }
    return GBS_OK;
}

gbs_status gbsi_plan_level(const gbsi_plan *plan, const uint32_t *sequence, size_t n,
                           gbsi_schedule *schedule, gbs_error *err)
{
    return put_in_levels(plan, sequence, NULL, n, schedule, err);
}

gbs_status gbsi_plan_batches(const gbsi_plan *plan, const uint32_t *sequence, const uint32_t *batch,
                             size_t n, gbsi_schedule *schedule, gbs_error *err)
{
    return put_in_levels(plan, sequence, batch, n, schedule, err);
}
