/* SPDX-License-Identifier: Apache-2.0 */
/* A pass of a sequence in batches: levels from the graph, two stable counting sorts (by rank, then
 * by level), cut into pieces of one class, form and arity. [M11] */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "plan/plan.h"

void gbsi_schedule_free(gbsi_schedule *schedule)
{
    gbsi_free(schedule->batch_start);
    gbsi_free(schedule->piece);
    gbsi_free(schedule->slot);
    gbsi_free(schedule->position);
    gbsi_free(schedule->scratch);
    *schedule = (gbsi_schedule){0};
}

static gbs_status reserve(gbsi_schedule *s, const gbsi_plan *plan, size_t n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    void *pointer = s->slot;
    GBSI_TRY(gbsi_reserve(&pointer, &s->slot_capacity, n + 16, sizeof *s->slot, "schedule", err));
    s->slot = pointer;
    if (s->wants_position) {
        pointer = s->position;
        GBSI_TRY(gbsi_reserve(&pointer, &s->position_capacity, n + 16, sizeof *s->position,
                              "schedule", err));
        s->position = pointer;
    }
    /* last seen per variable and scope; levels; updates sorted by rank; histograms */
    size_t words =
        gbsi_graph_n_last(plan->graph) + 2 * n + (n > plan->n_slots ? n : plan->n_slots) + 2;
    pointer = s->scratch;
    GBSI_TRY(
        gbsi_reserve(&pointer, &s->scratch_capacity, words, sizeof *s->scratch, "schedule", err));
    s->scratch = pointer;
cleanup:
    return status;
}

/* Stable counting sort of the updates `in` (indices into the sequence) by key[], into out. */
static void sort_by(const uint32_t *key, uint32_t n_keys, const uint32_t *in, uint32_t *out,
                    size_t n, uint32_t *histogram)
{
    memset(histogram, 0, ((size_t)n_keys + 1) * sizeof *histogram);
    for (size_t i = 0; i < n; ++i) {
        ++histogram[key[in == NULL ? i : in[i]] + 1];
    }
    for (uint32_t b = 0; b < n_keys; ++b) {
        histogram[b + 1] += histogram[b];
    }
    for (size_t i = 0; i < n; ++i) {
        uint32_t t = in == NULL ? (uint32_t)i : in[i];
        out[histogram[key[t]]++] = t;
    }
}

static bool extends(const gbsi_plan *plan, const gbsi_piece *piece, uint32_t slot)
{
    return piece->class_id == plan->class_id[slot] && piece->form == plan->form[slot] &&
           piece->arity == plan->arity[slot];
}

/* Cut the sorted updates, slots by place and levels by update, into batches and pieces. */
static gbs_status cut(const gbsi_plan *plan, const uint32_t *level, const uint32_t *update,
                      size_t n, gbsi_schedule *s, gbs_error *err)
{
    gbs_status status = GBS_OK;
    s->n_pieces = 0;
    s->n_batches = 0;
    for (size_t place = 0; place < n; ++place) {
        const uint32_t slot = s->slot[place];
        const bool new_batch = place == 0 || level[update[place]] != level[update[place - 1]];
        if (new_batch) {
            void *pointer = s->batch_start;
            GBSI_TRY(gbsi_reserve(&pointer, &s->batch_capacity, (size_t)s->n_batches + 2,
                                  sizeof *s->batch_start, "schedule", err));
            s->batch_start = pointer;
            s->batch_start[s->n_batches++] = s->n_pieces;
        }
        gbsi_piece *last = s->n_pieces > 0 ? &s->piece[s->n_pieces - 1] : NULL;
        if (new_batch || !extends(plan, last, slot)) {
            void *pointer = s->piece;
            GBSI_TRY(gbsi_reserve(&pointer, &s->piece_capacity, s->n_pieces + 1, sizeof *s->piece,
                                  "schedule", err));
            s->piece = pointer;
            s->piece[s->n_pieces++] = (gbsi_piece){.place = place,
                                                   .n = 1,
                                                   .first_slot = slot,
                                                   .arity = plan->arity[slot],
                                                   .class_id = plan->class_id[slot],
                                                   .form = plan->form[slot],
                                                   .contiguous = 1};
        } else {
            last->contiguous &= slot == last->first_slot + last->n;
            ++last->n;
        }
    }
    if (s->n_batches > 0) {
        s->batch_start[s->n_batches] = s->n_pieces;
    }
cleanup:
    return status;
}

gbs_status gbsi_plan_level(const gbsi_plan *plan, const uint32_t *sequence, size_t n,
                           gbsi_schedule *schedule, gbs_error *err)
{
    gbs_status status = GBS_OK;
    if (n >= UINT32_MAX) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "a pass of %zu updates; this version holds %u", n,
                         UINT32_MAX - 1);
    }
    GBSI_TRY(reserve(schedule, plan, n, err));
    uint32_t *last = schedule->scratch;
    uint32_t *level = last + gbsi_graph_n_last(plan->graph);
    uint32_t *by_rank = level + n;
    uint32_t *histogram = by_rank + n;
    uint32_t n_levels = 0;
    gbsi_graph_levels(plan->graph, sequence, n, last, level, &n_levels);
    uint32_t *rank = schedule->slot; /* by update; the slots by place take this room below */
    for (size_t t = 0; t < n; ++t) {
        rank[t] = plan->rank[plan->slot_of[sequence[t]]];
    }
    sort_by(rank, plan->n_slots, NULL, by_rank, n, histogram);
    uint32_t *update = schedule->slot;
    sort_by(level, n_levels, by_rank, update, n, histogram);
    memcpy(by_rank, update, n * sizeof *update);
    for (size_t place = 0; place < n; ++place) {
        schedule->slot[place] = plan->slot_of[sequence[by_rank[place]]];
    }
    for (size_t pad = 0; pad < 16; ++pad) {
        schedule->slot[n + pad] = n > 0 ? schedule->slot[n - 1] : 0;
    }
    if (schedule->wants_position) {
        memcpy(schedule->position, by_rank, n * sizeof *by_rank);
        for (size_t pad = 0; pad < 16; ++pad) {
            schedule->position[n + pad] = n > 0 ? by_rank[n - 1] : 0;
        }
    }
    schedule->n_places = n;
    GBSI_TRY(cut(plan, level, by_rank, n, schedule, err));
cleanup:
    return status;
}
