/* SPDX-License-Identifier: Apache-2.0 */
/* Assignments, clauses with two watched literals, and propagation. */
#include <assert.h>

#include "base/memory.h"
#include "satisfy/solver.h"

bool gbsi_solver_room(gbsi_satisfier *s, gbsi_list *list, size_t n, size_t size)
{
    if (gbsi_reserve(&list->at, &list->capacity, list->n + n, size, "search", NULL) != GBS_OK) {
        s->failed = true;
        return false;
    }
    return true;
}

bool gbsi_solver_push(gbsi_satisfier *s, gbsi_list *list, uint32_t word)
{
    if (list->n == list->capacity && !gbsi_solver_room(s, list, 1, sizeof word)) {
        return false;
    }
    gbsi_words_at(list)[list->n++] = word;
    return true;
}

bool gbsi_solver_spend(gbsi_satisfier *s, uint64_t n_operations)
{
    s->spent += n_operations;
    return gbsi_watch_spend(s->watch, n_operations);
}

/* ---- assignments ----------------------------------------------------------------------------- */

bool gbsi_solver_imply(gbsi_satisfier *s, uint32_t literal, gbsi_reason reason)
{
    const uint32_t b = literal / 2;
    if (s->value[literal] != 0) {
        if (s->value[literal] < 0) {
            s->conflict = reason;
            s->conflict_with = literal;
            return false;
        }
        return true;
    }
    s->value[literal] = 1;
    s->value[literal ^ 1] = -1;
    s->level[b] = s->n_levels;
    s->position[b] = (uint32_t)s->trail_length;
    s->reason[b] = reason;
    s->trail[s->trail_length++] = literal;
    return true;
}

/* Counts a literal that became true, or is no longer true, in its constraints. */
static void count(gbsi_satisfier *s, uint32_t literal, uint32_t by)
{
    gbsi_constraint *c = s->constraint.at;
    for (size_t i = s->occurs_start[literal]; i < s->occurs_start[literal + (size_t)1]; ++i) {
        c[s->occurs[i]].n_true += by;
    }
    for (size_t i = s->occurs_start[literal ^ 1]; i < s->occurs_start[(literal ^ 1) + (size_t)1];
         ++i) {
        c[s->occurs[i]].n_false += by;
    }
}

static void empty_queue(gbsi_satisfier *s)
{
    gbsi_constraint *c = s->constraint.at;
    for (; s->queue_head < s->queue.n; ++s->queue_head) {
        c[gbsi_words_at(&s->queue)[s->queue_head]].queued = 0;
    }
    s->queue_head = 0;
    s->queue.n = 0;
}

void gbsi_solver_undo(gbsi_satisfier *s, uint32_t level)
{
    if (s->n_levels <= level) {
        return;
    }
    const size_t end = s->level_start[level];
    empty_queue(s);
    while (s->trail_length > end) {
        const uint32_t literal = s->trail[--s->trail_length];
        if (s->trail_length < s->n_propagated) {
            count(s, literal, UINT32_MAX); /* minus 1 */
            s->n_propagated = s->trail_length;
        }
        s->value[literal] = 0;
        s->value[literal ^ 1] = 0;
        const uint32_t i = s->variable[literal / 2];
        if (s->first[i + 1] - s->first[i] == 1) {
            s->preferred[i] = literal % 2 == 0;
        } else if (literal % 2 == 0) {
            s->preferred[i] = literal / 2 - s->first[i];
        }
        gbsi_heap_insert(s, literal / 2);
    }
    s->n_levels = level;
}

/* ---- clauses --------------------------------------------------------------------------------- */

static void watch_literal(gbsi_satisfier *s, uint32_t literal, uint32_t clause, uint32_t other)
{
    gbsi_list *list = &s->watched[literal];
    if (list->n == list->capacity && !gbsi_solver_room(s, list, 1, sizeof(gbsi_watched))) {
        return;
    }
    ((gbsi_watched *)list->at)[list->n++] = (gbsi_watched){clause, other};
}

void gbsi_solver_watch_clause(gbsi_satisfier *s, uint32_t clause)
{
    const uint32_t *literal = gbsi_words_at(&s->arena) + clause + GBSI_CLAUSE_HEAD;
    watch_literal(s, literal[0], clause, literal[1]);
    watch_literal(s, literal[1], clause, literal[0]);
}

uint32_t gbsi_solver_add(gbsi_satisfier *s, const uint32_t *literal, uint32_t n, uint32_t levels,
                         uint32_t proof)
{
    assert(n >= 2);
    const size_t at = s->arena.n;
    if (at > UINT32_MAX - GBSI_CLAUSE_HEAD - n) { /* places of clauses have 32 bits */
        s->failed = true;
        return 0;
    }
    if (!gbsi_solver_room(s, &s->arena, GBSI_CLAUSE_HEAD + n, sizeof *literal)) {
        return 0;
    }
    uint32_t *clause = gbsi_words_at(&s->arena) + at;
    clause[GBSI_CLAUSE_SIZE] = n;
    clause[GBSI_CLAUSE_LEVELS] = levels;
    clause[GBSI_CLAUSE_PROOF] = proof;
    memcpy(clause + GBSI_CLAUSE_HEAD, literal, n * sizeof *literal);
    s->arena.n += GBSI_CLAUSE_HEAD + n;
    s->n_learnt += levels > 0;
    gbsi_solver_watch_clause(s, (uint32_t)at);
    return (uint32_t)at;
}

void gbsi_solver_contradict(gbsi_satisfier *s, uint32_t proof)
{
    if (!s->contradicted) { /* the first conflict remains */
        s->contradicted = true;
        s->conflict = (gbsi_reason){GBSI_BY_NOTHING, 0, proof};
        s->conflict_with = GBSI_NO_LITERAL;
    }
}

/* Finds a literal that is not false, beyond the two that are watched, and moves it to place 1.
 * @return false if there is none. */
static bool find_watch(const gbsi_satisfier *s, uint32_t *clause)
{
    uint32_t *literal = clause + GBSI_CLAUSE_HEAD;
    for (uint32_t k = 2; k < clause[GBSI_CLAUSE_SIZE]; ++k) {
        if (s->value[literal[k]] >= 0) {
            const uint32_t found = literal[k];
            literal[k] = literal[1];
            literal[1] = found;
            return true;
        }
    }
    return false;
}

/* Visits the clauses that watch a literal that became false. */
static bool visit_clauses(gbsi_satisfier *s, uint32_t false_literal)
{
    gbsi_list *list = &s->watched[false_literal];
    gbsi_watched *w = list->at;
    size_t kept = 0;
    size_t i = 0;
    bool alive = true;
    while (i < list->n && alive) {
        const gbsi_watched now = w[i++];
        if (s->value[now.other] > 0) {
            w[kept++] = now;
            continue;
        }
        uint32_t *clause = gbsi_words_at(&s->arena) + now.clause;
        uint32_t *literal = clause + GBSI_CLAUSE_HEAD;
        if (literal[0] == false_literal) {
            literal[0] = literal[1];
            literal[1] = false_literal;
        }
        const gbsi_watched next = {now.clause, literal[0]};
        if (s->value[literal[0]] <= 0 && find_watch(s, clause)) {
            watch_literal(s, literal[1], now.clause, literal[0]);
            continue;
        }
        w[kept++] = next;
        if (s->value[literal[0]] <= 0) {
            alive = gbsi_solver_imply(s, literal[0], (gbsi_reason){GBSI_BY_CLAUSE, now.clause, 0});
        }
    }
    (void)gbsi_solver_spend(s, 1 + i);
    for (; i < list->n; ++i) {
        w[kept++] = w[i];
    }
    list->n = kept;
    return alive;
}

/* ---- states of variables --------------------------------------------------------------------- */

/* Rules out the other states of a variable, and this state of the variables that must differ from
 * it. */
static bool visit_variable(gbsi_satisfier *s, uint32_t literal)
{
    const uint32_t i = s->variable[literal / 2];
    const uint32_t n = s->first[i + 1] - s->first[i];
    const uint32_t state = n == 1 ? literal % 2 == 0 : literal / 2 - s->first[i];
    if (n > 1 && literal % 2 != 0) {
        return true;
    }
    (void)gbsi_solver_spend(s, n + s->differs_start[i + 1] - s->differs_start[i]);
    for (uint32_t a = 0; n > 1 && a < n; ++a) {
        const gbsi_reason reason = {GBSI_BY_LITERAL, literal, GBSI_PROOF_NONE};
        if (a != state && !gbsi_solver_imply(s, 2 * (s->first[i] + a) + 1, reason)) {
            return false;
        }
    }
    for (size_t d = s->differs_start[i]; d < s->differs_start[i + 1]; ++d) {
        const uint32_t other = s->differs[2 * d];
        const gbsi_reason reason = {GBSI_BY_LITERAL, literal, s->differs[2 * d + 1]};
        if (!gbsi_solver_imply(s, gbsi_literal(s, other, state) ^ 1, reason)) {
            return false;
        }
    }
    return true;
}

/* ---- constraints ----------------------------------------------------------------------------- */

/* Returns whether the counts of a constraint may imply something. */
static bool is_due(const gbsi_constraint *c)
{
    switch (c->kind) {
    case GBSI_CONSTRAINT_COUNT:
        return c->n_true >= c->most || c->n_false + c->least >= c->n;
    case GBSI_CONSTRAINT_PARITY:
        return c->n_true + c->n_false + 1 >= c->n;
    default:
        return true;
    }
}

static void queue_constraints(gbsi_satisfier *s, uint32_t literal)
{
    gbsi_constraint *all = s->constraint.at;
    for (size_t i = s->occurs_start[literal]; i < s->occurs_start[literal + (size_t)1]; ++i) {
        gbsi_constraint *c = &all[s->occurs[i]];
        if (!c->queued && is_due(c) && gbsi_solver_push(s, &s->queue, s->occurs[i])) {
            c->queued = 1;
        }
    }
    (void)gbsi_solver_spend(s, s->occurs_start[literal + (size_t)1] - s->occurs_start[literal]);
}

static bool propagate_literals(gbsi_satisfier *s)
{
    while (s->n_propagated < s->trail_length) {
        const uint32_t literal = s->trail[s->n_propagated++];
        count(s, literal, 1);
        if (!visit_variable(s, literal) || !visit_clauses(s, literal ^ 1)) {
            return false;
        }
        queue_constraints(s, literal);
        queue_constraints(s, literal ^ 1);
    }
    return true;
}

bool gbsi_solver_propagate(gbsi_satisfier *s)
{
    while (propagate_literals(s)) {
        if (s->queue_head == s->queue.n || s->failed) {
            s->queue_head = 0;
            s->queue.n = 0;
            return true;
        }
        const uint32_t at = gbsi_words_at(&s->queue)[s->queue_head++];
        gbsi_constraint *c = &((gbsi_constraint *)s->constraint.at)[at];
        c->queued = 0;
        if (!(c->kind == GBSI_CONSTRAINT_ROWS ? gbsi_propagate_rows(s, at)
                                              : gbsi_propagate_counts(s, at))) {
            break;
        }
    }
    empty_queue(s);
    return false;
}
