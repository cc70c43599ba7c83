/* SPDX-License-Identifier: Apache-2.0 */
/* Revision of one factor removes the states that no allowed combination of the domains contains.
 * After one call every remaining state is supported. A factor never has to be queued for its own
 * removals, because the combinations that supported the remaining states consist of remaining
 * states. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "condition/propagate.h"

enum { WORD_BITS = 64 };

/* ---- tables -------------------------------------------------------------------------------- */

/* The remaining combinations of one table, visited by a counter over the remaining states of
 * each variable. The arrays are indexed by place in the scope and are parts of the propagator's
 * scratch. */
typedef struct sweep {
    uint32_t n;
    const uint32_t *scope;
    const double *table;
    uint32_t *state;   /* remaining states, one row per variable */
    uint64_t *support; /* bit sets of the states for which a support was found so far, one row per
                          variable */
    size_t *stride;
    size_t *row;      /* [variables of the scope] start of each row of states */
    size_t *bits_row; /* [variables of the scope] start of each row of supports */
    size_t *n_states;
    size_t *digit;
    size_t *n_missing; /* number of states for which no support was found so far */
    size_t n_open;     /* sum of n_missing */
} sweep;

static void sweep_begin(sweep *s, const gbsi_propagator *q, size_t f)
{
    const gbsi_factors *store = q->of->factors;
    const size_t n = store->scope_start[f + 1] - store->scope_start[f];
    *s = (sweep){.n = (uint32_t)n,
                 .scope = &store->scope[store->scope_start[f]],
                 .table = &store->table[store->table_start[store->aux[f]]],
                 .state = q->state,
                 .support = q->support,
                 .stride = q->scope_work,
                 .row = q->scope_work + n,
                 .bits_row = q->scope_work + 2 * n,
                 .n_states = q->scope_work + 3 * n,
                 .digit = q->scope_work + 4 * n,
                 .n_missing = q->scope_work + 5 * n};
    size_t stride = 1;
    size_t used = 0;
    size_t words = 0;
    for (size_t i = n; i-- > 0;) {
        const uint32_t v = s->scope[i];
        s->stride[i] = stride;
        s->row[i] = used;
        s->bits_row[i] = words;
        stride *= q->of->arity[v];
        words += (q->of->arity[v] + WORD_BITS - 1) / WORD_BITS;
        for (uint32_t a = gbsi_propagator_next(q, v, 0); a != GBSI_NONE;
             a = gbsi_propagator_next(q, v, a + 1)) {
            s->state[used++] = a;
        }
        s->n_states[i] = q->size[v];
        s->n_missing[i] = q->size[v];
        s->n_open += q->size[v];
        s->digit[i] = 0;
    }
    memset(s->support, 0, words * sizeof *s->support);
}

static void mark(sweep *s, uint32_t i, uint32_t state)
{
    uint64_t *word = &s->support[s->bits_row[i] + state / WORD_BITS];
    const uint64_t bit = (uint64_t)1 << (state % WORD_BITS);
    if ((*word & bit) == 0) {
        *word |= bit;
        --s->n_missing[i];
        --s->n_open;
    }
}

/* Visits the combinations of one table row: they differ only in the state of the last variable. */
static void sweep_row(sweep *s, size_t base)
{
    const uint32_t last = s->n - 1;
    const uint32_t *state = &s->state[s->row[last]];
    bool any = false;
    for (size_t d = 0; d < s->n_states[last]; ++d) {
        if (s->table[base + state[d]] != -INFINITY) {
            any = true;
            mark(s, last, state[d]);
            if (s->n_missing[last] == 0) {
                break;
            }
        }
    }
    for (uint32_t i = 0; any && i < last; ++i) {
        mark(s, i, s->state[s->row[i] + s->digit[i]]);
    }
}

/* Advances the counter of all variables except the last. @return false after the last row. */
static bool next_row(sweep *s, size_t *base)
{
    for (uint32_t i = s->n - 1; i-- > 0;) {
        const uint32_t *state = &s->state[s->row[i]];
        if (s->digit[i] + 1 < s->n_states[i]) {
            *base += (state[s->digit[i] + 1] - state[s->digit[i]]) * s->stride[i];
            ++s->digit[i];
            return true;
        }
        *base -= (state[s->digit[i]] - state[0]) * s->stride[i];
        s->digit[i] = 0;
    }
    return false;
}

static bool revise_table(gbsi_propagator *q, size_t place)
{
    const size_t f = q->of->hard[place];
    sweep s;
    sweep_begin(&s, q, f);
    if (s.n == 0) {
        return s.table[0] != -INFINITY;
    }
    size_t base = 0;
    for (uint32_t i = 0; i + 1 < s.n; ++i) {
        base += s.state[s.row[i]] * s.stride[i];
    }
    do {
        if (gbsi_watch_spend(q->watch, 1 + s.n_states[s.n - 1])) {
            return false;
        }
        sweep_row(&s, base);
    } while (s.n_open > 0 && next_row(&s, &base));
    for (uint32_t i = 0; i < s.n; ++i) {
        if (s.n_missing[i] > 0 &&
            !gbsi_propagator_keep(q, s.scope[i], &s.support[s.bits_row[i]], place)) {
            return false;
        }
    }
    return true;
}

/* ---- Potts factors that forbid equal states ------------------------------------------------ */

static bool revise_potts(gbsi_propagator *q, size_t place)
{
    const gbsi_factors *store = q->of->factors;
    const uint32_t *scope = &store->scope[store->scope_start[q->of->hard[place]]];
    for (unsigned end = 0; end < 2; ++end) {
        const uint32_t v = scope[end];
        if (q->size[v] == 1 &&
            !gbsi_propagator_drop_one(q, scope[1 - end], gbsi_propagator_next(q, v, 0), place)) {
            return false;
        }
    }
    return true;
}

/* ---- logical factors ----------------------------------------------------------------------- */

typedef enum truth { MAYBE, NEVER, ALWAYS } truth;

typedef struct literals {
    size_t place;
    uint32_t n;      /* number of literals in the scope */
    uint32_t n_body; /* number of literals in the body; they come first */
    const uint32_t *scope;
    const uint32_t *literal;
    const gbsi_logical *as;
} literals;

static truth literal_truth(const gbsi_propagator *q, const literals *l, uint32_t i)
{
    if (!gbsi_propagator_has(q, l->scope[i], l->literal[i])) {
        return NEVER;
    }
    return q->size[l->scope[i]] == 1 ? ALWAYS : MAYBE;
}

static bool force(gbsi_propagator *q, const literals *l, uint32_t i, bool value)
{
    return value ? gbsi_propagator_keep_one(q, l->scope[i], l->literal[i], l->place)
                 : gbsi_propagator_drop_one(q, l->scope[i], l->literal[i], l->place);
}

static bool force_all(gbsi_propagator *q, const literals *l, bool value)
{
    for (uint32_t i = 0; i < l->n; ++i) {
        if (!force(q, l, i, value)) {
            return false;
        }
    }
    return true;
}

/* Returns the number of body literals that are already false because of evidence. */
static uint32_t fixed_false(const literals *l)
{
    return l->as->n_body - l->as->n_body_true - l->n_body;
}

/* Revises a clause: at least one literal must be true. If `negated`, the literals of the body are
 * negated; the head is never negated. */
static bool revise_clause(gbsi_propagator *q, const literals *l, bool negated)
{
    uint32_t last = GBSI_NONE; /* the only literal that may still be true */
    const uint32_t satisfying = negated ? fixed_false(l) : l->as->n_body_true;
    if (satisfying > 0 || l->as->head == GBSI_HEAD_TRUE) {
        return true;
    }
    for (uint32_t i = 0; i < l->n; ++i) {
        const bool wanted = i >= l->n_body || !negated;
        const truth is = literal_truth(q, l, i);
        if (is == (wanted ? ALWAYS : NEVER)) {
            return true;
        }
        if (is == MAYBE) {
            if (last != GBSI_NONE) {
                return true;
            }
            last = i;
        }
    }
    return last != GBSI_NONE && force(q, l, last, last >= l->n_body || !negated);
}

static bool revise_all_true(gbsi_propagator *q, const literals *l)
{
    return fixed_false(l) == 0 && l->as->head != GBSI_HEAD_FALSE && force_all(q, l, true);
}

static bool revise_all_equal(gbsi_propagator *q, const literals *l)
{
    bool some_true = l->as->n_body_true > 0 || l->as->head == GBSI_HEAD_TRUE;
    bool some_false = fixed_false(l) > 0 || l->as->head == GBSI_HEAD_FALSE;
    for (uint32_t i = 0; i < l->n; ++i) {
        const truth is = literal_truth(q, l, i);
        some_true |= is == ALWAYS;
        some_false |= is == NEVER;
    }
    if (some_true && some_false) {
        return false;
    }
    return (!some_true && !some_false) || force_all(q, l, some_true);
}

/* Revises a parity factor, which requires an odd number of true literals. If only one variable is
 * undecided, the other variables determine its state. If two or more are undecided, no state is
 * removed. */
static bool revise_parity(gbsi_propagator *q, const literals *l)
{
    uint32_t open = GBSI_NONE;
    bool odd = (l->as->n_body_true + (l->as->head == GBSI_HEAD_TRUE)) % 2 != 0;
    for (uint32_t i = 0; i < l->n; ++i) {
        const truth is = literal_truth(q, l, i);
        if (is == MAYBE && open != GBSI_NONE) {
            return true;
        }
        open = is == MAYBE ? i : open;
        odd ^= is == ALWAYS;
    }
    return open == GBSI_NONE ? odd : force(q, l, open, !odd);
}

/* Revises a cardinality factor, which requires at least `least` and at most `most` true literals.
 * If `most` literals are true, all other literals become false. If only `least` literals can still
 * be true, all of them become true. */
static bool revise_cardinality(gbsi_propagator *q, const literals *l)
{
    uint32_t least = 0;
    uint32_t most = 0;
    uint32_t n_true = l->as->n_body_true + (l->as->head == GBSI_HEAD_TRUE);
    uint32_t n_open = 0;
    gbsi_logical_range(l->as, &least, &most);
    for (uint32_t i = 0; i < l->n; ++i) {
        const truth is = literal_truth(q, l, i);
        n_true += is == ALWAYS;
        n_open += is == MAYBE;
    }
    if (n_true > most || n_true + n_open < least) {
        return false;
    }
    const bool no_more = n_true == most;
    if (!no_more && n_true + n_open > least) {
        return true;
    }
    for (uint32_t i = 0; i < l->n; ++i) {
        if (literal_truth(q, l, i) == MAYBE && !force(q, l, i, !no_more)) {
            return false;
        }
    }
    return true;
}

static bool revise_logical(gbsi_propagator *q, size_t place)
{
    const gbsi_factors *store = q->of->factors;
    const size_t f = q->of->hard[place];
    const size_t start = store->scope_start[f];
    const gbsi_logical *as = &store->logical[store->aux[f]];
    const uint32_t n = (uint32_t)(store->scope_start[f + 1] - start);
    const literals l = {.place = place,
                        .n = n,
                        .n_body = as->head == GBSI_HEAD_FREE ? n - 1 : n,
                        .scope = &store->scope[start],
                        .literal = &store->literal[start],
                        .as = as};
    switch (as->function) {
    case GBS_LOGICAL_OR:
    case GBS_LOGICAL_CLAUSE:
        return revise_clause(q, &l, false);
    case GBS_LOGICAL_LOGICAL: /* the value is positive unless the body is true and the head is
                                 false; if the body is empty, the head must be true */
    case GBS_LOGICAL_IMPLY_MLN:
        return revise_clause(q, &l, true);
    case GBS_LOGICAL_EQUAL:
        return revise_all_equal(q, &l);
    case GBS_LOGICAL_PARITY:
        return revise_parity(q, &l);
    case GBS_LOGICAL_AT_LEAST:
    case GBS_LOGICAL_AT_MOST:
    case GBS_LOGICAL_EXACTLY:
        return revise_cardinality(q, &l);
    default:
        assert(as->function == GBS_LOGICAL_AND || as->function == GBS_LOGICAL_IS_TRUE ||
               as->function == GBS_LOGICAL_AND_CATEGORICAL);
        return revise_all_true(q, &l);
    }
}

/* ---- noisy factors --------------------------------------------------------------------------- */

/* The causes that can still produce the effect of a noisy factor's level, given the remaining
 * states. */
typedef struct open_causes {
    uint32_t n; /* number of causes, among the leak and the parents, that may cause the effect in a
                   remaining state */
    uint32_t last;  /* the last parent that may cause the effect */
    size_t last_at; /* position of the inhibitions of this parent */
    bool surely;    /* true if some variable, or the leak, causes the effect in all its remaining
                       states */
} open_causes;

static open_causes find_causes(const gbsi_propagator *q, const gbsi_noisy *noisy)
{
    open_causes c = {
        .n = noisy->log_q[0] < 0.0, .last = GBSI_NONE, .surely = noisy->log_q[0] == -INFINITY};
    size_t at = 1;
    for (uint32_t i = 0; i < noisy->n_parents; ++i) {
        const uint32_t v = noisy->parent[i];
        bool may = false;
        bool must = true;
        for (uint32_t a = gbsi_propagator_next(q, v, 0); a != GBSI_NONE;
             a = gbsi_propagator_next(q, v, a + 1)) {
            may |= noisy->log_q[at + a] < 0.0;
            must &= noisy->log_q[at + a] == -INFINITY;
        }
        if (may) {
            ++c.n;
            c.last = v;
            c.last_at = at;
        }
        c.surely |= must;
        at += q->of->arity[v];
    }
    return c;
}

/* Removes the states of a parent that make the effect certain (if `certain`), or the states that
 * have no effect. */
static bool drop_causes(gbsi_propagator *q, uint32_t v, const double *log_q, bool certain,
                        size_t place)
{
    for (uint32_t a = 0; a < q->of->arity[v]; ++a) {
        if (gbsi_propagator_has(q, v, a) && (certain ? log_q[a] == -INFINITY : log_q[a] == 0.0) &&
            !gbsi_propagator_drop_one(q, v, a, place)) {
            return false;
        }
    }
    return true;
}

/* Returns whether some remaining state of the child has this role. */
static bool has_part(const gbsi_propagator *q, const gbsi_noisy *noisy, gbsi_noisy_part part)
{
    uint32_t a = gbsi_propagator_next(q, noisy->child, 0);
    while (a != GBSI_NONE && gbsi_noisy_part_of(noisy->effect, noisy->falling, a) != part) {
        a = gbsi_propagator_next(q, noisy->child, a + 1);
    }
    return a != GBSI_NONE;
}

static bool drop_part(gbsi_propagator *q, const gbsi_noisy *noisy, gbsi_noisy_part part,
                      size_t place)
{
    for (uint32_t a = 0; a < q->of->arity[noisy->child]; ++a) {
        if (gbsi_noisy_part_of(noisy->effect, noisy->falling, a) == part &&
            !gbsi_propagator_drop_one(q, noisy->child, a, place)) {
            return false;
        }
    }
    return true;
}

static bool revise_level(gbsi_propagator *q, const gbsi_noisy *noisy, size_t place)
{
    const open_causes c = find_causes(q, noisy);
    const bool seen = noisy->child == GBSI_NONE;
    if ((c.n == 0 && (seen || !drop_part(q, noisy, GBSI_NOISY_EFFECT, place))) ||
        (c.surely && !seen && !drop_part(q, noisy, GBSI_NOISY_NONE, place))) {
        return false;
    }
    if (!seen && has_part(q, noisy, GBSI_NOISY_BEYOND)) {
        return true;
    }
    if (seen || !has_part(q, noisy, GBSI_NOISY_NONE)) {
        return c.n != 1 || c.last == GBSI_NONE ||
               drop_causes(q, c.last, noisy->log_q + c.last_at, false, place);
    }
    size_t at = 1;
    for (uint32_t i = 0; !has_part(q, noisy, GBSI_NOISY_EFFECT) && i < noisy->n_parents; ++i) {
        if (!drop_causes(q, noisy->parent[i], noisy->log_q + at, true, place)) {
            return false;
        }
        at += q->of->arity[noisy->parent[i]];
    }
    return true;
}

/* Returns the product of the numbers of remaining states of all variables in the scope of a
 * factor. */
static size_t n_left(const gbsi_propagator *q, size_t f)
{
    const gbsi_factors *store = q->of->factors;
    size_t n = 0;
    for (size_t e = store->scope_start[f]; e < store->scope_start[f + 1]; ++e) {
        n += q->size[store->scope[e]];
    }
    return n;
}

/* Revises a noisy factor level by level, until no level removes a state. */
static bool revise_noisy(gbsi_propagator *q, size_t place)
{
    const size_t f = q->of->hard[place];
    const uint32_t n_levels = gbsi_noisy_n_levels(q->of->factors, q->of->arity, f);
    size_t before = 0;
    do {
        before = n_left(q, f);
        for (uint32_t level = 0; level < n_levels; ++level) {
            const gbsi_noisy noisy = gbsi_noisy_level(q->of->factors, q->of->arity, f, level);
            if (gbsi_watch_spend(q->watch, 1 + noisy.n_parents) ||
                !revise_level(q, &noisy, place)) {
                return false;
            }
        }
    } while (n_levels > 1 && n_left(q, f) < before);
    return true;
}

bool gbsi_propagator_revise(gbsi_propagator *propagator, size_t place)
{
    const gbsi_factors *store = propagator->of->factors;
    switch (store->kind[propagator->of->hard[place]]) {
    case GBS_FACTOR_TABLE:
        return revise_table(propagator, place);
    case GBS_FACTOR_POTTS:
        return revise_potts(propagator, place);
    case GBS_FACTOR_LOGICAL:
        return revise_logical(propagator, place);
    default:
        assert(gbsi_is_noisy(store->kind[propagator->of->hard[place]]));
        return revise_noisy(propagator, place);
    }
}
