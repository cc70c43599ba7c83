/* SPDX-License-Identifier: Apache-2.0 */
/* Learns a clause from a conflict: the first unique implication point (Marques-Silva & Sakallah
 * 1999; Zhang, Madigan, Moskewicz & Malik 2001, ICCAD-01:279-285). */
#include "satisfy/solver.h"

#define MOST_BUMP ((uint64_t)1 << 60)

static void prove(gbsi_satisfier *s, uint32_t name)
{
    if (s->proves && name != GBSI_PROOF_NONE) {
        (void)gbsi_solver_push(s, &s->proof, name);
    }
}

static uint32_t root_name(uint32_t boolean)
{
    return boolean << 2 | GBSI_PROOF_ROOT;
}

const uint32_t *gbsi_solver_reason(gbsi_satisfier *s, uint32_t literal, uint32_t *n,
                                   uint32_t *proof)
{
    const bool conflict = literal == GBSI_NO_LITERAL;
    const gbsi_reason r = conflict ? s->conflict : s->reason[literal / 2];
    const uint32_t implied = conflict ? s->conflict_with : literal;
    const uint32_t before = conflict ? (uint32_t)s->trail_length : s->position[literal / 2];
    s->reasons.n = 0;
    *n = 0;
    *proof = r.proof;
    if (r.kind == GBSI_BY_CLAUSE) {
        const uint32_t *clause = gbsi_words_at(&s->arena) + r.at;
        *n = clause[GBSI_CLAUSE_SIZE] - 1;
        *proof = clause[GBSI_CLAUSE_PROOF];
        return clause + GBSI_CLAUSE_HEAD + 1;
    }
    if (r.kind == GBSI_BY_LITERAL) {
        (void)gbsi_solver_push(s, &s->reasons, r.at ^ 1);
    } else if (r.kind == GBSI_BY_CONSTRAINT) {
        const gbsi_constraint *c = &((const gbsi_constraint *)s->constraint.at)[r.at];
        *proof = c->proof;
        if (c->kind == GBSI_CONSTRAINT_ROWS) {
            gbsi_explain_rows(s, r.at, implied, before);
        } else {
            gbsi_explain_counts(s, r.at, implied, before);
        }
    }
    *n = (uint32_t)s->reasons.n;
    return gbsi_words_at(&s->reasons);
}

/* Raises the activity of a Boolean. */
static void bump(gbsi_satisfier *s, uint32_t boolean)
{
    s->activity[boolean] += s->bump;
    gbsi_heap_raise(s, boolean);
}

/* Lets later conflicts count 17/16 times as much as this one. The counts are integers, so that the
 * order of the Booleans is the same on all machines. */
static void age(gbsi_satisfier *s)
{
    s->bump += s->bump / 16;
    if (s->bump > MOST_BUMP) {
        for (uint32_t b = 0; b < s->n_booleans; ++b) {
            s->activity[b] >>= 44;
        }
        s->bump >>= 44;
        s->heap_length = 0; /* counts that became equal change the order */
        memset(s->heap_place, 0xff, s->n_booleans * sizeof *s->heap_place);
        for (uint32_t b = 0; b < s->n_booleans; ++b) {
            gbsi_heap_insert(s, b);
        }
    }
}

/* Takes a false literal into the conflict: literals of the last level are resolved later, and the
 * others belong to the learnt clause. */
static void take(gbsi_satisfier *s, uint32_t literal, uint32_t *n_open)
{
    const uint32_t b = literal / 2;
    if (s->level[b] == 0) {
        prove(s, root_name(b));
    } else if (!s->seen[b]) {
        s->seen[b] = 1;
        bump(s, b);
        if (s->level[b] == s->n_levels) {
            ++*n_open;
        } else {
            (void)gbsi_solver_push(s, &s->learnt, literal);
        }
    }
}

/* Returns whether the other literals of the learnt clause imply that this literal is false. */
static bool is_redundant(gbsi_satisfier *s, uint32_t literal)
{
    uint32_t n = 0;
    uint32_t name = 0;
    if (s->reason[literal / 2].kind == GBSI_BY_NOTHING) {
        return false;
    }
    const uint32_t *other = gbsi_solver_reason(s, literal ^ 1, &n, &name);
    for (uint32_t k = 0; k < n; ++k) {
        if (!s->seen[other[k] / 2] && s->level[other[k] / 2] > 0) {
            return false;
        }
    }
    prove(s, name);
    for (uint32_t k = 0; k < n && s->proves; ++k) {
        if (s->level[other[k] / 2] == 0) {
            prove(s, root_name(other[k] / 2));
        }
    }
    return true;
}

/* Removes redundant literals from the learnt clause. */
static void shorten(gbsi_satisfier *s)
{
    uint32_t *literal = gbsi_words_at(&s->learnt);
    const size_t n = s->learnt.n;
    size_t kept = 1;
    for (size_t k = 1; k < n; ++k) {
        if (is_redundant(s, literal[k])) {
            literal[k] |= (uint32_t)1 << 31; /* `seen` must remain until all were examined */
        }
    }
    for (size_t k = 1; k < n; ++k) {
        const uint32_t l = literal[k] & ~((uint32_t)1 << 31);
        s->seen[l / 2] = 0;
        if (l == literal[k]) {
            literal[kept++] = l;
        }
    }
    s->learnt.n = kept;
}

/* Moves a literal of the second highest level to place 1. @return this level. */
static uint32_t second_level(gbsi_satisfier *s, uint32_t *n_levels)
{
    uint32_t *literal = gbsi_words_at(&s->learnt);
    uint32_t best = 0;
    ++s->n_analyzed;
    *n_levels = 1;
    for (uint32_t k = 1; k < s->learnt.n; ++k) {
        const uint32_t level = s->level[literal[k] / 2];
        if (best == 0 || level > s->level[literal[best] / 2]) {
            best = k;
        }
        *n_levels += s->level_seen[level] != s->n_analyzed;
        s->level_seen[level] = s->n_analyzed;
    }
    if (best == 0) {
        return 0;
    }
    const uint32_t second = literal[best];
    literal[best] = literal[1];
    literal[1] = second;
    return s->level[second / 2];
}

/* Begins the record of the next learnt clause in the proof. @return its name. */
static uint32_t begin_record(gbsi_satisfier *s)
{
    if (!s->proves) {
        return GBSI_PROOF_NONE;
    }
    if (s->proof_start.n >= GBSI_PROOF_NUMBERS ||
        !gbsi_solver_room(s, &s->proof_start, 1, sizeof(size_t))) {
        s->failed = true;
        return GBSI_PROOF_NONE;
    }
    ((size_t *)s->proof_start.at)[s->proof_start.n] = s->proof.n;
    return (uint32_t)s->proof_start.n++ << 2 | GBSI_PROOF_LEARNT;
}

uint32_t gbsi_solver_analyze(gbsi_satisfier *s, uint32_t *n_levels, uint32_t *proof)
{
    uint32_t n_open = 0;
    uint32_t n = 0;
    uint32_t name = 0;
    size_t at = s->trail_length;
    *proof = begin_record(s);
    s->learnt.n = 0;
    (void)gbsi_solver_push(s, &s->learnt, 0);
    const uint32_t *other = gbsi_solver_reason(s, GBSI_NO_LITERAL, &n, &name);
    if (s->conflict_with != GBSI_NO_LITERAL) {
        take(s, s->conflict_with, &n_open);
    }
    for (;;) {
        prove(s, name);
        for (uint32_t k = 0; k < n; ++k) {
            take(s, other[k], &n_open);
        }
        (void)gbsi_solver_spend(s, n);
        do {
            --at;
        } while (!s->seen[s->trail[at] / 2]);
        s->seen[s->trail[at] / 2] = 0;
        if (--n_open == 0 || s->failed) {
            break;
        }
        other = gbsi_solver_reason(s, s->trail[at], &n, &name);
    }
    gbsi_words_at(&s->learnt)[0] = s->trail[at] ^ 1;
    shorten(s);
    age(s);
    return second_level(s, n_levels);
}

void gbsi_solver_end_proof(gbsi_satisfier *s)
{
    uint32_t n = 0;
    uint32_t name = 0;
    (void)begin_record(s);
    const uint32_t *other = gbsi_solver_reason(s, GBSI_NO_LITERAL, &n, &name);
    prove(s, name);
    for (uint32_t k = 0; k < n; ++k) {
        prove(s, root_name(other[k] / 2));
    }
    if (s->conflict_with != GBSI_NO_LITERAL) {
        prove(s, root_name(s->conflict_with / 2));
    }
}
