/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan_check.h"

#ifndef NDEBUG

#include <assert.h>
#include <string.h>

#include "graph/graph.h"
#include "plan/compile.h"
#include "plan/tile.h"

/* ---- plans --------------------------------------------------------------------------------- */

static void check_slots(const gbsi_plan *plan)
{
    uint32_t n_of_class[GBSI_N_CLASSES] = {0};
    assert(plan->value_bytes == 2 || plan->max_arity <= 256);
    assert(plan->n_sampled >= plan->n_slots);
    for (uint32_t s = 0; s < plan->n_slots; ++s) {
        const bool odds = (gbsi_plan_form(plan, s) & GBSI_ODDS) != 0;
        const uint32_t v = plan->variable_of[s];
        const uint32_t k = gbsi_plan_arity(plan, s);
        const size_t n_fields =
            gbsi_offset(&plan->field_start, s + (size_t)1) - gbsi_offset(&plan->field_start, s);
        assert(v < plan->n_slots &&
               plan->slot_of[v] == s); /* the slots are a permutation of the variables */
        assert(k == plan->model->arity[v] && k >= 2 && k <= plan->max_arity);
        assert(gbsi_plan_class(plan, s) < GBSI_CLASS_LATTICE);
        assert(!odds || k == 2);
        assert(n_fields == (odds ? 1 : k));
        ++n_of_class[gbsi_plan_class(plan, s)];
    }
    assert(memcmp(n_of_class, plan->n_of_class, sizeof n_of_class) == 0);
    assert(n_of_class[GBSI_CLASS_PRECISE] == 0 || plan->field64 != NULL);
}

/* Checks that each level is a range of successive slots, and that no level is empty. */
static void check_levels(const gbsi_plan *plan)
{
    for (uint32_t l = 0; plan->level_start != NULL && l < plan->n_levels; ++l) {
        assert(plan->level_start[l] < plan->level_start[l + 1]);
    }
    assert(plan->level_start == NULL ||
           (plan->level_start[0] == 0 && plan->level_start[plan->n_levels] == plan->n_slots));
}

/* Checks that the neighbours of a row ascend, without repetitions unless the slot has a by_count
 * table, and that padding is slot 0. */
static void check_row(const gbsi_plan *plan, uint32_t slot)
{
    const gbsi_class class_id = gbsi_plan_class(plan, slot);
    const bool odds = (gbsi_plan_form(plan, slot) & GBSI_ODDS) != 0;
    const uint32_t table = gbsi_plan_by_count(plan, slot);
    const gbsi_row row = gbsi_plan_row(plan, slot);
    const bool padded = row.step == GBSI_LANES && gbsi_has_couplings(class_id);
    for (uint32_t d = 0; d < row.n; ++d) {
        const uint32_t at = row.slot[d * row.step];
        const uint32_t before = d == 0 ? 0 : row.slot[(d - 1) * row.step];
        assert(at < plan->n_slots);
        assert(at != slot || (padded && at == 0)); /* a slot is not its own neighbour */
        assert(d == 0 || before < at || (before == at && table != GBSI_NONE) ||
               (padded && at == 0));
        assert(class_id != GBSI_CLASS_PAIRWISE ||
               row.base[d * row.step] + (size_t)gbsi_plan_arity(plan, at) *
                                            (odds ? 1 : gbsi_plan_arity(plan, slot)) <=
                   plan->n_pool);
    }
    assert(table == GBSI_NONE || gbsi_has_couplings(class_id));
    assert(table == GBSI_NONE || table + (size_t)row.n < plan->n_pool);
}

/* Checks that the entries that a term can read, for any states of the neighbours, lie inside its
 * pool. */
static void check_term(const gbsi_plan *plan, uint32_t slot, const gbsi_term *term)
{
    const bool odds = (gbsi_plan_form(plan, slot) & GBSI_ODDS) != 0;
    const bool precise = gbsi_plan_class(plan, slot) == GBSI_CLASS_PRECISE;
    size_t end = term->base + (odds ? 1 : gbsi_plan_arity(plan, slot));
    assert(term->n <= term->n_others && term->first + term->n <= plan->n_links);
    for (uint32_t i = 0; i < term->n; ++i) {
        const gbsi_link *link = &plan->link[term->first + i];
        assert(link->slot < plan->n_slots && link->slot != slot);
        end += (gbsi_plan_arity(plan, link->slot) - (size_t)1) * link->aux;
    }
    assert(term->kind != GBSI_TERM_TABLE || end <= (precise ? plan->n_pool64 : plan->n_pool));
    assert(term->kind != GBSI_TERM_NOISY || (precise && term->counter < plan->n_noisy));
    assert(term->kind == GBSI_TERM_NOISY || term->counter == GBSI_NONE ||
           term->counter < plan->n_counters);
}

static uint32_t lowest(const gbsi_plan *plan, const gbsi_term *term)
{
    uint32_t low = UINT32_MAX;
    for (uint32_t i = 0; i < term->n; ++i) {
        const uint32_t slot = plan->link[term->first + i].slot;
        low = slot < low ? slot : low;
    }
    return low;
}

/* Checks that the terms of a slot are in the order in which they must be summed [M2]. */
static void check_terms(const gbsi_plan *plan, uint32_t slot)
{
    const size_t first = gbsi_offset(&plan->term_start, slot);
    const size_t end = gbsi_offset(&plan->term_start, slot + (size_t)1);
    for (size_t t = first; t < end; ++t) {
        check_term(plan, slot, &plan->term[t]);
        assert(t == first || lowest(plan, &plan->term[t - 1]) <= lowest(plan, &plan->term[t]));
    }
}

/* Checks the links from a slot to the counters of long factors and to the sums of noisy factors,
 * which its updates change. */
static void check_moves(const gbsi_plan *plan, uint32_t slot)
{
    const uint32_t k = gbsi_plan_arity(plan, slot);
    if (plan->counter_start != NULL) {
        assert(plan->counter_start[slot] <= plan->counter_start[slot + (size_t)1]);
        for (size_t i = plan->counter_start[slot]; i < plan->counter_start[slot + (size_t)1]; ++i) {
            assert(plan->counter_link[i].counter < plan->n_counters);
            assert(plan->counter_link[i].literal < k);
        }
    }
    if (plan->cost_start != NULL) {
        assert(plan->cost_start[slot] <= plan->cost_start[slot + (size_t)1]);
        for (size_t i = plan->cost_start[slot]; i < plan->cost_start[slot + (size_t)1]; ++i) {
            assert(plan->cost_link[i].noisy < plan->n_noisy);
            assert(plan->cost_link[i].base + (size_t)k <= plan->n_costs);
        }
    }
}

/* Checks that a regular slice has sixteen slots, and that its elements are inside their arrays. */
static void check_slice(const gbsi_plan *plan, size_t i)
{
    const gbsi_sell *sell = &plan->sell;
    const gbsi_slice *s = &sell->slice[i];
    const bool couplings = gbsi_has_couplings(gbsi_plan_class(plan, (uint32_t)(16 * i)));
    const size_t n = (size_t)16 * s->width;
    if (!s->regular) {
        assert(s->counted + 17 <= sell->n_bases && s->link <= plan->n_ends);
        return;
    }
    assert(16 * (i + 1) <= plan->n_slots);
    assert(s->link + n * s->depth <= sell->n_links);
    assert(couplings || s->value + n <= sell->n_bases);
    assert(!couplings || s->table != GBSI_NONE || s->value + n <= sell->n_couplings);
    assert(!s->mixed || (s->table == GBSI_NONE && s->counted + 32 <= sell->n_bases));
}

void gbsi_plan_check(const gbsi_plan *plan, bool packed)
{
    check_slots(plan);
    check_levels(plan);
    for (uint32_t s = 0; s < plan->n_slots; ++s) {
        check_moves(plan, s);
        if (!gbsi_is_row_class(gbsi_plan_class(plan, s))) {
            check_terms(plan, s);
        } else if (packed) {
            check_row(plan, s);
        }
    }
    for (size_t i = 0; plan->sell.slice != NULL && i < ((size_t)plan->n_slots + 15) / 16; ++i) {
        check_slice(plan, i);
    }
}

/* ---- schedules ----------------------------------------------------------------------------- */

/* Checks that the slots of all places of a piece have the class, form and arity of the piece. */
static void check_piece(const gbsi_plan *plan, const gbsi_schedule *s, const gbsi_piece *piece)
{
    assert(piece->n > 0);
    assert(piece->contiguous || s->slot != NULL);
    for (uint32_t i = 0; i < piece->n; ++i) {
        const uint32_t slot = gbsi_piece_slot(s, piece, i);
        assert(slot < plan->n_slots);
        assert(s->slot == NULL || s->slot[piece->place + i] == slot);
        assert(gbsi_plan_class(plan, slot) == piece->class_id &&
               gbsi_plan_form(plan, slot) == piece->form &&
               gbsi_plan_arity(plan, slot) == piece->arity);
    }
}

void gbsi_schedule_check(const gbsi_plan *plan, const gbsi_schedule *schedule)
{
    uint64_t place = 0;
    assert(schedule->n_batches == 0 || schedule->batch_start[0] == 0);
    for (uint32_t b = 0; b < schedule->n_batches; ++b) {
        assert(schedule->batch_start[b] < schedule->batch_start[b + 1]);
    }
    assert(schedule->n_batches == 0 ||
           schedule->batch_start[schedule->n_batches] == schedule->n_pieces);
    for (size_t p = 0; p < schedule->n_pieces; ++p) {
        assert(schedule->piece[p].place == place); /* pieces follow each other without gaps */
        check_piece(plan, schedule, &schedule->piece[p]);
        place += schedule->piece[p].n;
    }
    assert(place == schedule->n_places);
}

/* Checks an update of v in batch `number` - 1. */
static void check_update(const gbsi_graph *graph, size_t v, uint32_t number, uint32_t *last)
{
    const size_t end = gbsi_graph_ends(graph, v + 1);
    uint32_t *of_scope = last + graph->n_variables;
    assert(last[v] != number);
    for (size_t i = gbsi_graph_ends(graph, v); i < end; ++i) {
        if (graph->neighbour != NULL) {
            assert(last[graph->neighbour[i]] != number);
        } else {
            assert(of_scope[graph->incident[i]] != number);
            of_scope[graph->incident[i]] = number;
        }
    }
    last[v] = number;
}

void gbsi_schedule_check_batches(const gbsi_plan *plan, const gbsi_schedule *schedule,
                                 uint32_t *last)
{
    const gbsi_graph *graph = plan->graph;
    assert(!graph->all ||
           schedule->n_batches ==
               schedule->n_places); /* all variables of the model are neighbours of one another */
    for (size_t i = 0; !graph->all && i < gbsi_graph_n_last(graph); ++i) {
        last[i] = 0;
    }
    for (uint32_t b = 0; !graph->all && b < schedule->n_batches; ++b) {
        for (size_t p = schedule->batch_start[b]; p < schedule->batch_start[b + 1]; ++p) {
            for (uint32_t i = 0; i < schedule->piece[p].n; ++i) {
                const uint32_t slot = gbsi_piece_slot(schedule, &schedule->piece[p], i);
                check_update(graph, plan->variable_of[slot], b + 1, last);
            }
        }
    }
}

#endif
