/* SPDX-License-Identifier: Apache-2.0 */
/* The search: decisions, learning, restarts, and clauses that are forgotten. */
#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "satisfy/solver.h"

enum {
    RESTART_UNIT = 128,  /* conflicts of the shortest stretch between two restarts */
    FIRST_LEARNT = 4000, /* learnt clauses before the first are forgotten */
    MORE_LEARNT = 1000,  /* further learnt clauses that each later time keeps */
    KEPT_LEVELS = 2,     /* clauses of up to this number of levels are never forgotten */
};

/* ---- memory ---------------------------------------------------------------------------------- */

void gbsi_satisfier_free(gbsi_satisfier *s)
{
    if (s == NULL) {
        return;
    }
    for (size_t l = 0; s->watched != NULL && l < 2 * (size_t)s->n_booleans; ++l) {
        gbsi_free(s->watched[l].at);
    }
    gbsi_solver_free_rows(&s->rows);
    GBSI_FREE(s->first, s->variable, s->preferred, s->value, s->level, s->position, s->reason,
              s->trail, s->level_start, s->arena.at, s->watched, s->constraint.at, s->pool.at,
              s->rows_of, s->support.at, s->occurs_start, s->occurs, s->queue.at, s->differ.at,
              s->differs_start, s->differs, s->reasons.at, s->learnt.at, s->seen, s->level_seen,
              s->marked, s->activity, s->heap, s->heap_place, s->proof.at, s->proof_start.at,
              s->base.arena, s->base.activity, s->base.state, s);
}

static gbs_status number_booleans(gbsi_satisfier *s, gbs_error *err)
{
    const size_t n = s->part.n_variables;
    uint64_t used = 0;
    s->first = gbsi_alloc_array(n + 1, sizeof *s->first);
    s->preferred = gbsi_alloc_array_zero(n, sizeof *s->preferred);
    s->differs_start = gbsi_alloc_array_zero(n + 2, sizeof *s->differs_start);
    GBSI_PASS(GBSI_HAVE(err, "search", s->first, s->preferred, s->differs_start));
    for (uint32_t i = 0; i < n; ++i) {
        s->part.number[s->part.variable[i]] = i;
        s->first[i] = (uint32_t)used;
        used += gbsi_part_arity(s, i) > 2 ? gbsi_part_arity(s, i) : 1;
        if (used >= GBSI_PROOF_NUMBERS || s->part.n_factors >= GBSI_PROOF_NUMBERS) {
            return gbsi_fail(err, GBS_ERR_LIMIT, "search: the model has too many states");
        }
    }
    s->first[n] = (uint32_t)used;
    s->n_booleans = (uint32_t)used;
    return GBS_OK;
}

static gbs_status take_room(gbsi_satisfier *s, gbs_error *err)
{
    const size_t n = s->n_booleans;
    s->variable = gbsi_alloc_array(n, sizeof *s->variable);
    s->value = gbsi_alloc_array_zero(2 * n, sizeof *s->value);
    s->level = gbsi_alloc_array(n, sizeof *s->level);
    s->position = gbsi_alloc_array(n, sizeof *s->position);
    s->reason = gbsi_alloc_array(n, sizeof *s->reason);
    s->trail = gbsi_alloc_array(n, sizeof *s->trail);
    s->level_start = gbsi_alloc_array(n + 1, sizeof *s->level_start);
    s->watched = gbsi_alloc_array_zero(2 * n, sizeof *s->watched);
    s->occurs_start = gbsi_alloc_array_zero(2 * n + 2, sizeof *s->occurs_start);
    s->seen = gbsi_alloc_zero(n);
    s->level_seen = gbsi_alloc_array_zero(n + 1, sizeof *s->level_seen);
    s->marked = gbsi_alloc_zero(2 * n);
    s->activity = gbsi_alloc_array_zero(n, sizeof *s->activity);
    s->heap = gbsi_alloc_array(n, sizeof *s->heap);
    s->heap_place = gbsi_alloc_array(n, sizeof *s->heap_place);
    GBSI_PASS(GBSI_HAVE(err, "search", s->variable, s->value, s->level, s->position, s->reason,
                        s->trail, s->level_start, s->watched, s->occurs_start, s->seen,
                        s->level_seen, s->marked, s->activity, s->heap, s->heap_place));
    for (uint32_t i = 0; i < s->part.n_variables; ++i) {
        for (uint32_t b = s->first[i]; b < s->first[i + 1]; ++b) {
            s->variable[b] = i;
        }
    }
    return GBS_OK;
}

/* ---- occurrences ----------------------------------------------------------------------------- */

/* Calls the body for each literal of constraint c: its literals, or the states of its variables. */
static void walk_occurrences(gbsi_satisfier *s, bool fill)
{
    const gbsi_constraint *all = s->constraint.at;
    for (size_t c = 0; c < s->constraint.n; ++c) {
        const uint32_t *own = gbsi_words_at(&s->pool) + all[c].start;
        const bool rows = all[c].kind == GBSI_CONSTRAINT_ROWS;
        for (uint32_t k = 0; k < all[c].n; ++k) {
            const uint32_t n = rows ? gbsi_part_arity(s, own[k]) : 1;
            for (uint32_t a = 0; a < n; ++a) {
                const uint32_t literal = rows ? gbsi_literal(s, own[k], a) : own[k];
                if (fill) {
                    s->occurs[s->occurs_start[literal + (size_t)1]++] = (uint32_t)c;
                } else {
                    ++s->occurs_start[literal + (size_t)2];
                }
            }
        }
        (void)gbsi_solver_spend(s, 2 * (uint64_t)all[c].n);
    }
}

/* Lists the constraints of each literal. Counts are stored two places further on: filling a row
 * moves its start to the final value. */
static void index_constraints(gbsi_satisfier *s)
{
    const size_t n = 2 * (size_t)s->n_booleans;
    walk_occurrences(s, false);
    for (size_t l = 2; l < n + 2; ++l) {
        s->occurs_start[l] += s->occurs_start[l - 1];
    }
    s->occurs = gbsi_alloc_array(s->occurs_start[n + 1], sizeof *s->occurs);
    if (s->occurs == NULL) {
        s->failed = true;
        return;
    }
    walk_occurrences(s, true);
}

static void index_differences(gbsi_satisfier *s)
{
    const uint32_t *triple = gbsi_words_at(&s->differ);
    const size_t n = s->differ.n / 3;
    s->differs = gbsi_alloc_array(4 * n, sizeof *s->differs);
    if (s->differs == NULL) {
        s->failed = true;
        return;
    }
    for (size_t i = 0; i < n; ++i) {
        ++s->differs_start[triple[3 * i] + (size_t)2];
        ++s->differs_start[triple[3 * i + 1] + (size_t)2];
    }
    for (size_t v = 2; v < s->part.n_variables + (size_t)2; ++v) {
        s->differs_start[v] += s->differs_start[v - 1];
    }
    for (size_t i = 0; i < 2 * n; ++i) {
        const uint32_t *own = triple + 3 * (i / 2);
        const size_t at = s->differs_start[own[i % 2] + (size_t)1]++;
        s->differs[2 * at] = own[1 - i % 2];
        s->differs[2 * at + 1] = own[2];
    }
}

gbs_status gbsi_solver_make(const gbsi_hard_part *part, gbsi_watch *watch, bool proves,
                            gbsi_satisfier **satisfier, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_satisfier *s = gbsi_alloc_zero(sizeof *s);
    GBSI_PASS(GBSI_HAVE(err, "search", s));
    s->part = *part;
    s->watch = watch;
    s->proves = proves;
    s->bump = 1u << 10;
    GBSI_TRY(number_booleans(s, err));
    GBSI_TRY(take_room(s, err));
    gbsi_solver_encode(s);
    if (!s->failed) {
        index_constraints(s);
        index_differences(s);
    }
    memset(s->heap_place, 0xff, s->n_booleans * sizeof *s->heap_place);
    for (uint32_t b = 0; b < s->n_booleans; ++b) {
        gbsi_heap_insert(s, b);
    }
    for (uint32_t c = 0; c < s->constraint.n; ++c) {
        if (gbsi_solver_push(s, &s->queue, c)) {
            ((gbsi_constraint *)s->constraint.at)[c].queued = 1;
        }
    }
    GBSI_TRY(s->failed ? gbsi_no_memory(err, "search", s->arena.n * sizeof(uint32_t)) : GBS_OK);
    *satisfier = s;
    s = NULL;

cleanup:
    gbsi_satisfier_free(s);
    return status;
}

/* ---- forgetting ------------------------------------------------------------------------------ */

typedef struct candidate {
    uint32_t levels, size, at;
} candidate;

static int worse_first(const void *a, const void *b)
{
    const candidate *x = a;
    const candidate *y = b;
    return x->levels != y->levels ? (x->levels > y->levels ? -1 : 1)
           : x->size != y->size   ? (x->size > y->size ? -1 : 1)
           : x->at < y->at        ? -1
                                  : x->at > y->at;
}

/* Watches all clauses anew, in the order of the arena. No decision may be in force. */
static void rewatch(gbsi_satisfier *s)
{
    for (size_t l = 0; l < 2 * (size_t)s->n_booleans; ++l) {
        s->watched[l].n = 0;
    }
    for (size_t at = 0; at < s->arena.n && !s->failed;
         at += GBSI_CLAUSE_HEAD + gbsi_words_at(&s->arena)[at]) {
        gbsi_solver_watch_clause(s, (uint32_t)at);
    }
    (void)gbsi_solver_spend(s, s->arena.n);
}

/* Removes the clauses whose size has the highest bit, and tells the reasons the new places. */
static void compact(gbsi_satisfier *s)
{
    const uint32_t gone = (uint32_t)1 << 31;
    uint32_t *old = s->arena.at;
    uint32_t *fresh = gbsi_alloc_array(s->arena.n, sizeof *fresh);
    size_t to = 0;
    if (fresh == NULL) {
        s->failed = true;
        return;
    }
    for (size_t at = 0; at < s->arena.n;) {
        const size_t n = GBSI_CLAUSE_HEAD + (old[at] & ~gone);
        if ((old[at] & gone) == 0) {
            memcpy(fresh + to, old + at, n * sizeof *fresh);
            old[at + GBSI_CLAUSE_PROOF] = (uint32_t)to;
            to += n;
        }
        at += n;
    }
    for (size_t k = 0; k < s->trail_length; ++k) {
        gbsi_reason *r = &s->reason[s->trail[k] / 2];
        r->at = r->kind == GBSI_BY_CLAUSE ? old[r->at + GBSI_CLAUSE_PROOF] : r->at;
    }
    gbsi_free(old);
    s->arena = (gbsi_list){fresh, to, s->arena.n};
    rewatch(s);
}

/* Forgets the worse half of the learnt clauses. No decision may be in force. */
static void forget(gbsi_satisfier *s)
{
    candidate *list = gbsi_alloc_array(s->n_learnt, sizeof *list);
    size_t n = 0;
    if (list == NULL) {
        s->failed = true;
        return;
    }
    uint32_t *arena = s->arena.at;
    for (size_t k = 0; k < s->trail_length; ++k) { /* a reason is not forgotten */
        const gbsi_reason *r = &s->reason[s->trail[k] / 2];
        if (r->kind == GBSI_BY_CLAUSE && arena[r->at + GBSI_CLAUSE_LEVELS] > 0) {
            arena[r->at + GBSI_CLAUSE_LEVELS] = 1;
        }
    }
    for (size_t at = s->base.arena_length; at < s->arena.n; at += GBSI_CLAUSE_HEAD + arena[at]) {
        if (arena[at + GBSI_CLAUSE_LEVELS] > KEPT_LEVELS) {
            list[n++] = (candidate){arena[at + GBSI_CLAUSE_LEVELS], arena[at], (uint32_t)at};
        }
    }
    qsort(list, n, sizeof *list, worse_first);
    for (size_t i = 0; i < n / 2; ++i) {
        arena[list[i].at] |= (uint32_t)1 << 31;
    }
    s->n_learnt -= n / 2;
    gbsi_free(list);
    compact(s);
}

/* ---- search ---------------------------------------------------------------------------------- */

/* Returns the i-th term of 1 1 2 1 1 2 4 ..., i = 1, 2, ... (Luby, Sinclair & Zuckerman 1993,
 * Information Processing Letters 47:173-180). */
static uint64_t luby(uint64_t i)
{
    for (uint64_t power = 2;; power *= 2) { /* power - 1 terms end with power / 2 */
        if (i == power - 1) {
            return power / 2;
        }
        if (i < power - 1) {
            i -= power / 2 - 1;
            power = 1;
        }
    }
}

/* Returns the literal that the next decision makes true: the preferred state of the variable of the
 * most active open Boolean. GBSI_NO_LITERAL if all are decided. */
static uint32_t next_decision(gbsi_satisfier *s)
{
    while (s->heap_length > 0) {
        const uint32_t b = gbsi_heap_pop(s);
        if (s->value[2 * b] == 0) {
            const uint32_t i = s->variable[b];
            const uint32_t wanted = gbsi_literal(s, i, s->preferred[i]);
            return s->value[wanted] == 0 ? wanted : 2 * b;
        }
    }
    return GBSI_NO_LITERAL;
}

/* Learns from the stored conflict. @return false if the conflict needs no decision. */
static bool learn(gbsi_satisfier *s)
{
    uint32_t n_levels = 0;
    uint32_t proof = 0;
    if (s->n_levels == 0) {
        return false;
    }
    const uint32_t level = gbsi_solver_analyze(s, &n_levels, &proof);
    gbsi_solver_undo(s, level);
    const uint32_t *literal = gbsi_words_at(&s->learnt);
    gbsi_reason reason = {GBSI_BY_NOTHING, 0, proof};
    if (s->learnt.n > 1) {
        const uint32_t at = gbsi_solver_add(s, literal, (uint32_t)s->learnt.n, n_levels, proof);
        reason = (gbsi_reason){GBSI_BY_CLAUSE, at, 0};
    }
    if (!s->failed) {
        (void)gbsi_solver_imply(s, literal[0], reason);
    }
    return true;
}

/* Searches until the conflicts of one stretch are used up. */
static gbsi_satisfied stretch(gbsi_satisfier *s, uint64_t n_conflicts, uint64_t limit)
{
    for (;;) {
        if (gbsi_watch_stopped(s->watch) || s->failed || s->spent > limit) {
            return GBSI_UNDECIDED;
        }
        if (!gbsi_solver_propagate(s)) {
            if (!learn(s)) {
                return GBSI_CONTRADICTED;
            }
            if (--n_conflicts == 0) {
                return GBSI_UNDECIDED;
            }
            continue;
        }
        const uint32_t literal = next_decision(s);
        if (literal == GBSI_NO_LITERAL) {
            return GBSI_SATISFIED;
        }
        s->level_start[s->n_levels++] = (uint32_t)s->trail_length;
        (void)gbsi_solver_imply(s, literal, (gbsi_reason){GBSI_BY_NOTHING, 0, GBSI_PROOF_NONE});
    }
}

gbsi_satisfied gbsi_solver_search(gbsi_satisfier *s, uint64_t limit)
{
    gbsi_satisfied result = s->contradicted ? GBSI_CONTRADICTED : GBSI_UNDECIDED;
    size_t most_learnt = s->n_learnt + FIRST_LEARNT;
    for (uint64_t i = 1; result == GBSI_UNDECIDED; ++i) {
        result = stretch(s, RESTART_UNIT * luby(i), limit);
        if (result != GBSI_UNDECIDED || gbsi_watch_stopped(s->watch) || s->failed ||
            s->spent > limit) {
            break;
        }
        gbsi_solver_undo(s, 0);
        if (s->n_learnt > most_learnt) {
            if (!gbsi_solver_propagate(s)) {
                result = GBSI_CONTRADICTED;
                break;
            }
            forget(s);
            most_learnt += MORE_LEARNT;
        }
    }
    if (result == GBSI_CONTRADICTED && s->proves) {
        gbsi_solver_end_proof(s);
    }
    return s->failed ? GBSI_UNDECIDED : result;
}

/* ---- draws ----------------------------------------------------------------------------------- */

static void read_state(const gbsi_satisfier *s, uint32_t *state)
{
    for (uint32_t i = 0; i < s->part.n_variables; ++i) {
        state[i] = 0;
        while (s->value[gbsi_literal(s, i, state[i])] <= 0) {
            ++state[i];
            assert(state[i] < gbsi_part_arity(s, i));
        }
    }
}

static gbs_status keep_base(gbsi_satisfier *s, gbs_error *err)
{
    gbsi_solver_base *base = &s->base;
    base->state = gbsi_alloc_array(s->part.n_variables, sizeof *base->state);
    base->arena = gbsi_alloc_array(s->arena.n, sizeof *base->arena);
    base->activity = gbsi_alloc_array(s->n_booleans, sizeof *base->activity);
    GBSI_PASS(GBSI_HAVE(err, "search", base->state, base->arena, base->activity));
    read_state(s, base->state);
    gbsi_solver_undo(s, 0);
    base->trail_length = s->trail_length;
    base->arena_length = s->arena.n;
    base->n_learnt = s->n_learnt;
    base->bump = s->bump;
    memcpy(base->activity, s->activity, s->n_booleans * sizeof *s->activity);
    if (s->arena.n > 0) {
        memcpy(base->arena, s->arena.at, s->arena.n * sizeof *base->arena);
    }
    return GBS_OK;
}

/* Forgets everything that draws have learnt. */
static void restore(gbsi_satisfier *s)
{
    const gbsi_solver_base *base = &s->base;
    gbsi_solver_undo(s, 0);
    s->n_levels = 1;
    s->level_start[0] = (uint32_t)base->trail_length;
    gbsi_solver_undo(s, 0);
    s->arena.n = base->arena_length;
    s->n_learnt = base->n_learnt;
    s->bump = base->bump;
    memcpy(s->activity, base->activity, s->n_booleans * sizeof *s->activity);
    if (s->arena.n > 0) {
        memcpy(s->arena.at, base->arena, s->arena.n * sizeof *base->arena);
    }
    rewatch(s);
    s->heap_length = 0;
    memset(s->heap_place, 0xff, s->n_booleans * sizeof *s->heap_place);
    for (uint32_t b = 0; b < s->n_booleans; ++b) {
        gbsi_heap_insert(s, b);
    }
}

gbs_status gbsi_satisfier_continue(gbsi_satisfier *s, uint64_t limit, gbsi_satisfied *result,
                                   gbs_error *err)
{
    assert(s->base.state == NULL);
    *result = gbsi_solver_search(s, limit);
    GBSI_PASS(s->failed ? gbsi_no_memory(err, "search", s->arena.n * sizeof(uint32_t)) : GBS_OK);
    return *result == GBSI_SATISFIED ? keep_base(s, err) : GBS_OK;
}

gbs_status gbsi_satisfier_new(const gbsi_hard_part *part, gbsi_watch *watch, uint64_t limit,
                              gbsi_satisfier **satisfier, gbsi_satisfied *result, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_satisfier *s = NULL;
    GBSI_TRY(gbsi_solver_make(part, watch, false, &s, err));
    GBSI_TRY(gbsi_satisfier_continue(s, limit, result, err));
    *satisfier = s;
    s = NULL;

cleanup:
    gbsi_satisfier_free(s);
    return status;
}

uint64_t gbsi_satisfier_spent(const gbsi_satisfier *satisfier)
{
    return satisfier->spent;
}

gbs_status gbsi_satisfier_draw(gbsi_satisfier *s, uint64_t limit, uint32_t *x, bool *own,
                               gbs_error *err)
{
    assert(s->base.state != NULL);
    restore(s);
    for (uint32_t i = 0; i < s->part.n_variables; ++i) {
        s->preferred[i] = x[s->part.variable[i]];
    }
    const gbsi_satisfied result = gbsi_solver_search(s, s->spent + limit);
    assert(result != GBSI_CONTRADICTED);
    if (s->failed) {
        return gbsi_no_memory(err, "search", s->arena.n * sizeof(uint32_t));
    }
    if (gbsi_watch_stopped(s->watch)) {
        return GBS_STOPPED;
    }
    *own = result == GBSI_SATISFIED;
    for (uint32_t i = 0; i < s->part.n_variables; ++i) {
        uint32_t a = 0;
        while (*own && s->value[gbsi_literal(s, i, a)] <= 0) {
            ++a;
        }
        x[s->part.variable[i]] = *own ? a : s->base.state[i];
    }
    return GBS_OK;
}
