/* SPDX-License-Identifier: Apache-2.0 */
/* Search by assignment. A decision "v is a" is propagated. If propagation fails, the decision is
 * undone and refuted: "v is not a" is propagated as a consequence of the decision before. If no
 * decision is left to undo, the whole search tree has been visited. */
#include <assert.h>

#include "chains/repair_internal.h"
#include "chains/start.h"
#include "rng/philox.h"

/* Number of unassigned variables among which the smallest domain is sought. This limit bounds
 * the cost of a decision in large components. */
enum { WINDOW = 1024 };

static void copy_order(gbsi_repair *r, gbsi_repair_words *words, uint32_t component, bool shuffle)
{
    const uint32_t start = r->member_start[component];
    const uint32_t n = r->member_start[component + (size_t)1] - start;
    for (uint32_t i = 0; i < n; ++i) {
        r->order[i] = r->member[start + i];
    }
    for (uint32_t i = n; shuffle && i > 1; --i) {
        gbsi_repair_next_words(words);
        const uint32_t j = gbsi_below(words->word[0], words->word[1], i);
        const uint32_t last = r->order[i - 1];
        r->order[i - 1] = r->order[j];
        r->order[j] = last;
    }
}

/* Finds the next variable to decide on, and moves it to order[*first]. If in_order, this is the
 * first variable with more than one state left; otherwise it is the variable with the fewest such
 * states within the window. @return false if no variable is left to assign. */
static bool next_variable(gbsi_repair *r, uint32_t n, bool in_order, uint32_t *first)
{
    const uint32_t *size = r->propagator->size;
    while (*first < n && size[r->order[*first]] == 1) {
        ++*first;
    }
    if (*first == n) {
        return false;
    }
    uint32_t best = *first;
    (void)gbsi_watch_spend(r->watch, in_order ? 1 : n - *first < WINDOW ? n - *first : WINDOW);
    for (uint32_t i = *first; !in_order && i < n && i - *first < WINDOW; ++i) {
        const uint32_t k = size[r->order[i]];
        if (k > 1 && k < size[r->order[best]]) {
            best = i;
        }
    }
    const uint32_t v = r->order[best];
    r->order[best] = r->order[*first];
    r->order[*first] = v;
    return true;
}

/* Copies the values that the search has given to v's parents into x. @return false if a parent is
 * not assigned yet. */
static bool read_parents(const gbsi_repair *r, uint32_t v, uint32_t *x)
{
    const gbsi_conditioned *model = r->model;
    if (model->cpt == NULL || model->cpt[v] == GBSI_NONE) {
        return true;
    }
    const size_t f = model->cpt[v];
    for (size_t i = model->factors.scope_start[f]; i < model->factors.scope_start[f + 1]; ++i) {
        const uint32_t u = model->factors.scope[i];
        if (u != v && r->component[u] == r->component[v]) {
            if (r->propagator->size[u] != 1) {
                return false;
            }
            x[u] = gbsi_propagator_next(r->propagator, u, 0);
        }
    }
    return true;
}

/* Chooses one of the states left to v. The choice is drawn from v's conditional table if all
 * parents of v are assigned, and uniformly otherwise. */
static uint32_t choose_value(gbsi_repair *r, gbsi_repair_words *words, uint32_t v, uint32_t *x)
{
    const uint32_t k = r->model->arity[v];
    double total = 0.0;
    bool known = read_parents(r, v, x);
    if (known) {
        gbsi_forward_weights(r->model, v, x, r->weight);
        for (uint32_t a = 0; a < k; ++a) {
            r->weight[a] = gbsi_propagator_has(r->propagator, v, a) ? r->weight[a] : 0.0;
            total += r->weight[a];
        }
    }
    if (!(total > 0.0)) {
        for (uint32_t a = 0; a < k; ++a) {
            r->weight[a] = gbsi_propagator_has(r->propagator, v, a) ? 1.0 : 0.0;
        }
    }
    gbsi_repair_next_words(words);
    return gbsi_forward_pick(r->weight, k, words->word);
}

static bool consistent(gbsi_propagator *q)
{
    return gbsi_propagator_run(q) == SIZE_MAX;
}

gbsi_repaired gbsi_repair_search(gbsi_repair *repair, gbsi_repair_words *words, uint32_t component,
                                 bool in_order, uint64_t budget, uint32_t *x, uint64_t *n_repairs)
{
    gbsi_propagator *q = repair->propagator;
    const uint32_t start = repair->member_start[component];
    const uint32_t n = repair->member_start[component + (size_t)1] - start;
    gbsi_repaired result = GBSI_REPAIRED;
    uint32_t first = 0;
    uint32_t n_decisions = 0;
    copy_order(repair, words, component, !in_order);
    while (result == GBSI_REPAIRED && next_variable(repair, n, in_order, &first)) {
        if (gbsi_watch_spend(repair->watch, 1)) {
            result = GBSI_UNREPAIRED;
            break;
        }
        gbsi_decision d = {repair->order[first], 0, gbsi_propagator_mark(q), first};
        d.value = choose_value(repair, words, d.variable, x);
        repair->decision[n_decisions++] = d;
        ++*n_repairs;
        bool alive = gbsi_propagator_assign(q, d.variable, d.value) && consistent(q);
        while (!alive && result == GBSI_REPAIRED) {
            /* if the watch cut propagation short, failure proves nothing */
            if (gbsi_watch_stopped(repair->watch) || (n_decisions > 0 && budget == 0)) {
                result = GBSI_UNREPAIRED;
            } else if (n_decisions == 0) {
                result = GBSI_NO_STATE;
            } else {
                --budget;
                d = repair->decision[--n_decisions];
                first = d.first;
                gbsi_propagator_undo(q, d.mark);
                alive = gbsi_propagator_remove(q, d.variable, d.value) && consistent(q);
            }
        }
    }
    for (uint32_t i = start; result == GBSI_REPAIRED && i < start + n; ++i) {
        x[repair->member[i]] = gbsi_propagator_next(q, repair->member[i], 0);
    }
    gbsi_propagator_undo(q, repair->root);
    return result;
}
