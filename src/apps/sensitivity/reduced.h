/* SPDX-License-Identifier: Apache-2.0 */
/* The model that remains after evidence has fixed some variables. It has a table for every factor,
 * over the free variables of the factor's scope, and an indicator of X = x. A noisy factor becomes
 * a chain of tables [M56]: a table of its leak, a table of each parent in turn, and a table of the
 * child. Let s_k say whether one of the first k causes took effect. The table of parent k is over
 * (its state, s_(k-1), s_k). Unlike gbsi_condition(), this model keeps every state that hard zeros
 * exclude, and every factor that has become constant. Derivatives by entries that are zero need the
 * excluded states. Derivatives by the entries of constant factors need the constant factors. */
#ifndef GBSI_SENSITIVITY_REDUCED_H
#define GBSI_SENSITIVITY_REDUCED_H

#include "store/model.h"

typedef struct gbsi_reduced {
    const gbs_model *user;        /* borrowed */
    const gbs_evidence *evidence; /* evidence, borrowed; NULL if there is none */
    gbs_model *model;             /* NULL before gbsi_reduced_build(); its tables are zeros before
                                     gbsi_reduced_fill() */
    uint32_t n_variables; /* number of variables of the model: free variables, the indicator, and
                             states of chains */
    uint32_t variable, x; /* the question: X is `variable`, and x is its state */
    uint32_t *number; /* [user's variables] number of the variable in the model; GBSI_NONE: evidence
                         leaves one state */
    uint32_t *user_variable; /* [variables of the model] number of the user's variable; X for the
                                indicator */
    uint32_t *state; /* [user's variables] the one state that evidence leaves; 0 if the variable is
                        free */
    uint8_t
        *barren; /* [user's variables] 1: no observed or queried variable depends on the variable */
    uint8_t *dropped;   /* [user's factors] 1: conditional table of a barren variable. The model has
                           neither barren variables nor dropped factors. */
    uint32_t indicator; /* number of the model's variable that is 1 if X = x, else 0 */
    size_t *factor; /* [user's factors] number of the factor in the model, or of the first factor in
                       the chain of a noisy factor; SIZE_MAX: no variable of the scope is free */
    size_t first_likelihood; /* number of the first likelihood among the factors of the model */
    uint32_t n_likelihoods;
    uint32_t *likelihood; /* [n_likelihoods] the user's free variable of each likelihood; the last
                             factor of the model is the table of the indicator */
    double log_constant;  /* sum of the log-weights that evidence made constant; minus infinity: the
                             evidence is impossible */
    uint32_t *at;         /* [longest scope] scratch for the states of a gbsi_rest */
    gbsi_factors unit; /* the user's factors, borrowed, with all weights 1: their values are phi */
} gbsi_reduced;

/* Finds which variables are free and which are not; builds no model yet. */
gbs_status gbsi_reduced_new(const gbs_model *user, const gbs_evidence *evidence, uint32_t variable,
                            uint32_t state, gbsi_reduced **out, gbs_error *err);
void gbsi_reduced_free(gbsi_reduced *reduced);
/* barren.c: finds variables that give no information about X, for any entries of their conditional
 * tables; gbsi_reduced_build() leaves them out. */
gbs_status gbsi_reduced_find_barren(gbsi_reduced *reduced, gbs_error *err);
/* Builds the model. @return GBS_ERR_LIMIT if the free variables of a factor have too many joint
 * states. */
gbs_status gbsi_reduced_build(gbsi_reduced *reduced, gbs_error *err);
/* @return the number of tables of the model that a user's factor with free variables becomes. */
size_t gbsi_reduced_n_tables(const gbsi_reduced *reduced, size_t factor);
/* Writes the true log-weights, which may be minus infinity, into the tables. */
void gbsi_reduced_fill(gbsi_reduced *reduced);

/* @return the logarithm of the likelihood of each state of a variable; NULL if all likelihoods are
 * 1.
 * @param evidence NULL: none. */
const double *gbsi_log_likelihood(const gbs_evidence *evidence, uint32_t variable);

/* A walk through the part of a user's factor that evidence leaves. Each step moves to an entry of
 * the user's table and to the corresponding entry of the model's table. */
typedef struct gbsi_rest {
    const gbsi_reduced *reduced;
    size_t factor;
    uint32_t *at;   /* [scope] current states of all variables of the scope */
    size_t user;    /* current entry of the user's table; only used for tables */
    size_t n_joint; /* number of joint states of the free variables, which is the number of steps of
                       the walk */
} gbsi_rest;

/* Begins at the first joint state; the last variable changes fastest. `at` is reduced->at. */
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
/* @return whether the derivatives by the zeros of a conditional table are estimated. */
bool gbsi_zero_entries_answers(const gbsi_zero_entries *zeros, size_t factor);
/* Adds 1[u] rho_i of a draw to the cells of entries that are zero. @param cell [factors] first cell
 * of each factor. A factor has a cell for each joint state of the free variables in its scope.
 * @param sum [cells][2] in and out: sum for draws without and with X = x, in the cells where the
 * child has state i. */
void gbsi_zero_entries_add(gbsi_zero_entries *zeros, const uint32_t *state, const size_t *cell,
                           double *sum);

#endif
