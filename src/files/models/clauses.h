/* SPDX-License-Identifier: Apache-2.0 */
/* Weighted clauses: ln p gains the weight of each clause that holds. Readers collect literals into
 * clauses, and writers turn factors into clauses. Some formats also have parities and cardinality
 * constraints. */
#ifndef GBSI_MODELS_CLAUSES_H
#define GBSI_MODELS_CLAUSES_H

#include <math.h>

#include "text/text.h"

#define GBSI_HARD INFINITY /* weight of a clause that must hold */

/* A model of clauses that is being built. The struct must be initialised with zeros. */
typedef struct gbsi_clauses {
    gbs_builder *builder;
    double scale;         /* factor by which weights are multiplied */
    uint32_t n_variables; /* number of variables until now; each has two states */
    double constant;      /* total weight of clauses that always hold */
    /* Data of the clause that is being read: distinct variables, and for each variable the state
     * that makes the clause hold. */
    uint32_t n;
    void *scope; /* uint32_t */
    void *state; /* uint32_t */
    size_t scope_capacity;
    size_t state_capacity;
    bool tautology;
    bool repeated; /* a clause names a variable twice */
    /* GBS_LOGICAL_PARITY or a cardinality, which readers set before gbsi_clauses_end(); 0 for a
     * clause */
    gbs_logical_function function;
    uint32_t k; /* bound of a cardinality */
    /* The last clause that names each variable, with the state of its literal: 2 * (1 + clause) +
     * state. */
    void *mark; /* size_t [n_variables] */
    size_t mark_capacity;
    size_t n_clauses; /* number of complete clauses */
    size_t n_tautologies, n_repeated, n_empty, n_always, n_never, n_underflow;
} gbsi_clauses;

gbs_status gbsi_clauses_begin(gbsi_clauses *c, const gbsi_text *text, gbs_error *err);
void gbsi_clauses_free(gbsi_clauses *c);

/* Adds variables until there are at least n. */
gbs_status gbsi_clauses_need(gbsi_clauses *c, uint32_t n, gbs_error *err);
/* Adds a literal of an existing variable to the current clause. */
gbs_status gbsi_clauses_literal(gbsi_clauses *c, uint32_t variable, bool positive, gbs_error *err);
/* Ends the clause that begins at `place`. A repeated literal counts once. A clause that contains a
 * literal and its negation is a constant. A clause of weight 0 is left out. Parities and
 * cardinalities that name a variable twice are refused.
 * @param weight weight in the file, which is not yet multiplied by `scale`, or GBSI_HARD. */
gbs_status gbsi_clauses_end(gbsi_clauses *c, const gbsi_text *text, gbsi_token place, double weight,
                            gbs_error *err);
/* Makes the model. Warns about clauses that were simplified. */
gbs_status gbsi_clauses_build(gbsi_clauses *c, const gbsi_text *text, gbs_model **model,
                              gbs_error *err);

/* ---- factors as clauses ------------------------------------------------------------------ */

/* A factor written as the sum of a constant and a clause, a parity or a cardinality. */
typedef struct gbsi_clause {
    gbs_logical_function function; /* GBS_LOGICAL_CLAUSE, GBS_LOGICAL_PARITY or a cardinality */
    uint32_t k;                    /* bound of a cardinality */
    /* GBSI_HARD, or the log-weight that the factor gains if the clause holds */
    double weight;
    double constant; /* log-weight of the factor if the clause does not hold */
    uint32_t n;      /* number of literals; 0 if the factor is only the constant */
    const uint32_t *scope;
    const uint32_t *literal; /* NULL if the factor is a field, which has one literal */
    uint32_t n_negated;      /* number of negated literals, which come first */
} gbsi_clause;

/* Writes a factor as a clause.
 * @param format name of the format, for the message.
 * @param counts whether the format has parities and cardinalities.
 * @return GBS_ERR_UNSUPPORTED, with a message that names the factor, if the factor is no clause. */
gbs_status gbsi_clause_of(const gbs_model *model, size_t factor, const char *format, bool counts,
                          gbsi_clause *clause, gbs_error *err);
bool gbsi_clause_positive(const gbsi_clause *clause, uint32_t k);

/* Checks that the model has variables, and that each has two states. */
gbs_status gbsi_clauses_check(const gbs_model *model, const char *format, gbs_error *err);

#endif
