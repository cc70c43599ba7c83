/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the hard part of each factor into clauses, constraints and pairs of different variables. */
#include <assert.h>
#include <math.h>

#include "base/memory.h"
#include "satisfy/solver.h"

/* Copies a clause without repeated literals. @return whether the clause is always true. */
static bool copy_clause(gbsi_satisfier *s, const uint32_t *literal, uint32_t n)
{
    bool always = false;
    s->learnt.n = 0;
    for (uint32_t k = 0; k < n; ++k) {
        always |= s->marked[literal[k] ^ 1] != 0;
        if (!s->marked[literal[k]] && gbsi_solver_push(s, &s->learnt, literal[k])) {
            s->marked[literal[k]] = 1;
        }
    }
    for (uint32_t k = 0; k < n; ++k) {
        s->marked[literal[k]] = 0;
    }
    return always;
}

void gbsi_solver_clause(gbsi_satisfier *s, const uint32_t *literal, uint32_t n, uint32_t proof)
{
    if (copy_clause(s, literal, n) || s->contradicted || s->failed) {
        return;
    }
    const uint32_t *own = gbsi_words_at(&s->learnt);
    if (s->learnt.n == 0) {
        gbsi_solver_contradict(s, proof);
    } else if (s->learnt.n > 1) {
        (void)gbsi_solver_add(s, own, (uint32_t)s->learnt.n, 0, proof);
    } else if (!gbsi_solver_imply(s, own[0], (gbsi_reason){GBSI_BY_NOTHING, 0, proof})) {
        s->contradicted = true;
    }
}

/* Appends "variable v of the store is in this state", or its negation, to `reasons`, in which this
 * file collects the literals of a factor. */
static void collect(gbsi_satisfier *s, uint32_t v, uint32_t state, bool negated)
{
    (void)gbsi_solver_push(s, &s->reasons, gbsi_literal(s, s->part.number[v], state) ^ negated);
}

static void add_collected(gbsi_satisfier *s, uint32_t proof)
{
    gbsi_solver_clause(s, gbsi_words_at(&s->reasons), (uint32_t)s->reasons.n, proof);
}

/* ---- logical factors ------------------------------------------------------------------------- */

/* Requires all collected literals to be true, or all to be false. */
static void require_all(gbsi_satisfier *s, bool value, uint32_t proof)
{
    for (size_t k = 0; k < s->reasons.n; ++k) {
        const uint32_t literal = gbsi_words_at(&s->reasons)[k] ^ !value;
        gbsi_solver_clause(s, &literal, 1, proof);
    }
}

/* Requires the collected literals to be equal: each literal implies the next one. */
static void require_equal(gbsi_satisfier *s, bool some_true, bool some_false, uint32_t proof)
{
    if (some_true && some_false) {
        gbsi_solver_contradict(s, proof);
    } else if (some_true || some_false) {
        require_all(s, some_true, proof);
    }
    for (size_t k = 0; k < s->reasons.n && s->reasons.n > 1 && !some_true && !some_false; ++k) {
        const uint32_t *literal = gbsi_words_at(&s->reasons);
        const uint32_t pair[2] = {literal[k] ^ 1, literal[k + 1 == s->reasons.n ? 0 : k + 1]};
        gbsi_solver_clause(s, pair, 2, proof);
    }
}

static void add_constraint(gbsi_satisfier *s, gbsi_constraint c)
{
    c.n = (uint32_t)s->reasons.n;
    c.start = s->pool.n;
    if (gbsi_solver_room(s, &s->pool, c.n, sizeof(uint32_t)) &&
        gbsi_solver_room(s, &s->constraint, 1, sizeof c)) {
        memcpy(gbsi_words_at(&s->pool) + s->pool.n, s->reasons.at, c.n * sizeof(uint32_t));
        s->pool.n += c.n;
        ((gbsi_constraint *)s->constraint.at)[s->constraint.n++] = c;
    }
}

/* Requires `least` to `most` of the collected literals to be true. */
static void require_count(gbsi_satisfier *s, uint32_t least, uint32_t most, uint32_t proof)
{
    const uint32_t n = (uint32_t)s->reasons.n;
    if (least > n || least > most) {
        gbsi_solver_contradict(s, proof);
    } else if (least == n || most == 0) {
        require_all(s, least == n && n > 0, proof);
    } else if (least == 1 && most >= n) {
        add_collected(s, proof);
    } else if (least > 0 || most < n) {
        add_constraint(s, (gbsi_constraint){.kind = GBSI_CONSTRAINT_COUNT,
                                            .proof = proof,
                                            .least = least,
                                            .most = most < n ? most : n});
    }
}

static void require_parity(gbsi_satisfier *s, uint32_t odd, uint32_t proof)
{
    if (s->reasons.n == 0) {
        if (odd != 0) {
            gbsi_solver_contradict(s, proof);
        }
        return;
    }
    add_constraint(s,
                   (gbsi_constraint){.kind = GBSI_CONSTRAINT_PARITY, .proof = proof, .least = odd});
}

static void require_cardinality(gbsi_satisfier *s, const gbsi_logical *as, uint32_t n_true,
                                uint32_t proof)
{
    uint32_t least = 0;
    uint32_t most = 0;
    gbsi_logical_range(as, &least, &most);
    if (n_true > most) {
        gbsi_solver_contradict(s, proof);
    } else {
        require_count(s, least > n_true ? least - n_true : 0, most - n_true, proof);
    }
}

static void add_logical(gbsi_satisfier *s, size_t factor, uint32_t proof)
{
    const gbsi_factors *f = s->part.factors;
    const gbsi_logical *as = &f->logical[f->aux[factor]];
    const size_t start = f->scope_start[factor];
    const uint32_t n = (uint32_t)(f->scope_start[factor + 1] - start);
    const uint32_t n_body = as->head == GBSI_HEAD_FREE ? n - 1 : n;
    const uint32_t fixed_false = as->n_body - as->n_body_true - n_body;
    const bool head_true = as->head == GBSI_HEAD_TRUE;
    const uint32_t n_true = as->n_body_true + head_true;
    const bool implies =
        as->function == GBS_LOGICAL_LOGICAL || as->function == GBS_LOGICAL_IMPLY_MLN;
    for (uint32_t k = 0; k < n; ++k) {
        collect(s, f->scope[start + k], f->literal[start + k], implies && k < n_body);
    }
    switch (as->function) {
    case GBS_LOGICAL_OR:
    case GBS_LOGICAL_CLAUSE:
    case GBS_LOGICAL_LOGICAL:
    case GBS_LOGICAL_IMPLY_MLN:
        if (!head_true && (implies ? fixed_false : as->n_body_true) == 0) {
            add_collected(s, proof);
        }
        break;
    case GBS_LOGICAL_EQUAL:
        require_equal(s, n_true > 0, fixed_false > 0 || as->head == GBSI_HEAD_FALSE, proof);
        break;
    case GBS_LOGICAL_PARITY:
        require_parity(s, (n_true + 1) % 2, proof);
        break;
    case GBS_LOGICAL_AT_LEAST:
    case GBS_LOGICAL_AT_MOST:
    case GBS_LOGICAL_EXACTLY:
        require_cardinality(s, as, n_true, proof);
        break;
    default:
        assert(as->function == GBS_LOGICAL_AND || as->function == GBS_LOGICAL_IS_TRUE ||
               as->function == GBS_LOGICAL_AND_CATEGORICAL);
        if (fixed_false > 0 || as->head == GBSI_HEAD_FALSE) {
            gbsi_solver_contradict(s, proof);
        }
        require_all(s, true, proof);
    }
}

/* ---- noisy factors --------------------------------------------------------------------------- */

/* The effect needs a cause that is not surely inhibited. */
static void require_cause(gbsi_satisfier *s, const gbsi_noisy *noisy, uint32_t proof)
{
    size_t at = 1;
    s->reasons.n = 0;
    if (noisy->log_q[0] < 0.0) {
        return;
    }
    if (noisy->child != GBSI_NONE) {
        collect(s, noisy->child, noisy->effect, true);
    }
    for (uint32_t i = 0; i < noisy->n_parents; ++i) {
        for (uint32_t a = 0; a < s->part.arity[noisy->parent[i]]; ++a) {
            if (noisy->log_q[at + a] < 0.0) {
                collect(s, noisy->parent[i], a, false);
            }
        }
        at += s->part.arity[noisy->parent[i]];
    }
    add_collected(s, proof);
}

/* Forbids a state without effect together with each cause that is never inhibited. */
static void forbid_causes(gbsi_satisfier *s, const gbsi_noisy *noisy, uint32_t state,
                          uint32_t proof)
{
    size_t at = 1;
    for (uint32_t i = 0; i < noisy->n_parents; ++i) {
        for (uint32_t a = 0; a < s->part.arity[noisy->parent[i]]; ++a) {
            if (noisy->log_q[at + a] == -INFINITY) {
                s->reasons.n = 0;
                collect(s, noisy->child, state, true);
                collect(s, noisy->parent[i], a, true);
                add_collected(s, proof);
            }
        }
        at += s->part.arity[noisy->parent[i]];
    }
    if (noisy->log_q[0] == -INFINITY) { /* the leak */
        s->reasons.n = 0;
        collect(s, noisy->child, state, true);
        add_collected(s, proof);
    }
}

static void add_noisy(gbsi_satisfier *s, size_t factor, uint32_t proof)
{
    const gbsi_factors *f = s->part.factors;
    const uint32_t n_levels = gbsi_noisy_n_levels(f, s->part.arity, factor);
    for (uint32_t level = 0; level < n_levels; ++level) {
        const gbsi_noisy noisy = gbsi_noisy_level(f, s->part.arity, factor, level);
        require_cause(s, &noisy, proof);
        for (uint32_t a = 0; noisy.child != GBSI_NONE && a < s->part.arity[noisy.child]; ++a) {
            if (gbsi_noisy_part_of(noisy.effect, noisy.falling, a) == GBSI_NOISY_NONE) {
                forbid_causes(s, &noisy, a, proof);
            }
        }
    }
}

/* ---- all factors ----------------------------------------------------------------------------- */

static void add_variables(gbsi_satisfier *s)
{
    for (uint32_t i = 0; i < s->part.n_variables; ++i) {
        const uint32_t k = gbsi_part_arity(s, i);
        s->reasons.n = 0;
        for (uint32_t a = 0; k != 2 && a < k; ++a) {
            (void)gbsi_solver_push(s, &s->reasons, gbsi_literal(s, i, a));
        }
        if (k != 2) {
            add_collected(s, GBSI_PROOF_NONE);
        }
    }
}

void gbsi_solver_encode(gbsi_satisfier *s)
{
    const gbsi_factors *f = s->part.factors;
    add_variables(s);
    for (size_t i = 0; i < s->part.n_factors && !s->failed; ++i) {
        const size_t factor = s->part.factor[i];
        const uint32_t proof = (uint32_t)i << 2 | GBSI_PROOF_FACTOR;
        const size_t n = f->scope_start[factor + 1] - f->scope_start[factor];
        s->reasons.n = 0;
        if (gbsi_solver_spend(s, 1 + n)) {
            return;
        }
        if (f->kind[factor] == GBS_FACTOR_TABLE) {
            gbsi_solver_table(s, factor, proof);
        } else if (f->kind[factor] == GBS_FACTOR_LOGICAL) {
            add_logical(s, factor, proof);
        } else if (f->kind[factor] == GBS_FACTOR_POTTS) {
            for (size_t k = 0; k < 2; ++k) {
                (void)gbsi_solver_push(s, &s->differ,
                                       s->part.number[f->scope[f->scope_start[factor] + k]]);
            }
            (void)gbsi_solver_push(s, &s->differ, proof);
        } else {
            assert(gbsi_is_noisy(f->kind[factor]));
            add_noisy(s, factor, proof);
        }
    }
}
