/* SPDX-License-Identifier: Apache-2.0 */
/* A share taken from the whole: the part of the model around its variables, then one walk through
 * the places of own variables and halo, which makes the schedule and the lists of what is sent. */
#include "share/share.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/builder.h"
#include "scan/scan.h"

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

/* ---- variables ----------------------------------------------------------------------------- */

/* While a share is made. */
typedef struct making {
    const gbsi_share_source *from;
    gbs_share *share;
    uint32_t *number; /* [whole variables] in the share; undefined for others */
    uint32_t *slot;   /* [share variables] */
    uint64_t *event;  /* [n_events] place << 32 | share variable, ascending */
    size_t n_events;
    uint32_t *index_of;               /* [n_ranks] among the neighbours; GBSI_NONE */
    size_t out_capacity, in_capacity; /* of lists */
    size_t n_out, n_in;
} making;

static uint32_t owner_of(const making *m, uint32_t u)
{
    return m->from->owner[m->share->of_whole[u]];
}

static gbsi_series_list dealt(const making *m, gbsi_dealt what)
{
    return gbsi_deal_of(m->from->deal, what, m->share->rank);
}

static size_t count_dealt(const making *m, gbsi_dealt what)
{
    const gbsi_series_list list = dealt(m, what);
    size_t n = 0;
    for (size_t i = 0; i < list.n; ++i) {
        n += list.at[i].n;
    }
    return n;
}

static gbs_status take_part(making *m, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_share *share = m->share;
    gbs_builder *builder = NULL;
    if (dealt(m, GBSI_DEALT_VARIABLES).n == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "rank %u owns no variable", share->rank);
    }
    GBSI_TRY(gbsi_conditioned_pick(m->from->part, dealt(m, GBSI_DEALT_VARIABLES),
                                   dealt(m, GBSI_DEALT_FACTORS), &share->part, err));
    GBSI_TRY(gbs_builder_new(&builder, err));
    GBSI_TRY(gbs_builder_build(builder, &share->nothing, err));
cleanup:
    gbs_builder_free(builder);
    return status;
}

static gbs_status reserve_variables(making *m, gbs_error *err)
{
    gbs_share *share = m->share;
    const uint32_t n = share->part->n_variables;
    share->of_whole = gbsi_alloc_array(n, sizeof *share->of_whole);
    share->user_arity = gbsi_alloc_array(n, sizeof *share->user_arity);
    share->own = gbsi_alloc_array(n, 1);
    share->by_count = gbsi_alloc_array_zero(n, 1);
    share->order = gbsi_alloc_array(n, sizeof *share->order);
    share->whole_slot = gbsi_alloc_array(n, sizeof *share->whole_slot);
    m->number = gbsi_alloc_array(m->from->part->n_variables, sizeof *m->number);
    m->slot = gbsi_alloc_array(n, sizeof *m->slot);
    return share->of_whole == NULL || share->user_arity == NULL || share->own == NULL ||
                   share->by_count == NULL || share->order == NULL || share->whole_slot == NULL ||
                   m->number == NULL || m->slot == NULL
               ? gbsi_no_memory(err, "share of a model", (size_t)n * 20)
               : GBS_OK;
}

/* What is known of each variable. */
static gbs_status describe(making *m, gbs_error *err)
{
    gbs_share *share = m->share;
    const gbsi_plan *plan = m->from->plan;
    const gbsi_series_list variables = dealt(m, GBSI_DEALT_VARIABLES);
    const gbsi_series_list slots = dealt(m, GBSI_DEALT_SLOTS);
    const gbs_status status = reserve_variables(m, err);
    uint32_t u = 0;
    uint32_t n_slots = 0;
    for (size_t i = 0; status >= 0 && i < variables.n; ++i) {
        for (uint64_t k = 0; k < variables.at[i].n; ++k, ++u) {
            const uint32_t v = (uint32_t)(variables.at[i].first + k);
            m->number[v] = u;
            share->of_whole[u] = v;
            share->user_arity[u] = m->from->part->model->arity[share->part->user_variable[u]];
            share->own[u] = m->from->owner[v] == share->rank;
            share->n_own += share->own[u];
        }
    }
    for (size_t i = 0; status >= 0 && i < slots.n; ++i) {
        for (uint64_t k = 0; k < slots.at[i].n; ++k, ++n_slots) {
            const uint32_t slot = (uint32_t)(slots.at[i].first + k);
            u = m->number[plan->variable_of[slot]];
            share->by_count[u] = share->own[u] != 0 && gbsi_plan_by_count(plan, slot) != GBSI_NONE;
            m->slot[u] = n_slots;
            share->whole_slot[n_slots] = slot;
            share->order[n_slots] = u;
        }
    }
    return status;
}

/* ---- neighbours ---------------------------------------------------------------------------- */

/* Entries of a share's variable among those seen: from the first on, while it is seen. */
static size_t first_seen(const making *m, uint32_t u)
{
    return gbsi_deal_first_seen(m->from->deal, m->share->of_whole[u]);
}

static bool is_seen(const making *m, uint32_t u, size_t i)
{
    const gbsi_deal *deal = m->from->deal;
    return i < deal->n_seen && deal->seen[i] >> 32 == m->share->of_whole[u];
}

/* Who sees an own variable is whose variables are in the halo. */
static gbs_status find_neighbours(making *m, gbs_error *err)
{
    gbs_share *share = m->share;
    const size_t n_ranks = share->facts.n_ranks;
    m->index_of = gbsi_alloc_array(n_ranks, sizeof *m->index_of);
    share->neighbour = gbsi_alloc_array(n_ranks, sizeof *share->neighbour);
    if (m->index_of == NULL || share->neighbour == NULL) {
        return gbsi_no_memory(err, "share of a model", n_ranks * sizeof *m->index_of);
    }
    memset(m->index_of, 0xff, n_ranks * sizeof *m->index_of);
    for (uint32_t u = 0; u < share->part->n_variables; ++u) {
        for (size_t i = first_seen(m, u); share->own[u] != 0 && is_seen(m, u, i); ++i) {
            m->index_of[(uint32_t)m->from->deal->seen[i]] = 0;
        }
    }
    for (uint32_t rank = 0; rank < n_ranks; ++rank) {
        if (m->index_of[rank] == 0) {
            m->index_of[rank] = share->n_neighbours;
            share->neighbour[share->n_neighbours++] = rank;
        }
    }
    return GBS_OK;
}

/* ---- updates ------------------------------------------------------------------------------- */

/* Places of own variables and halo. */
static gbs_status find_events(making *m, gbs_error *err)
{
    const gbsi_series_list places = dealt(m, GBSI_DEALT_PLACES);
    const size_t n = count_dealt(m, GBSI_DEALT_PLACES);
    m->event = gbsi_alloc_array(n, sizeof *m->event);
    if (m->event == NULL) {
        return gbsi_no_memory(err, "share of a model", n * sizeof *m->event);
    }
    for (size_t i = 0; i < places.n; ++i) {
        for (uint64_t k = 0; k < places.at[i].n; ++k) {
            const uint64_t place = places.at[i].first + k;
            const uint32_t slot = m->from->schedule->slot[place];
            m->event[m->n_events++] = place << 32 | m->number[m->from->plan->variable_of[slot]];
        }
    }
    return GBS_OK;
}

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

/* The updates of one batch, events [first, end), that neighbour j sends or gets. */
static gbs_status list_values(making *m, size_t first, size_t end, uint32_t j, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_share *share = m->share;
    for (size_t i = first; i < end; ++i) {
        const uint32_t u = (uint32_t)m->event[i];
        if (share->own[u] == 0) {
            if (m->index_of[owner_of(m, u)] == j) {
                GBSI_TRY(put_slot(&share->in, &m->n_in, &m->in_capacity, m->slot[u], err));
            }
            continue;
        }
        for (size_t k = first_seen(m, u); is_seen(m, u, k); ++k) {
            if ((uint32_t)m->from->deal->seen[k] == share->neighbour[j]) {
                GBSI_TRY(put_slot(&share->out, &m->n_out, &m->out_capacity, m->slot[u], err));
            }
        }
    }
cleanup:
    return status;
}

/* One more update, to the last piece where it goes on from there. */
static gbs_status put_update(making *m, uint64_t place, const gbsi_piece *like, uint32_t u,
                             gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_share *share = m->share;
    gbsi_schedule *s = &share->schedule;
    const uint32_t slot = m->slot[u];
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
    s->position[s->n_places++] = m->from->schedule->position[place];
cleanup:
    return status;
}

/* Own updates among events [first, end) that others see, or the others.
 * @param piece in and out: of the whole, that of the first event or one before. */
static gbs_status put_updates(making *m, size_t first, size_t end, bool seen, size_t piece,
                              gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_schedule *whole = m->from->schedule;
    gbsi_schedule *s = &m->share->schedule;
    s->batch_start[s->n_batches++] = s->n_pieces;
    for (size_t i = first; i < end; ++i) {
        const uint32_t u = (uint32_t)m->event[i];
        const uint64_t place = m->event[i] >> 32;
        while (place >= whole->piece[piece].place + whole->piece[piece].n) {
            ++piece;
        }
        if (m->share->own[u] != 0 && is_seen(m, u, first_seen(m, u)) == seen) {
            GBSI_TRY(put_update(m, place, &whole->piece[piece], u, err));
        }
    }
cleanup:
    return status;
}

static gbs_status take_schedule(making *m, gbs_error *err)
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
    return s->batch_start == NULL || s->slot == NULL || s->position == NULL ||
                   share->out.start == NULL || share->in.start == NULL
               ? gbsi_no_memory(err, "share of a model", n_lists * 16 + n_own * 8)
               : GBS_OK;
}

/* The slots behind the last place are read with a tile, and so are the positions. */
static void pad(gbsi_schedule *s)
{
    const uint64_t n = s->n_places;
    for (uint32_t i = 0; i < 16; ++i) {
        s->slot[n + i] = n > 0 ? s->slot[n - 1] : 0;
        s->position[n + i] = n > 0 ? s->position[n - 1] : 0;
    }
    s->batch_start[s->n_batches] = s->n_pieces;
}

static gbs_status walk(making *m, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_share *share = m->share;
    const gbsi_schedule *whole = m->from->schedule;
    size_t n_lists = 0;
    size_t event = 0;
    GBSI_TRY(find_events(m, err));
    GBSI_TRY(take_schedule(m, err));
    for (uint32_t b = 0; b < whole->n_batches; ++b) {
        const size_t piece = whole->batch_start[b];
        const uint64_t end_place = b + 1 < whole->n_batches
                                       ? whole->piece[whole->batch_start[b + 1]].place
                                       : whole->n_places;
        const size_t first = event;
        while (event < m->n_events && m->event[event] >> 32 < end_place) {
            ++event;
        }
        GBSI_TRY(put_updates(m, first, event, true, piece, err));
        GBSI_TRY(put_updates(m, first, event, false, piece, err));
        for (uint32_t j = 0; j < share->n_neighbours; ++j) {
            share->out.start[n_lists] = m->n_out;
            share->in.start[n_lists++] = m->n_in;
            GBSI_TRY(list_values(m, first, event, j, err));
        }
    }
    share->out.start[n_lists] = m->n_out;
    share->in.start[n_lists] = m->n_in;
    pad(&share->schedule);
    share->schedule.global = share->global;
cleanup:
    return status;
}

/* ---- all of it ----------------------------------------------------------------------------- */

static gbs_status list_fixed(making *m, gbs_error *err)
{
    gbs_share *share = m->share;
    const gbsi_conditioned *whole = m->from->part;
    const gbs_model *model = whole->model;
    if (share->rank != 0) {
        return GBS_OK;
    }
    for (uint32_t u = 0; u < model->n_variables; ++u) {
        share->n_fixed += whole->free_variable[u] == GBSI_NONE;
    }
    share->fixed_variable = gbsi_alloc_array(share->n_fixed, sizeof *share->fixed_variable);
    share->fixed_arity = gbsi_alloc_array(share->n_fixed, sizeof *share->fixed_arity);
    share->fixed_state = gbsi_alloc_array(share->n_fixed, sizeof *share->fixed_state);
    if (share->fixed_variable == NULL || share->fixed_arity == NULL || share->fixed_state == NULL) {
        return gbsi_no_memory(err, "share of a model", (size_t)share->n_fixed * 12);
    }
    for (uint32_t u = 0, n = 0; u < model->n_variables; ++u) {
        if (whole->free_variable[u] == GBSI_NONE) {
            share->fixed_variable[n] = u;
            share->fixed_arity[n] = model->arity[u];
            share->fixed_state[n++] = whole->fixed_state[u];
        }
    }
    return GBS_OK;
}

static gbs_status take_starts(making *m, gbs_error *err)
{
    gbs_share *share = m->share;
    const size_t n = share->part->n_variables;
    const size_t n_whole = m->from->part->n_variables;
    share->start = gbsi_alloc_array(share->facts.n_starts * n, sizeof *share->start);
    if (share->start == NULL) {
        return gbsi_no_memory(err, "starts", share->facts.n_starts * n * sizeof *share->start);
    }
    for (size_t chain = 0; chain < share->facts.n_starts; ++chain) {
        for (size_t u = 0; u < n; ++u) {
            share->start[chain * n + u] = m->from->start[chain * n_whole + share->of_whole[u]];
        }
    }
    return GBS_OK;
}

gbs_status gbsi_share_make(const gbsi_share_source *source, uint32_t rank, gbs_share **out,
                           gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_share *share = gbsi_alloc_zero(sizeof *share);
    making m = {.from = source, .share = share};
    if (share == NULL) {
        return gbsi_no_memory(err, "share of a model", sizeof *share);
    }
    assert(source->schedule->slot != NULL && source->schedule->position != NULL);
    share->facts = source->facts;
    share->rank = rank;
    GBSI_TRY(take_part(&m, err));
    GBSI_TRY(describe(&m, err));
    GBSI_TRY(find_neighbours(&m, err));
    GBSI_TRY(walk(&m, err));
    GBSI_TRY(list_fixed(&m, err));
    GBSI_TRY(take_starts(&m, err));
    share->part->model = share->nothing; /* the whole is not there when a share is used */
    *out = share;
    share = NULL;
cleanup:
    gbs_share_free(share);
    gbsi_free(m.number);
    gbsi_free(m.slot);
    gbsi_free(m.event);
    gbsi_free(m.index_of);
    return status;
}
