/* SPDX-License-Identifier: Apache-2.0 */
/* Min-conflicts: a random violated factor is chosen, then a random variable of this factor. The
 * variable takes the state that violates the fewest of its hard factors; ties are broken at random.
 * One step in sixteen takes a random state instead, to leave local minima (the noise of Selman,
 * Kautz & Cohen 1994, AAAI-94:337-343). */
#include <math.h>

#include "chains/repair_internal.h"
#include "rng/philox.h"

enum { NOISE = 16 };

static void check_place(gbsi_repair *r, size_t place, const uint32_t *x, size_t *n_violated)
{
    const gbsi_propagation *p = r->propagation;
    (void)gbsi_watch_spend(r->watch, p->factors->scope_start[p->hard[place] + 1] -
                                         p->factors->scope_start[p->hard[place]]);
    const bool bad = gbsi_factor_value(p->factors, p->arity, p->hard[place], x) == -INFINITY;
    const size_t at = r->where[place];
    if (bad && at == SIZE_MAX) {
        r->where[place] = *n_violated;
        r->violated[(*n_violated)++] = place;
    } else if (!bad && at != SIZE_MAX) {
        const size_t moved = r->violated[--*n_violated];
        r->violated[at] = moved;
        r->where[moved] = at;
        r->where[place] = SIZE_MAX;
    }
}

static size_t conflicts(const gbsi_repair *r, uint32_t v, const uint32_t *x)
{
    const gbsi_propagation *p = r->propagation;
    size_t n = 0;
    for (size_t i = p->incident_start[v]; i < p->incident_start[v + (size_t)1]; ++i) {
        const size_t f = p->hard[p->incident[i]];
        (void)gbsi_watch_spend(r->watch,
                               p->factors->scope_start[f + 1] - p->factors->scope_start[f]);
        n += gbsi_factor_value(p->factors, p->arity, f, x) == -INFINITY;
    }
    return n;
}

/* Moves v to the state chosen for it. */
static void move(gbsi_repair *r, gbsi_repair_words *words, uint32_t v, bool noise, uint32_t *x)
{
    size_t fewest = SIZE_MAX;
    uint32_t n_ties = 0;
    uint32_t chosen = x[v];
    for (uint32_t a = gbsi_propagator_next(r->propagator, v, 0); a != GBSI_NONE;
         a = gbsi_propagator_next(r->propagator, v, a + 1)) {
        x[v] = a;
        const size_t n = noise ? 0 : conflicts(r, v, x);
        if (n < fewest) {
            fewest = n;
            n_ties = 0;
        }
        if (n == fewest) {
            /* the n-th tied state replaces the state chosen before with probability 1/n, which
             * makes all tied states equally likely */
            gbsi_repair_next_words(words);
            chosen = gbsi_below(words->word[0], words->word[1], ++n_ties) == 0 ? a : chosen;
        }
    }
    x[v] = chosen;
}

gbsi_repaired gbsi_repair_min_conflicts(gbsi_repair *repair, gbsi_repair_words *words,
                                        uint32_t component, uint64_t n_steps, uint32_t *x,
                                        uint64_t *n_repairs)
{
    const gbsi_propagation *p = repair->propagation;
    size_t n_violated = 0;
    for (size_t i = repair->hard_start[component]; i < repair->hard_start[component + (size_t)1];
         ++i) {
        check_place(repair, repair->hard[i], x, &n_violated);
    }
    for (uint64_t step = 0; step < n_steps && n_violated > 0 && !gbsi_watch_stopped(repair->watch);
         ++step) {
        gbsi_repair_next_words(words);
        const uint64_t place = repair->violated[(words->word[0] * (uint64_t)n_violated) >> 32];
        const size_t scope = p->factors->scope_start[p->hard[place]];
        const size_t n_scope = p->factors->scope_start[p->hard[place] + 1] - scope;
        const uint32_t v = p->factors->scope[scope + ((words->word[1] * (uint64_t)n_scope) >> 32)];
        move(repair, words, v, words->word[2] % NOISE == 0, x);
        ++*n_repairs;
        for (size_t i = p->incident_start[v]; i < p->incident_start[v + (size_t)1]; ++i) {
            check_place(repair, p->incident[i], x, &n_violated);
        }
    }
    for (size_t i = 0; i < n_violated; ++i) {
        repair->where[repair->violated[i]] = SIZE_MAX;
    }
    return n_violated == 0 ? GBSI_REPAIRED : GBSI_UNREPAIRED;
}
