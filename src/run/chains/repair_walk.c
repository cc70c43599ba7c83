/* SPDX-License-Identifier: Apache-2.0 */
/* A random walk towards a state without violations (Balint & Schoening 2012, "Choosing probability
 * distributions for stochastic local search and the role of make versus break", SAT 2012, LNCS
 * 7317:16-29, "break-only-exp"), for variables of any number of states. A step chooses a violated
 * factor, and then a change of one of its variables. A change that breaks b satisfied factors has
 * a weight of cb^-b with cb = 2.5, their value for clauses of three literals. */
#include <assert.h>
#include <math.h>

#include "chains/repair_internal.h"
#include "rng/philox.h"

enum {
    MOST_CHANGES =
        64,     /* number of changes that a step weighs: of factors with more, a random part */
    N_LONG = 4, /* number of long walks */
    MOST_BROKEN = 18, /* changes that break more factors count as if they broke this number */
};

/* Operations of the walk before the search that learns clauses, and of each walk after it: clauses
 * near the threshold of satisfiability are the strength of the walk, and structured models that of
 * the search. */
#define SHORT_WALK ((uint64_t)1 << 21)
#define LONG_WALK  ((uint64_t)1 << 25)

/* A change of variable v to state a. */
typedef struct change {
    uint32_t v, a, weight;
} change;

/* Counts the reading of a factor. */
static void spend(gbsi_repair *r, size_t f)
{
    const size_t *start = r->propagation->factors->scope_start;
    r->walked += 1 + start[f + 1] - start[f];
    (void)gbsi_watch_spend(r->watch, 1 + start[f + 1] - start[f]);
}

/* Notes whether the factor at a place is violated. */
static void check_place(gbsi_repair *r, size_t place, const uint32_t *x, size_t *n_violated)
{
    const gbsi_propagation *p = r->propagation;
    spend(r, p->hard[place]);
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

/* Returns 2^24 cb^-n_broken, rounded down at each factor: at least 1 up to MOST_BROKEN. */
static uint32_t weight_of(uint32_t n_broken)
{
    uint32_t weight = (uint32_t)1 << 24;
    for (uint32_t i = 0; i < n_broken && i < MOST_BROKEN; ++i) {
        weight = weight / 5 * 2;
    }
    return weight > 0 ? weight : 1;
}

/* Returns how many factors x violates after a change of v, of those that were satisfied before it
 * and of the factor at `place`. */
static uint32_t count_broken(gbsi_repair *r, uint32_t v, size_t place, const uint32_t *x)
{
    const gbsi_propagation *p = r->propagation;
    uint32_t n = 0;
    for (size_t i = p->incident_start[v]; i < p->incident_start[v + (size_t)1]; ++i) {
        const size_t at = p->incident[i];
        const size_t f = p->hard[at];
        spend(r, f);
        if (n < MOST_BROKEN && (r->where[at] == SIZE_MAX || at == place)) {
            n += gbsi_factor_value(p->factors, p->arity, f, x) == -INFINITY;
        }
    }
    return n;
}

/* Appends the changes of v, starting with a random state. */
static uint32_t weigh_variable(gbsi_repair *r, uint32_t v, size_t place, uint32_t word, uint32_t n,
                               uint32_t *x, change *list)
{
    const uint32_t arity = r->propagation->arity[v];
    const uint32_t first = (uint32_t)((word * (uint64_t)arity) >> 32);
    const uint32_t old = x[v];
    for (uint32_t part = 0; part < 2; ++part) { /* the states from `first` on, then those below */
        const uint32_t end = part == 0 ? arity : first;
        for (uint32_t a = gbsi_propagator_next(r->propagator, v, part == 0 ? first : 0);
             a < end && n < MOST_CHANGES; a = gbsi_propagator_next(r->propagator, v, a + 1)) {
            if (a != old) {
                x[v] = a;
                list[n++] = (change){v, a, weight_of(count_broken(r, v, place, x))};
            }
        }
    }
    x[v] = old;
    return n;
}

/* Makes one change of a variable of the violated factor at `place`. @return the variable;
 * GBSI_NONE if none of them can change. */
static uint32_t step_from(gbsi_repair *r, gbsi_repair_words *words, size_t place, uint32_t *x)
{
    const gbsi_factors *all = r->propagation->factors;
    const size_t f = r->propagation->hard[place];
    const uint32_t *scope = all->scope + all->scope_start[f];
    const size_t n_scope = all->scope_start[f + 1] - all->scope_start[f];
    const size_t first = (size_t)((words->word[1] * (uint64_t)n_scope) >> 32);
    change list[MOST_CHANGES];
    uint32_t n = 0;
    uint32_t total = 0;
    for (size_t k = 0; k < n_scope && n < MOST_CHANGES; ++k) {
        n = weigh_variable(r, scope[(first + k) % n_scope], place, words->word[2], n, x, list);
    }
    for (uint32_t i = 0; i < n; ++i) {
        total += list[i].weight;
    }
    if (n == 0) {
        return GBSI_NONE;
    }
    gbsi_repair_next_words(words);
    uint32_t left = gbsi_below(words->word[0], words->word[1], total);
    uint32_t i = 0;
    while (left >= list[i].weight) {
        left -= list[i++].weight;
        assert(i < n);
    }
    x[list[i].v] = list[i].a;
    return list[i].v;
}

gbsi_repaired gbsi_repair_walk(gbsi_repair *repair, gbsi_repair_words *words, uint32_t component,
                               uint64_t limit, uint32_t *x, uint64_t *n_repairs)
{
    const gbsi_propagation *p = repair->propagation;
    size_t n_violated = 0;
    repair->walked = 0;
    for (size_t i = repair->hard_start[component]; i < repair->hard_start[component + (size_t)1];
         ++i) {
        check_place(repair, repair->hard[i], x, &n_violated);
    }
    while (n_violated > 0 && repair->walked < limit && !gbsi_watch_stopped(repair->watch)) {
        ++repair->walked;
        gbsi_repair_next_words(words);
        const uint64_t at = (words->word[0] * (uint64_t)n_violated) >> 32;
        const uint32_t v = step_from(repair, words, repair->violated[at], x);
        ++*n_repairs;
        for (size_t i = v == GBSI_NONE ? 0 : p->incident_start[v];
             v != GBSI_NONE && i < p->incident_start[v + (size_t)1]; ++i) {
            check_place(repair, p->incident[i], x, &n_violated);
        }
    }
    for (size_t i = 0; i < n_violated; ++i) {
        repair->where[repair->violated[i]] = SIZE_MAX;
    }
    return n_violated == 0 ? GBSI_REPAIRED : GBSI_UNREPAIRED;
}

/* ---- walks of a component ------------------------------------------------------------------- */

/* Draws a state of each variable, uniformly among the states that constraint propagation left. */
static void scatter(gbsi_repair *r, gbsi_repair_words *words, uint32_t component, uint32_t *x)
{
    for (uint32_t i = r->member_start[component]; i < r->member_start[component + (size_t)1]; ++i) {
        const uint32_t v = r->member[i];
        gbsi_repair_next_words(words);
        uint32_t skip = gbsi_below(words->word[0], words->word[1], r->propagator->size[v]);
        x[v] = gbsi_propagator_next(r->propagator, v, 0);
        for (; skip > 0; --skip) {
            x[v] = gbsi_propagator_next(r->propagator, v, x[v] + 1);
        }
    }
}

/* Returns the number of entries of the scopes of a component's hard factors. */
uint64_t gbsi_repair_entries(const gbsi_repair *r, uint32_t component)
{
    const size_t *start = r->propagation->factors->scope_start;
    uint64_t n = 0;
    for (size_t i = r->hard_start[component]; i < r->hard_start[component + (size_t)1]; ++i) {
        const size_t f = r->propagation->hard[r->hard[i]];
        n += start[f + 1] - start[f];
    }
    return n;
}

/* Runs a random walk from a state drawn at random. */
static gbsi_repaired walk(gbsi_repair *r, uint32_t chain, uint32_t component, uint32_t attempt,
                          uint64_t limit, uint32_t *x, uint64_t *n_repairs)
{
    gbsi_repair_words words = {.seed = r->seed, .chain = chain};
    words.attempt =
        (uint64_t)component << GBSI_REPAIR_ATTEMPT_BITS | (GBSI_REPAIR_SEARCHES + attempt);
    scatter(r, &words, component, x);
    return gbsi_repair_walk(r, &words, component, limit, x, n_repairs);
}

gbsi_repaired gbsi_repair_short_walk(gbsi_repair *repair, uint32_t chain, uint32_t component,
                                     uint32_t *x, uint64_t *n_repairs)
{
    return walk(repair, chain, component, 0,
                SHORT_WALK + 8 * gbsi_repair_entries(repair, component), x, n_repairs);
}

gbsi_repaired gbsi_repair_long_walks(gbsi_repair *repair, uint32_t chain, uint32_t component,
                                     uint32_t *x, uint64_t *n_repairs)
{
    const uint64_t limit = LONG_WALK + 256 * gbsi_repair_entries(repair, component);
    gbsi_repaired result = GBSI_UNREPAIRED;
    for (uint32_t i = 1;
         i <= N_LONG && result == GBSI_UNREPAIRED && !gbsi_watch_stopped(repair->watch); ++i) {
        result = walk(repair, chain, component, i, limit, x, n_repairs);
    }
    return result;
}
