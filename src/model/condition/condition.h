/* SPDX-License-Identifier: Apache-2.0 */
/* The conditioned model: the model that remains given evidence. All inference works on a
 * conditioned model.
 *
 * Observed states are substituted, and likelihoods become unary factors. States that hard zeros
 * rule out are removed, by generalised arc consistency over the factors with zeros, to a fixed
 * point. Variables left with one state leave the model. The remaining variables are free. They are
 * renumbered 0..n-1 in the user's order, and their remaining states 0..arity-1 in order. */
#ifndef GBSI_CONDITION_CONDITION_H
#define GBSI_CONDITION_CONDITION_H

#include "base/watch.h"
#include "store/model.h"

typedef struct gbsi_conditioned {
    const gbs_model *model; /* borrowed */
    uint32_t n_variables;   /* number of free variables */
    uint32_t *arity;        /* [n_variables] numbers of remaining states, >= 2 */
    size_t *state_offset;   /* [n_variables + 1] offsets of the variables' states */
    gbsi_factors factors; /* factors over free variables and their states; every scope has 1 or more
                             variables */
    size_t *origin; /* [factors.n_factors] the user's number of each factor; SIZE_MAX if the factor
                       is virtual evidence; NULL if no number changed */
    /* [factors.n_factors] 1 if some configuration has log-weight minus infinity */
    uint8_t *has_zeros;
    uint32_t *user_variable; /* [n_variables] the user's numbers of the free variables */
    uint32_t *user_state;    /* [state_offset[n_variables]] the user's numbers of the states, see
                                gbsi_conditioned_states() */
    /* [model->n_variables] for each variable of the user, its number among the free variables;
     * GBSI_NONE if the variable is fixed */
    uint32_t *free_variable;
    uint32_t *fixed_state; /* [model->n_variables] state of each fixed variable; GBSI_NONE if the
                              variable is free */
    uint32_t n_implied; /* number of fixed variables that are not observed, including variables that
                           have only one state */
    double log_constant; /* ln of the product of all factors that became constant */
    /* [n_variables] number of the conditional table whose child is the variable; GBSI_NONE if
     * conditioning removed the table. NULL if the model is not directed */
    uint32_t *cpt;
    uint32_t *topological; /* [n_variables] free variables, parents first; NULL if the model is not
                              directed */
    bool borrows; /* true if conditioning changed nothing. The arrays then belong to the model, and
                     `free_variable` and `user_variable` are one array. All variables then share one
                     row of `user_state`, as long as the largest arity */
} gbsi_conditioned;

/* Returns the user's numbers of the states of a free variable. @return [arity] */
static inline const uint32_t *gbsi_conditioned_states(const gbsi_conditioned *c, uint32_t v)
{
    return c->user_state + (c->borrows ? 0 : c->state_offset[v]);
}

/* @param evidence NULL if there is none.
 * @return GBS_ERR_IMPOSSIBLE, with a message that names a factor, if propagation proves that the
 * evidence has probability 0. */
gbs_status gbsi_condition(const gbs_model *model, const gbs_evidence *evidence,
                          gbsi_conditioned **conditioned, gbs_error *err);
/* @param watch NULL, or a watch that may stop the work; the status is then GBS_ERR_STOPPED. */
gbs_status gbsi_condition_watched(const gbs_model *model, const gbs_evidence *evidence,
                                  gbsi_watch *watch, gbsi_conditioned **conditioned,
                                  gbs_error *err);
void gbsi_conditioned_free(gbsi_conditioned *conditioned);

/* Sizes of the arrays of a part, that is, of a conditioned model that is made from another
 * conditioned model. */
typedef struct gbsi_part_sizes {
    uint32_t n_variables;
    size_t n_states, n_factors, n_scope, n_tables, n_entries;
    bool logical; /* whether any factor is logical */
} gbsi_part_sizes;

/* Allocates the arrays of variables and factors of a part, except those that only Bayesian
 * networks have. The elements of `literal` are zero, and all other elements are undefined. The part
 * has room for all logical descriptions of the whole model. */
gbs_status gbsi_conditioned_reserve(const gbsi_conditioned *whole, const gbsi_part_sizes *sizes,
                                    gbsi_conditioned *part, gbs_error *err);
/* Copies the chosen variables, and log_constant, from the whole model to the part.
 * @param number [n_variables of the whole] number of each variable in the part, ascending;
 * GBSI_NONE if the part does not contain the variable. */
void gbsi_conditioned_take_variables(const gbsi_conditioned *whole, const uint32_t *number,
                                     gbsi_conditioned *part);
/* Copies the descriptions of all logical factors of the whole model; many factors share a
 * description, so the descriptions are few. */
void gbsi_conditioned_take_logical(const gbsi_conditioned *whole, gbsi_conditioned *part);

/* Makes the part of a conditioned model that has the variables with keep[v] != 0. These variables
 * must be a union of connected components. The other variables are neither free nor fixed in the
 * part; log_constant is copied. If keep[v] != 0 for all variables, the part is a copy with equal
 * content. */
gbs_status gbsi_conditioned_part(const gbsi_conditioned *whole, const uint8_t *keep,
                                 gbsi_conditioned **part, gbs_error *err);

/* Makes the part of a model that the conditionals of some variables need: the factors of these
 * variables, with all variables of these factors. Only the visited variables have the same
 * conditionals in the part as in the whole model.
 * @param visited [whole->n_variables] nonzero for the variables whose conditionals are needed. */
gbs_status gbsi_conditioned_around(const gbsi_conditioned *whole, const uint8_t *visited,
                                   gbsi_conditioned **part, gbs_error *err);

/* Returns the user's factor from which a factor comes; SIZE_MAX for virtual evidence. */
static inline size_t gbsi_conditioned_origin(const gbsi_conditioned *conditioned, size_t factor)
{
    return conditioned->origin == NULL ? factor : conditioned->origin[factor];
}

/* Returns ln of the product of all factors at x, including log_constant. @param x [n_variables]
 * states of the free variables, as numbers among the remaining states. */
double gbsi_conditioned_log_density(const gbsi_conditioned *conditioned, const uint32_t *x);

size_t gbsi_conditioned_bytes(const gbsi_conditioned *conditioned);

/* ---- pick.c --------------------------------------------------------------------------------- */

/* Functions that make a part of a conditioned model, at a cost that depends on the size of the
 * part alone. */
/* The n consecutive numbers from `first` on, for example of variables or factors. */
typedef struct gbsi_series {
    uint64_t first, n;
} gbsi_series;
/* Several series that do not overlap, in ascending order. */
typedef struct gbsi_series_list {
    const gbsi_series *at;
    size_t n;
} gbsi_series_list;

/* Makes the part of gbsi_conditioned_around() from its variables and factors. The result
 * contains no other variables and is not a network: free_variable, fixed_state, cpt and
 * topological are NULL. */
gbs_status gbsi_conditioned_pick(const gbsi_conditioned *whole, gbsi_series_list variables,
                                 gbsi_series_list factors, gbsi_conditioned **part, gbs_error *err);

/* Allocates a part that does not come from a whole model. Its variables, factors and tables are
 * undefined, and it has no logical factors. */
gbs_status gbsi_conditioned_new_alone(const gbsi_part_sizes *sizes, gbsi_conditioned **part,
                                      gbs_error *err);

#endif
