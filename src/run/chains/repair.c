/* SPDX-License-Identifier: Apache-2.0 */
#include "chains/repair.h"

#include <assert.h>
#include <math.h>

#include "base/memory.h"
#include "chains/repair_internal.h"
#include "rng/philox.h"

enum {
    N_BACKTRACKS = 100, /* number of backtracks of the first restart; the n-th restart may do n
                           times as many */
    WINDOW = 1024,      /* operations of a decision of the search by assignment, at most */
};

/* Operations that all searches by assignment together may take if none backtracks. A component so
 * large that fewer attempts fit gets fewer. */
#define MOST_SEARCHING ((uint64_t)1 << 20)

/* ---- components ---------------------------------------------------------------------------- */

/* Puts all variables that hard factors link to v into one component, in breadth-first order. @param
 * queue [n_variables]. */
static void flood(gbsi_repair *r, uint32_t v, uint32_t *queue)
{
    const gbsi_propagation *p = r->propagation;
    uint32_t head = 0;
    uint32_t tail = 0;
    r->component[v] = r->n_components;
    queue[tail++] = v;
    while (head < tail) {
        const size_t u = queue[head++];
        if (gbsi_watch_spend(r->watch, 4 * (p->incident_start[u + 1] - p->incident_start[u]))) {
            return;
        }
        for (size_t i = p->incident_start[u]; i < p->incident_start[u + 1]; ++i) {
            const size_t f = p->hard[p->incident[i]];
            /* a long clause is visited only once: where[] marks the places that were visited */
            if (r->where[p->incident[i]] == 0) {
                continue;
            }
            r->where[p->incident[i]] = 0;
            for (size_t s = p->factors->scope_start[f]; s < p->factors->scope_start[f + 1]; ++s) {
                const uint32_t w = p->factors->scope[s];
                if (r->component[w] == GBSI_NONE) {
                    r->component[w] = r->n_components;
                    queue[tail++] = w;
                }
            }
        }
    }
    ++r->n_components;
}

/* Resets where[] at all places. where[] is undefined if the watch stopped the search. */
static void forget_places(gbsi_repair *r)
{
    for (size_t h = 0; h < r->propagation->n_hard && !gbsi_watch_spend(r->watch, 8); ++h) {
        r->where[h] = SIZE_MAX;
    }
}

static gbs_status find_components(gbsi_repair *r, gbs_error *err)
{
    const gbsi_propagation *p = r->propagation;
    const size_t n = p->n_variables;
    r->component = gbsi_alloc_array(n, sizeof *r->component);
    r->where = gbsi_alloc_array(p->n_hard, sizeof *r->where);
    uint32_t *queue = gbsi_alloc_array(n, sizeof *queue);
    if (r->component == NULL || r->where == NULL || queue == NULL) {
        gbsi_free(queue);
        return gbsi_no_memory(err, "start", n * sizeof *queue);
    }
    memset(r->component, 0xff, n * sizeof *r->component);
    forget_places(r);
    for (uint32_t v = 0; v < n && !gbsi_watch_stopped(r->watch); ++v) {
        if (r->component[v] == GBSI_NONE &&
            p->incident_start[v] < p->incident_start[v + (size_t)1]) {
            flood(r, v, queue);
        }
    }
    forget_places(r);
    gbsi_free(queue);
    return GBS_OK;
}

static uint32_t component_of(const gbsi_repair *r, size_t place)
{
    const gbsi_factors *factors = r->propagation->factors;
    return r->component[factors->scope[factors->scope_start[r->propagation->hard[place]]]];
}

/* Lists the members and the hard factors of every component, in one row for each component. */
static gbs_status list_components(gbsi_repair *r, gbs_error *err)
{
    const gbsi_propagation *p = r->propagation;
    const size_t n = r->n_components;
    r->member_start = gbsi_alloc_array_zero(n + 2, sizeof *r->member_start);
    r->member = gbsi_alloc_array(p->n_variables, sizeof *r->member);
    r->hard_start = gbsi_alloc_array_zero(n + 2, sizeof *r->hard_start);
    r->hard = gbsi_alloc_array(p->n_hard, sizeof *r->hard);
    GBSI_PASS(GBSI_HAVE(err, "start", r->member_start, r->member, r->hard_start, r->hard));
    /* counts are stored two places further on: filling a row moves its start to the final value */
    for (uint32_t v = 0; v < p->n_variables; ++v) {
        if (r->component[v] != GBSI_NONE) {
            ++r->member_start[r->component[v] + (size_t)2];
        }
    }
    for (size_t h = 0; h < p->n_hard; ++h) {
        (void)gbsi_watch_spend(r->watch, 2);
        ++r->hard_start[component_of(r, h) + (size_t)2];
    }
    for (size_t c = 2; c < n + 2; ++c) {
        r->member_start[c] += r->member_start[c - 1];
        r->hard_start[c] += r->hard_start[c - 1];
    }
    for (uint32_t i = 0; i < p->n_variables; ++i) {
        const uint32_t v = r->model->topological != NULL ? r->model->topological[i] : i;
        if (r->component[v] != GBSI_NONE) {
            r->member[r->member_start[r->component[v] + (size_t)1]++] = v;
        }
    }
    for (size_t h = 0; h < p->n_hard; ++h) {
        (void)gbsi_watch_spend(r->watch, 2);
        r->hard[r->hard_start[component_of(r, h) + (size_t)1]++] = h;
    }
    return GBS_OK;
}

static gbs_status make_scratch(gbsi_repair *r, gbs_error *err)
{
    size_t n_members = 0;
    size_t n_hard = 0;
    size_t arity = 0;
    for (uint32_t c = 0; c < r->n_components; ++c) {
        const size_t members = r->member_start[c + (size_t)1] - r->member_start[c];
        const size_t hard = r->hard_start[c + (size_t)1] - r->hard_start[c];
        n_members = members > n_members ? members : n_members;
        n_hard = hard > n_hard ? hard : n_hard;
    }
    for (uint32_t v = 0; v < r->model->n_variables; ++v) {
        arity = r->model->arity[v] > arity ? r->model->arity[v] : arity;
    }
    r->order = gbsi_alloc_array(n_members, sizeof *r->order);
    r->decision = gbsi_alloc_array(n_members, sizeof *r->decision);
    r->weight = gbsi_alloc_array(arity, sizeof *r->weight);
    r->violated = gbsi_alloc_array(n_hard, sizeof *r->violated);
    GBSI_PASS(GBSI_HAVE(err, "start", r->order, r->decision, r->weight, r->violated));
    return GBS_OK;
}

gbs_status gbsi_repair_new(const gbsi_conditioned *model, uint64_t seed, gbsi_watch *watch,
                           gbsi_repair **repair, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_repair *r = gbsi_alloc_zero(sizeof *r);
    GBSI_PASS(GBSI_HAVE(err, "start", r));
    r->model = model;
    r->seed = seed;
    r->watch = watch;
    GBSI_TRY(gbsi_propagation_new(&model->factors, model->arity, model->n_variables,
                                  model->has_zeros, watch, &r->propagation, err));
    if (r->propagation->n_hard > 0) {
        GBSI_TRY(gbsi_propagator_new(r->propagation, true, &r->propagator, err));
        r->propagator->watch = watch;
        gbsi_propagator_queue_all(r->propagator);
        r->impossible = gbsi_propagator_run(r->propagator) != SIZE_MAX;
        r->root = gbsi_propagator_mark(r->propagator);
        GBSI_TRY(find_components(r, err));
        if (gbsi_watch_stopped(watch)) {
            r->n_components = 0; /* the lists of components are incomplete */
        } else {
            GBSI_TRY(list_components(r, err));
            GBSI_TRY(make_scratch(r, err));
        }
    }
    *repair = r;
    r = NULL;

cleanup:
    gbsi_repair_free(r);
    return status;
}

void gbsi_repair_free(gbsi_repair *repair)
{
    if (repair != NULL) {
        gbsi_repair_free_searches(repair);
        gbsi_propagator_free(repair->propagator);
        gbsi_propagation_free(repair->propagation);
        GBSI_FREE(repair->component, repair->member_start, repair->member, repair->hard_start,
                  repair->hard, repair->order, repair->decision, repair->weight, repair->violated,
                  repair->where, repair);
    }
}

uint32_t gbsi_repair_n_components(const gbsi_repair *repair)
{
    return repair->n_components;
}

/* ---- repairing ----------------------------------------------------------------------------- */

uint32_t gbsi_repair_violated(const gbsi_repair *repair, uint32_t component, const uint32_t *x,
                              size_t *factor, uint32_t n)
{
    const gbsi_propagation *p = repair->propagation;
    uint32_t found = 0;
    for (size_t i = repair->hard_start[component];
         i < repair->hard_start[component + (size_t)1] && found < n; ++i) {
        const size_t f = p->hard[repair->hard[i]];
        (void)gbsi_watch_spend(repair->watch,
                               p->factors->scope_start[f + 1] - p->factors->scope_start[f]);
        if (gbsi_factor_value(p->factors, p->arity, f, x) == -INFINITY) {
            factor[found++] = f;
        }
    }
    return found;
}

bool gbsi_repair_repeats(const gbsi_repair *repair)
{
    return repair->repeats;
}

/* Returns whether all hard factors of a component are parities of variables of two states, which
 * gbsi_repair_learn() solves. */
static bool is_parities(const gbsi_repair *repair, uint32_t component)
{
    const gbsi_propagation *p = repair->propagation;
    size_t i = repair->hard_start[component];
    while (i < repair->hard_start[component + (size_t)1] &&
           gbsi_is_parity(p->factors, p->arity, p->hard[repair->hard[i]], NULL)) {
        (void)gbsi_watch_spend(repair->watch, 2);
        ++i;
    }
    return i == repair->hard_start[component + (size_t)1];
}

gbsi_repaired gbsi_repair_component(gbsi_repair *repair, uint32_t chain, uint32_t component,
                                    uint32_t *x, uint64_t *n_repairs)
{
    assert(component < repair->n_components);
    gbsi_repaired result = repair->impossible ? GBSI_NO_STATE : GBSI_UNREPAIRED;
    const uint32_t n_members =
        repair->member_start[component + (size_t)1] - repair->member_start[component];
    const uint64_t n_entries = gbsi_repair_entries(repair, component);
    const bool parities = is_parities(repair, component); /* one attempt is then enough */
    const uint64_t n_searches =
        parities ? 1 : 1 + MOST_SEARCHING / (n_entries + (uint64_t)WINDOW * n_members);
    gbsi_repair_words words = {.seed = repair->seed, .chain = chain};
    for (uint32_t i = 0; i < n_searches && i < GBSI_REPAIR_SEARCHES && result == GBSI_UNREPAIRED &&
                         !gbsi_watch_stopped(repair->watch);
         ++i) {
        const bool in_order = repair->model->topological != NULL && i % 2 == 0;
        words.attempt = (uint64_t)component << GBSI_REPAIR_ATTEMPT_BITS | i;
        words.step = 0;
        result = gbsi_repair_search(repair, &words, component, in_order,
                                    (uint64_t)N_BACKTRACKS * (i + 1), x, n_repairs);
    }
    return result != GBSI_UNREPAIRED || parities || gbsi_watch_stopped(repair->watch)
               ? result
               : gbsi_repair_short_walk(repair, chain, component, x, n_repairs);
}
