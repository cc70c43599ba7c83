/* SPDX-License-Identifier: Apache-2.0 */
/* Finishes a share whose variables are known. One walk through the places of own variables and of
 * the halo makes the schedule and the lists of values to send. */
#include "ranks/share.h"
#include "ranks/making.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "scan/scan.h"
#include "store/builder.h"

void gbs_share_free(gbs_share *share)
{
    if (share == NULL) {
        return;
    }
    gbsi_conditioned_free(share->part);
    gbs_model_free(share->nothing);
    share->schedule.global = NULL;
    gbsi_schedule_free(&share->schedule);
    void *const owned[] = {share->path,
                           share->of_whole,
                           share->start,
                           share->user_arity,
                           share->own,
                           share->whole_slot,
                           share->order,
                           share->by_count,
                           share->global,
                           share->neighbour,
                           share->out.start,
                           share->out.slot,
                           share->in.start,
                           share->in.slot,
                           share->fixed_arity,
                           share->fixed_state,
                           share->fixed_variable,
                           share};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; ++i) {
        gbsi_free(owned[i]);
    }
}

uint64_t gbsi_share_bytes(const gbs_share *share)
{
    const gbsi_schedule *s = &share->schedule;
    const size_t n_lists = (size_t)share->facts.n_batches * share->n_neighbours;
    const uint64_t listed = share->out.start[n_lists] + share->in.start[n_lists];
    uint64_t bytes = gbsi_conditioned_bytes(share->part);
    bytes += (uint64_t)share->part->n_variables * 18 + (uint64_t)share->n_fixed * 12;
    bytes += share->facts.n_starts * share->part->n_variables * sizeof *share->start;
    bytes += s->n_pieces * (sizeof *s->piece + sizeof *share->global);
    bytes += s->n_batches * sizeof *s->batch_start + s->n_places * 8;
    return bytes + 2 * n_lists * sizeof *share->out.start + listed * sizeof *share->out.slot;
}

gbsi_plan_options gbsi_share_plan_options(const gbs_share *share, bool sell)
{
    const bool repeats = (gbsi_scan_traits((int)share->facts.scan) & GBSI_SCAN_REPEATS) != 0;
    return (gbsi_plan_options){.repeats = repeats,
                               .sell = sell,
                               .order = share->order,
                               .by_count = share->by_count,
                               .density_units = share->facts.density_units,
                               .n_sampled = (uint32_t)share->facts.n_free};
}

/* ---- what is known ------------------------------------------------------------------------- */

gbs_status gbsi_making_init(gbsi_making *m, const gbsi_share_facts *facts, uint32_t rank,
                            gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_builder *builder = NULL;
    *m = (gbsi_making){.share = gbsi_alloc_zero(sizeof *m->share)};
    if (m->share == NULL) {
        return gbsi_no_memory(err, "share of a model", sizeof *m->share);
    }
    m->share->facts = *facts;
    m->share->rank = rank;
    GBSI_TRY(gbs_builder_new(&builder, err));
    GBSI_TRY(gbs_builder_build(builder, &m->share->nothing, err));
cleanup:
    gbs_builder_free(builder);
    return status;
}

void gbsi_making_free(gbsi_making *m)
{
    gbs_share_free(m->share);
    GBSI_FREE(m->owner, m->slot, m->seen, m->event, m->position, m->index_of);
}

gbs_status gbsi_making_reserve(gbsi_making *m, uint32_t n, gbs_error *err)
{
    gbs_share *share = m->share;
    share->of_whole = gbsi_alloc_array(n, sizeof *share->of_whole);
    share->user_arity = gbsi_alloc_array(n, sizeof *share->user_arity);
    share->own = gbsi_alloc_array(n, 1);
    share->by_count = gbsi_alloc_array_zero(n, 1);
    share->order = gbsi_alloc_array(n, sizeof *share->order);
    share->whole_slot = gbsi_alloc_array(n, sizeof *share->whole_slot);
    m->owner = gbsi_alloc_array(n, sizeof *m->owner);
    m->slot = gbsi_alloc_array(n, sizeof *m->slot);
    return GBSI_HAVE(err, "share of a model", share->of_whole, share->user_arity, share->own,
                     share->by_count, share->order, share->whole_slot, m->owner, m->slot);
}

gbs_status gbsi_making_reserve_events(gbsi_making *m, size_t n, gbs_error *err)
{
    m->event = gbsi_alloc_array(n, sizeof *m->event);
    m->position = gbsi_alloc_array(n, sizeof *m->position);
    return GBSI_HAVE(err, "share of a model", m->event, m->position);
}

gbs_status gbsi_making_see(gbsi_making *m, uint32_t u, uint32_t rank, gbs_error *err)
{
    assert(m->share->own[u] != 0 && rank != m->share->rank);
    void *pointer = m->seen;
    const gbs_status status = gbsi_reserve(&pointer, &m->seen_capacity, m->n_seen + 1,
                                           sizeof *m->seen, "share of a model", err);
    m->seen = pointer;
    if (status >= 0) {
        m->seen[m->n_seen++] = (uint64_t)u << 32 | rank;
    }
    return status;
}

/* ---- neighbours ---------------------------------------------------------------------------- */

/* Index in `seen` of the first entry of an own variable. */
static size_t first_seen(const gbsi_making *m, uint32_t u)
{
    size_t low = 0;
    size_t high = m->n_seen;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (m->seen[middle] >> 32 < u) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool is_seen(const gbsi_making *m, uint32_t u, size_t i)
{
    return i < m->n_seen && m->seen[i] >> 32 == u;
}

#ifndef NDEBUG
/* Asserts that entries of `seen` occur once, in ascending order, and that each rank whose variables
 * are in the halo is a neighbour. */
static void check_halo(const gbsi_making *m)
{
    for (size_t i = 1; i < m->n_seen; ++i) {
        assert(m->seen[i - 1] < m->seen[i]);
    }
    for (uint32_t u = 0; u < m->share->part->n_variables; ++u) {
        assert((m->owner[u] == m->share->rank) == (m->share->own[u] != 0));
        assert(m->share->own[u] != 0 || m->index_of[m->owner[u]] != GBSI_NONE);
    }
}
#endif

/* Finds the neighbours. A rank that sees an own variable has variables in the halo of this rank. */
static gbs_status find_neighbours(gbsi_making *m, gbs_error *err)
{
    gbs_share *share = m->share;
    const size_t n_ranks = share->facts.n_ranks;
    m->index_of = gbsi_alloc_array(n_ranks, sizeof *m->index_of);
    share->neighbour = gbsi_alloc_array(n_ranks, sizeof *share->neighbour);
    GBSI_PASS(GBSI_HAVE(err, "share of a model", m->index_of, share->neighbour));
    memset(m->index_of, 0xff, n_ranks * sizeof *m->index_of);
    for (size_t i = 0; i < m->n_seen; ++i) {
        m->index_of[(uint32_t)m->seen[i]] = 0;
    }
    for (uint32_t rank = 0; rank < n_ranks; ++rank) {
        if (m->index_of[rank] == 0) {
            m->index_of[rank] = share->n_neighbours;
            share->neighbour[share->n_neighbours++] = rank;
        }
    }
#ifndef NDEBUG
    check_halo(m);
#endif
    return GBS_OK;
}

/* ---- updates ------------------------------------------------------------------------------- */

static gbs_status put_slot(gbsi_share_lists *list, size_t *n, size_t *capacity, uint32_t slot,
                           gbs_error *err)
{
    void *pointer = list->slot;
    const gbs_status status =
        gbsi_reserve(&pointer, capacity, *n + 1, sizeof *list->slot, "share of a model", err);
    list->slot = pointer;
    if (status >= 0) {
        list->slot[(*n)++] = slot;
    }
    return status;
}

/* Lists the updates in one batch, events [first, end), whose values are received from neighbour j
 * or sent to it.
 */
static gbs_status list_values(gbsi_making *m, size_t first, size_t end, uint32_t j, gbs_error *err)
{
    gbs_share *share = m->share;
    for (size_t i = first; i < end; ++i) {
        const uint32_t u = (uint32_t)m->event[i];
        if (share->own[u] == 0) {
            if (m->index_of[m->owner[u]] == j) {
                GBSI_PASS(put_slot(&share->in, &m->n_in, &m->in_capacity, m->slot[u], err));
            }
            continue;
        }
        for (size_t k = first_seen(m, u); is_seen(m, u, k); ++k) {
            if ((uint32_t)m->seen[k] == share->neighbour[j]) {
                GBSI_PASS(put_slot(&share->out, &m->n_out, &m->out_capacity, m->slot[u], err));
            }
        }
    }
    return GBS_OK;
}

/* Appends the update of an event to the last piece if the update continues this piece; otherwise
 * begins a new piece with the update. */
static gbs_status put_update(gbsi_making *m, size_t event, const gbsi_piece *like, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_share *share = m->share;
    gbsi_schedule *s = &share->schedule;
    const uint64_t place = m->event[event] >> 32;
    const uint32_t slot = m->slot[(uint32_t)m->event[event]];
    gbsi_piece *last =
        s->n_pieces > s->batch_start[s->n_batches - 1] ? &s->piece[s->n_pieces - 1] : NULL;
    const bool extends = last != NULL && last->class_id == like->class_id &&
                         last->form == like->form && last->arity == like->arity &&
                         share->global[s->n_pieces - 1] + last->n == place;
    if (extends) {
        last->contiguous &= slot == last->first_slot + last->n;
        ++last->n;
    } else {
        const size_t before = s->piece_capacity;
        size_t capacity = before;
        void *pointer = s->piece;
        status = gbsi_reserve(&pointer, &s->piece_capacity, s->n_pieces + 1, sizeof *s->piece,
                              "share of a model", err);
        s->piece = pointer;
        GBSI_TRY(status);
        pointer = share->global;
        status = gbsi_reserve(&pointer, &capacity, s->n_pieces + 1, sizeof *share->global,
                              "share of a model", err);
        share->global = pointer;
        GBSI_TRY(status);
        share->global[s->n_pieces] = place;
        s->piece[s->n_pieces++] = (gbsi_piece){.place = s->n_places,
                                               .n = 1,
                                               .first_slot = slot,
                                               .arity = like->arity,
                                               .class_id = like->class_id,
                                               .form = like->form,
                                               .contiguous = 1,
                                               .counts = like->counts};
    }
    s->slot[s->n_places] = slot;
    s->position[s->n_places++] = m->position[event];
cleanup:
    return status;
}

/* Appends own updates among events [first, end): if `seen`, the updates whose values other ranks
 * need, else all other own updates. @param piece in and out: the piece of the whole model that has
 * the first event, or an earlier piece. */
static gbs_status put_updates(gbsi_making *m, size_t first, size_t end, bool seen, size_t piece,
                              gbs_error *err)
{
    const gbsi_schedule *whole = m->whole;
    gbsi_schedule *s = &m->share->schedule;
    s->batch_start[s->n_batches++] = s->n_pieces;
    for (size_t i = first; i < end; ++i) {
        const uint32_t u = (uint32_t)m->event[i];
        const uint64_t place = m->event[i] >> 32;
        while (place >= whole->piece[piece].place + whole->piece[piece].n) {
            ++piece;
        }
        if (m->share->own[u] != 0 && is_seen(m, u, first_seen(m, u)) == seen) {
            GBSI_PASS(put_update(m, i, &whole->piece[piece], err));
        }
    }
    return GBS_OK;
}

static gbs_status take_schedule(gbsi_making *m, gbs_error *err)
{
    gbs_share *share = m->share;
    gbsi_schedule *s = &share->schedule;
    const size_t n_lists = (size_t)share->facts.n_batches * share->n_neighbours + 1;
    size_t n_own = 0;
    for (size_t i = 0; i < m->n_events; ++i) {
        n_own += share->own[(uint32_t)m->event[i]];
    }
    s->batch_start =
        gbsi_alloc_array(2 * (size_t)share->facts.n_batches + 1, sizeof *s->batch_start);
    s->slot = gbsi_alloc_array(n_own + 16, sizeof *s->slot);
    s->position = gbsi_alloc_array(n_own + 16, sizeof *s->position);
    share->out.start = gbsi_alloc_array(n_lists, sizeof *share->out.start);
    share->in.start = gbsi_alloc_array(n_lists, sizeof *share->in.start);
    return GBSI_HAVE(err, "share of a model", s->batch_start, s->slot, s->position,
                     share->out.start, share->in.start);
}

/* Pads the arrays, because a tile reads slots and positions even behind the last place.
 */
static void pad(gbsi_schedule *s)
{
    const uint64_t n = s->n_places;
    for (uint32_t i = 0; i < 16; ++i) {
        s->slot[n + i] = n > 0 ? s->slot[n - 1] : 0;
        s->position[n + i] = n > 0 ? s->position[n - 1] : 0;
    }
    s->batch_start[s->n_batches] = s->n_pieces;
}

static gbs_status walk(gbsi_making *m, gbs_error *err)
{
    gbs_share *share = m->share;
    const gbsi_schedule *whole = m->whole;
    size_t n_lists = 0;
    size_t event = 0;
    GBSI_PASS(take_schedule(m, err));
    for (uint32_t b = 0; b < whole->n_batches; ++b) {
        const size_t piece = whole->batch_start[b];
        const uint64_t end_place = b + 1 < whole->n_batches
                                       ? whole->piece[whole->batch_start[b + 1]].place
                                       : whole->n_places;
        const size_t first = event;
        while (event < m->n_events && m->event[event] >> 32 < end_place) {
            ++event;
        }
        GBSI_PASS(put_updates(m, first, event, true, piece, err));
        GBSI_PASS(put_updates(m, first, event, false, piece, err));
        for (uint32_t j = 0; j < share->n_neighbours; ++j) {
            share->out.start[n_lists] = m->n_out;
            share->in.start[n_lists++] = m->n_in;
            GBSI_PASS(list_values(m, first, event, j, err));
        }
    }
    assert(event == m->n_events); /* every event is now an update in the schedule, or an update of a
                                     variable of the halo */
    assert(n_lists == (size_t)share->facts.n_batches * share->n_neighbours);
    share->out.start[n_lists] = m->n_out;
    share->in.start[n_lists] = m->n_in;
    pad(&share->schedule);
    share->schedule.global = share->global;
    return GBS_OK;
}

gbs_status gbsi_making_finish(gbsi_making *m, gbs_share **out, gbs_error *err)
{
    GBSI_PASS(find_neighbours(m, err));
    GBSI_PASS(walk(m, err));
    assert(gbsi_share_check(m->share, NULL) ==
           GBS_OK); /* a share that fails this check could not be loaded from a file */
    m->share->part->model = m->share->nothing; /* no rank that uses a share has the whole model */
    *out = m->share;
    m->share = NULL;
    return GBS_OK;
}
