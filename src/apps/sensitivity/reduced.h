/* SPDX-License-Identifier: Apache-2.0 */
/* The model that remains once evidence has fixed some variables, with a table for every factor,
 * over the free variables of its scope, and an indicator of X = x. A noisy factor is a chain of
 * tables [M56]: of its leak, of each parent in turn, and of the child. Let s_k say whether one of
 * the first k causes took effect. The table of parent k is over (its state, s_(k-1), s_k). Unlike
 * gbsi_condition() this keeps every state that hard zeros rule out and every factor that has become
 * constant: the derivative by an entry that is zero needs the one, that by its table the other. */
#ifndef GBSI_SENSITIVITY_REDUCED_H
#define GBSI_SENSITIVITY_REDUCED_H

#include "store/model.h"

typedef struct gbsi_reduced {
    const gbs_model *user;        /* borrowed */
    const gbs_evidence *evidence; /* borrowed; NULL: none */
    gbs_model *model;     /* NULL until gbsi_reduced_build(), tables of zeros until _fill() */
    uint32_t n_variables; /* variables of the model: the free ones, the indicator, states of chains
                           */
    uint32_t variable, x; /* X = x */
    uint32_t *number;     /* [user's variables] in the model; GBSI_NONE: one state is left of it */
    uint32_t *user_variable; /* [variables of the model] the user's; of the indicator X */
    uint32_t *state;         /* [user's variables] that state; 0 if free */
    uint8_t *barren;    /* [user's variables] 1: no observed or queried variable depends on it */
    uint8_t *dropped;   /* [user's factors] ... and on its conditional table; neither is in the
                           model */
    uint32_t indicator; /* variable of the model: 1 if X = x, else 0 */
    size_t *factor; /* [user's factors] number of the factor in the model, for a noisy factor that
                       of the first in its chain; SIZE_MAX: nothing of its scope is free */
    size_t first_likelihood; /* factors of the model from here on are likelihoods, one for each */
    uint32_t n_likelihoods;
    uint32_t *likelihood; /* [n_likelihoods] the user's free variable it is about; the last factor
                             of the model is the indicator's */
    double log_constant;  /* sum of the log-weights that became constant; minus infinity: evidence
                             is impossible */
    uint32_t *at;         /* [longest scope] states, for walks */
    gbsi_factors unit;    /* the user's, borrowed, with weights of 1: their values are phi */
} gbsi_reduced;

/* Finds which variables are free and which are not; builds no model yet. */
gbs_status gbsi_reduced_new(const gbs_model *user, const gbs_evidence *evidence, uint32_t variable,
                            uint32_t state, gbsi_reduced **out, gbs_error *err);
void gbsi_reduced_free(gbsi_reduced *reduced);
/* barren.c: finds variables that give no information about X, for any entries of their conditional
 * tables; gbsi_reduced_build() leaves them out. */
gbs_status gbsi_reduced_find_barren(gbsi_reduced *reduced, gbs_error *err);
/* Makes the model.
 * @return GBS_ERR_LIMIT for a factor whose free variables have too many joint states. */
gbs_status gbsi_reduced_build(gbsi_reduced *reduced, gbs_error *err);
/* @return the number of tables of the model that a user's factor with free variables becomes. */
size_t gbsi_reduced_n_tables(const gbsi_reduced *reduced, size_t factor);
/* Writes the true log-weights into the tables, minus infinity among them. */
void gbsi_reduced_fill(gbsi_reduced *reduced);

/* @return the logarithm of the likelihood of each state of a variable; NULL if all likelihoods are
 * 1.
 * @param evidence NULL: none. */
const double *gbsi_log_likelihood(const gbs_evidence *evidence, uint32_t variable);

/* A walk through the remaining part of a user's factor: over the entries of its table in the model
 * and of the user's table. */
typedef struct gbsi_rest {
    const gbsi_reduced *reduced;
    size_t factor;
    uint32_t *at;   /* [scope] the states of all of its scope now */
    size_t user;    /* entry of the user's table now; only of use for tables */
    size_t n_joint; /* joint states of the free part: how often to call gbsi_rest_next() */
} gbsi_rest;

/* Begins at the first joint state, the last variable moving fastest; at is reduced->at. */
gbsi_rest gbsi_rest_begin(const gbsi_reduced *reduced, size_t factor);
void gbsi_rest_next(gbsi_rest *rest);

/* Entries of conditional tables that are 0: no draw shows their derivatives directly. With R(c) the
 * product of all other factors and likelihoods of the child c, and z the other variables of a draw,
 *
 *     rho_i(z) = R(i) / sum over c of t(c | u) R(c) ,     E[1[u] rho_i | e] = g(i, u) / P(e) [M55]
 *
 * where g is the sum over states without the table. This holds only if R has no zeros: otherwise
 * states z that never occur in the draws would count. */

typedef struct gbsi_zero_entries gbsi_zero_entries;

gbs_status gbsi_zero_entries_new(const gbsi_reduced *reduced, gbsi_zero_entries **out,
                                 gbs_error *err);
void gbsi_zero_entries_free(gbsi_zero_entries *zeros);
/* Whether the zeros of a conditional table are answered. */
bool gbsi_zero_entries_answers(const gbsi_zero_entries *zeros, size_t factor);
/* Adds 1[u] rho_i of a draw to the cells of zeros.
 * @param cell [factors] the first cell of each factor: cells are the joint states of the free
 * variables in its scope.
 * @param sum  [cells][2] in and out: by 1[X = x], where the child is in state i. */
void gbsi_zero_entries_add(gbsi_zero_entries *zeros, const uint32_t *state, const size_t *cell,
                           double *sum);

#endif
