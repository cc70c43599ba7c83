/* SPDX-License-Identifier: Apache-2.0 */
/* Weighted clauses: ln p gains the weight of each clause that holds. Readers collect literals,
 * writers take factors for clauses. Parities and cardinalities stand among clauses in files that
 * have them. */
#ifndef GBSI_MODELS_CLAUSES_H
#define GBSI_MODELS_CLAUSES_H

#include <math.h>

#include "text/text.h"

#define GBSI_HARD INFINITY /* the weight of a clause that must hold */

/* A model of clauses in the making. Zero-initialise. */
typedef struct gbsi_clauses {
    gbs_builder *builder;
    double scale;         /* factor by which weights are multiplied */
    uint32_t n_variables; /* number of variables until now, all with two states */
    double constant;      /* total weight of clauses that always hold */
    /* The clause being read: distinct variables and the states that make it hold. */
    uint32_t n;
    void *scope; /* uint32_t */
    void *state; /* uint32_t */
    size_t scope_capacity;
    size_t state_capacity;
    bool tautology;
    bool repeated;                 /* a clause names a variable twice */
    gbs_logical_function function; /* PARITY or a cardinality, set before its end; 0: a clause */
    uint32_t k;                    /* of a cardinality */
    /* Which clause named a variable last, and how: 2 * (1 + clause) + state. */
    void *mark; /* size_t [n_variables] */
    size_t mark_capacity;
    size_t n_clauses; /* number of clauses that are complete */
    size_t n_tautologies, n_repeated, n_empty, n_always, n_never, n_underflow;
} gbsi_clauses;

gbs_status gbsi_clauses_begin(gbsi_clauses *c, const gbsi_text *text, gbs_error *err);
void gbsi_clauses_free(gbsi_clauses *c);

/* There are at least n variables. */
gbs_status gbsi_clauses_need(gbsi_clauses *c, uint32_t n, gbs_error *err);
/* A literal of the clause being read, of a variable that exists. */
gbs_status gbsi_clauses_literal(gbsi_clauses *c, uint32_t variable, bool positive, gbs_error *err);
/* The end of a clause that stands at place. A repeated literal counts once, a clause with a literal
 * and its negation is a constant, one of weight 0 is left out. Parities and
 * cardinalities with a variable twice are refused.
 * @param weight unscaled, or GBSI_HARD. */
gbs_status gbsi_clauses_end(gbsi_clauses *c, const gbsi_text *text, gbsi_token place, double weight,
                            gbs_error *err);
/* Warns about clauses that were simplified. */
gbs_status gbsi_clauses_build(gbsi_clauses *c, const gbsi_text *text, gbs_model **model,
                              gbs_error *err);

/* ---- the other way ----------------------------------------------------------------------- */

/* A factor as a clause, parity or cardinality, and a constant. */
typedef struct gbsi_clause {
    gbs_logical_function function; /* CLAUSE, PARITY or a cardinality */
    uint32_t k;                    /* of a cardinality */
    double weight;                 /* GBSI_HARD, or what the factor gains where the clause holds */
    double constant; /* log-weight of the factor besides, whether the clause holds or not */
    uint32_t n;      /* 0: the constant is all there is */
    const uint32_t *scope;
    const uint32_t *literal; /* NULL: one of a field */
    uint32_t n_negated;      /* so many literals, the first ones, are negated */
} gbsi_clause;

/* @param format name of the format, for the message. @param counts whether it has parities and
 * cardinalities. @return
 * GBS_ERR_UNSUPPORTED naming the factor. */
gbs_status gbsi_clause_of(const gbs_model *model, size_t factor, const char *format, bool counts,
                          gbsi_clause *clause, gbs_error *err);
bool gbsi_clause_positive(const gbsi_clause *clause, uint32_t k);

/* Every variable has two states, and there is one. */
gbs_status gbsi_clauses_check(const gbs_model *model, const char *format, gbs_error *err);

#endif
