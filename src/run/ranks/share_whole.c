/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a share from the whole model: copies the variables and factors dealt to its rank. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "ranks/making.h"

typedef struct taking {
    gbsi_making making;
    const gbsi_share_source *from;
    uint32_t *number; /* [whole variables] number of each variable in the share; undefined for
                         variables outside the share */
} taking;

static gbsi_series_list dealt(const taking *m, gbsi_dealt what)
{
    return gbsi_deal_of(m->from->deal, what, m->making.share->rank);
}

static size_t count_dealt(const taking *m, gbsi_dealt what)
{
    const gbsi_series_list list = dealt(m, what);
    size_t n = 0;
    for (size_t i = 0; i < list.n; ++i) {
        n += list.at[i].n;
    }
    return n;
}

/* Sets the data of each variable of the share. */
static gbs_status describe(taking *m, gbs_error *err)
{
    gbs_share *share = m->making.share;
    const gbsi_plan *plan = m->from->plan;
    const gbsi_series_list variables = dealt(m, GBSI_DEALT_VARIABLES);
    const gbsi_series_list slots = dealt(m, GBSI_DEALT_SLOTS);
    gbs_status status = gbsi_making_reserve(&m->making, share->part->n_variables, err);
    uint32_t u = 0;
    uint32_t n_slots = 0;
    for (size_t i = 0; status >= 0 && i < variables.n; ++i) {
        for (uint64_t k = 0; k < variables.at[i].n; ++k, ++u) {
            const uint32_t v = (uint32_t)(variables.at[i].first + k);
            assert(u == 0 ||
                   share->of_whole[u - 1] < v); /* variables have the order of the whole model */
            m->number[v] = u;
            share->of_whole[u] = v;
            share->user_arity[u] = m->from->part->model->arity[share->part->user_variable[u]];
            m->making.owner[u] = m->from->owner[v];
            share->own[u] = m->from->owner[v] == share->rank;
            share->n_own += share->own[u];
        }
    }
    for (size_t i = 0; status >= 0 && i < slots.n; ++i) {
        for (uint64_t k = 0; k < slots.at[i].n; ++k, ++n_slots) {
            const uint32_t slot = (uint32_t)(slots.at[i].first + k);
            u = m->number[plan->variable_of[slot]];
            share->by_count[u] = share->own[u] != 0 && gbsi_plan_by_count(plan, slot) != GBSI_NONE;
            m->making.slot[u] = n_slots;
            share->whole_slot[n_slots] = slot;
            share->order[n_slots] = u;
        }
    }
    assert(status < 0 || n_slots == share->part->n_variables); /* each variable has a slot */
    return status;
}

/* Finds the ranks that see each own variable. */
static gbs_status take_seen(taking *m, gbs_error *err)
{
    const gbsi_deal *deal = m->from->deal;
    const gbs_share *share = m->making.share;
    for (uint32_t u = 0; u < share->part->n_variables; ++u) {
        const uint32_t v = share->of_whole[u];
        for (size_t i = gbsi_deal_first_seen(deal, v);
             share->own[u] != 0 && i < deal->n_seen && deal->seen[i] >> 32 == v; ++i) {
            GBSI_PASS(gbsi_making_see(&m->making, u, (uint32_t)deal->seen[i], err));
        }
    }
    return GBS_OK;
}

/* Finds the places of the updates of own variables and of the halo. */
static gbs_status find_events(taking *m, gbs_error *err)
{
    const gbsi_series_list places = dealt(m, GBSI_DEALT_PLACES);
    const size_t n = count_dealt(m, GBSI_DEALT_PLACES);
    const gbs_status status = gbsi_making_reserve_events(&m->making, n, err);
    for (size_t i = 0; status >= 0 && i < places.n; ++i) {
        for (uint64_t k = 0; k < places.at[i].n; ++k) {
            const uint64_t place = places.at[i].first + k;
            const uint32_t slot = m->from->schedule->slot[place];
            m->making.position[m->making.n_events] = m->from->schedule->position[place];
            m->making.event[m->making.n_events++] =
                place << 32 | m->number[m->from->plan->variable_of[slot]];
            assert(m->making.n_events <= n);
        }
    }
    return status;
}

static gbs_status list_fixed(taking *m, gbs_error *err)
{
    gbs_share *share = m->making.share;
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
    GBSI_PASS(GBSI_HAVE(err, "share of a model", share->fixed_variable, share->fixed_arity,
                        share->fixed_state));
    for (uint32_t u = 0, n = 0; u < model->n_variables; ++u) {
        if (whole->free_variable[u] == GBSI_NONE) {
            share->fixed_variable[n] = u;
            share->fixed_arity[n] = model->arity[u];
            share->fixed_state[n++] = whole->fixed_state[u];
        }
    }
    return GBS_OK;
}

static gbs_status take_starts(taking *m, gbs_error *err)
{
    gbs_share *share = m->making.share;
    const size_t n = share->part->n_variables;
    const size_t n_whole = m->from->part->n_variables;
    share->start = gbsi_alloc_array(share->facts.n_starts * n, sizeof *share->start);
    GBSI_PASS(GBSI_HAVE(err, "starts", share->start));
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
    taking m = {.from = source};
    assert(source->schedule->slot != NULL && source->schedule->position != NULL);
    GBSI_TRY(gbsi_making_init(&m.making, &source->facts, rank, err));
    m.making.whole = source->schedule;
    m.number = gbsi_alloc_array(source->part->n_variables, sizeof *m.number);
    GBSI_TRY(GBSI_HAVE(err, "share of a model", m.number));
    if (dealt(&m, GBSI_DEALT_VARIABLES).n == 0) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_ARGUMENT, "rank %u owns no variable", rank));
    }
    GBSI_TRY(gbsi_conditioned_pick(source->part, dealt(&m, GBSI_DEALT_VARIABLES),
                                   dealt(&m, GBSI_DEALT_FACTORS), &m.making.share->part, err));
    GBSI_TRY(describe(&m, err));
    GBSI_TRY(take_seen(&m, err));
    GBSI_TRY(find_events(&m, err));
    GBSI_TRY(list_fixed(&m, err));
    GBSI_TRY(take_starts(&m, err));
    GBSI_TRY(gbsi_making_finish(&m.making, out, err));
cleanup:
    gbsi_making_free(&m.making);
    gbsi_free(m.number);
    return status;
}
