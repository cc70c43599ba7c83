/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and parities of true literals. */
#include <assert.h>

#include "satisfy/solver.h"

static const gbsi_constraint *constraint_at(const gbsi_satisfier *s, uint32_t constraint)
{
    return &((const gbsi_constraint *)s->constraint.at)[constraint];
}

/* Makes all open literals of the constraint true, or false. */
static bool force_open(gbsi_satisfier *s, const gbsi_constraint *c, uint32_t number, bool value)
{
    const gbsi_reason reason = {GBSI_BY_CONSTRAINT, number, 0};
    for (uint32_t k = 0; k < c->n; ++k) {
        const uint32_t literal = gbsi_words_at(&s->pool)[c->start + k];
        if (s->value[literal] == 0) {
            (void)gbsi_solver_imply(s, value ? literal : literal ^ 1, reason);
        }
    }
    return true;
}

bool gbsi_propagate_counts(gbsi_satisfier *s, uint32_t constraint)
{
    const gbsi_constraint *c = constraint_at(s, constraint);
    (void)gbsi_solver_spend(s, c->n);
    if (c->kind == GBSI_CONSTRAINT_PARITY) {
        if (c->n_true + c->n_false == c->n && c->n_true % 2 != c->least) {
            s->conflict = (gbsi_reason){GBSI_BY_CONSTRAINT, constraint, 0};
            s->conflict_with = GBSI_NO_LITERAL;
            return false;
        }
        return c->n_true + c->n_false + 1 < c->n ||
               force_open(s, c, constraint, c->n_true % 2 != c->least);
    }
    if (c->n_true > c->most || c->n_false + c->least > c->n) {
        s->conflict = (gbsi_reason){GBSI_BY_CONSTRAINT, constraint, 0};
        s->conflict_with = GBSI_NO_LITERAL;
        return false;
    }
    if (c->n_true == c->most) {
        return force_open(s, c, constraint, false);
    }
    return c->n_false + c->least < c->n || force_open(s, c, constraint, true);
}

/* Appends up to `wanted` literals of one truth value, in the order of the constraint. */
static void explain(gbsi_satisfier *s, const gbsi_constraint *c, bool truth, uint32_t wanted,
                    uint32_t before)
{
    for (uint32_t k = 0; k < c->n && wanted > 0; ++k) {
        const uint32_t literal = gbsi_words_at(&s->pool)[c->start + k];
        if (s->value[literal] == (truth ? 1 : -1) && s->position[literal / 2] < before) {
            (void)gbsi_solver_push(s, &s->reasons, truth ? literal ^ 1 : literal);
            --wanted;
        }
    }
}

/* Returns whether the constraint contains this literal, and not its negation. */
static bool contains(const gbsi_satisfier *s, const gbsi_constraint *c, uint32_t literal)
{
    uint32_t k = 0;
    while (gbsi_words_at(&s->pool)[c->start + k] / 2 != literal / 2) {
        ++k;
        assert(k < c->n);
    }
    return gbsi_words_at(&s->pool)[c->start + k] == literal;
}

void gbsi_explain_counts(gbsi_satisfier *s, uint32_t constraint, uint32_t literal, uint32_t before)
{
    const gbsi_constraint *c = constraint_at(s, constraint);
    (void)gbsi_solver_spend(s, c->n);
    if (c->kind == GBSI_CONSTRAINT_PARITY) {
        explain(s, c, true, c->n, before);
        explain(s, c, false, c->n, before);
    } else if (literal == GBSI_NO_LITERAL) {
        /* most + 1 true literals, or n - least + 1 false ones, contradict the constraint */
        const bool many = c->n_true > c->most;
        explain(s, c, many, many ? c->most + 1 : c->n - c->least + 1, before);
    } else {
        /* most true literals make the others false; n - least false ones make the others true */
        const bool made_true = contains(s, c, literal);
        explain(s, c, !made_true, made_true ? c->n - c->least : c->most, before);
    }
}
