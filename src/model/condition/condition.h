/* SPDX-License-Identifier: Apache-2.0 */
/* A model given evidence: what every later layer works on.
 *
 * Observed states are substituted, likelihoods become unary factors, states that hard zeros rule
 * out are removed (generalised arc consistency over the factors with zeros, to a fixed point), and
 * variables left with one state leave the model. The remaining variables are free, renumbered
 * 0..n-1 in the user's order, with their remaining states renumbered 0..arity-1 in order. */
#ifndef GBSI_CONDITION_CONDITION_H
#define GBSI_CONDITION_CONDITION_H

#include "base/watch.h"
#include "store/model.h"

typedef struct gbsi_conditioned {
    const gbs_model *model; /* borrowed */
    uint32_t n_variables;   /* free ones */
    uint32_t *arity;        /* [n_variables] >= 2 */
    size_t *state_offset;   /* [n_variables + 1] */
    gbsi_factors factors;   /* over free variables and their states; scopes of 1 or more */
    size_t *origin;         /* [factors.n_factors] the user's factor; SIZE_MAX for virtual evidence;
                               NULL: of the same number, see gbsi_conditioned_origin() */
    uint8_t *has_zeros;     /* [factors.n_factors] 1 if some configuration is minus infinity */
    uint32_t *user_variable; /* [n_variables] */
    uint32_t *user_state;    /* [state_offset[n_variables]]: see gbsi_conditioned_states() */
    uint32_t *free_variable; /* [model->n_variables] GBSI_NONE if fixed */
    uint32_t *fixed_state;   /* [model->n_variables] the user's state; GBSI_NONE if free */
    uint32_t n_implied;      /* fixed without being observed (variables of one state included) */
    double log_constant;     /* factors that became constant, ln */
    uint32_t *cpt;           /* [n_variables] number of the conditional table of this free child;
                                GBSI_NONE: conditioning removed it. NULL if not directed */
    uint32_t *topological;   /* [n_variables] free variables, parents first; NULL if not directed */
    bool borrows; /* the model did not change: factors, arity, state_offset, cpt and topological are
                     those of the model, free_variable is user_variable, and all variables share
                     one user_state, as long as the largest arity */
} gbsi_conditioned;

/* The user's states of a free variable. @return [arity] */
static inline const uint32_t *gbsi_conditioned_states(const gbsi_conditioned *c, uint32_t v)
{
    return c->user_state + (c->borrows ? 0 : c->state_offset[v]);
}

/* @param evidence NULL for none.
 * @return GBS_ERR_IMPOSSIBLE naming a factor if propagation proves the evidence has probability 0.
 */
gbs_status gbsi_condition(const gbs_model *model, const gbs_evidence *evidence,
                          gbsi_conditioned **conditioned, gbs_error *err);
/* @param watch NULL, or may stop it: GBS_ERR_STOPPED. */
gbs_status gbsi_condition_watched(const gbs_model *model, const gbs_evidence *evidence,
                                  gbsi_watch *watch, gbsi_conditioned **conditioned,
                                  gbs_error *err);
void gbsi_conditioned_free(gbsi_conditioned *conditioned);

/* How much a model made from another one holds. */
typedef struct gbsi_part_sizes {
    uint32_t n_variables;
    size_t n_states, n_factors, n_scope, n_tables, n_entries;
    bool logical; /* any factor is */
} gbsi_part_sizes;

/* Allocates the arrays of variables and factors of a part, except those that only Bayesian networks
 * have. Literals are zero, the rest is undefined; there is room for all logical descriptions of the
 * whole model. */
gbs_status gbsi_conditioned_reserve(const gbsi_conditioned *whole, const gbsi_part_sizes *sizes,
                                    gbsi_conditioned *part, gbs_error *err);
/* The variables of the part, and the constant of the whole.
 * @param number [n_variables] of the whole: numbers in the part, ascending; GBSI_NONE: left out. */
void gbsi_conditioned_take_variables(const gbsi_conditioned *whole, const uint32_t *number,
                                     gbsi_conditioned *part);
/* Descriptions of logical factors are few and shared: all of them. */
void gbsi_conditioned_take_logical(const gbsi_conditioned *whole, gbsi_conditioned *part);

/* The part of a conditioned model over the variables with keep[v] != 0, which must be a union of
 * connected components. Variables left out are neither free nor fixed in the part; log_constant is
 * copied. If everything is kept, the part is an equal copy. */
gbs_status gbsi_conditioned_part(const gbsi_conditioned *whole, const uint8_t *keep,
                                 gbsi_conditioned **part, gbs_error *err);

/* The part of a model that the conditionals of some variables need: the factors of these variables,
 * with all variables of those factors. Only the conditionals of visited variables are equal to
 * their conditionals in the whole model.
 * @param visited [whole->n_variables] nonzero for the variables whose conditionals are needed. */
gbs_status gbsi_conditioned_around(const gbsi_conditioned *whole, const uint8_t *visited,
                                   gbsi_conditioned **part, gbs_error *err);

/* The user's factor that a factor comes from, SIZE_MAX for virtual evidence. */
static inline size_t gbsi_conditioned_origin(const gbsi_conditioned *conditioned, size_t factor)
{
    return conditioned->origin == NULL ? factor : conditioned->origin[factor];
}

/* ln of the product of all factors at x, log_constant included. @param x [n_variables] free states.
 */
double gbsi_conditioned_log_density(const gbsi_conditioned *conditioned, const uint32_t *x);

size_t gbsi_conditioned_bytes(const gbsi_conditioned *conditioned);

/* ---- pick.c --------------------------------------------------------------------------------- */

/* A part of a conditioned model at the cost of the part alone. */
/* Consecutive numbers of variables, factors or the like: first .. first + n - 1. */
typedef struct gbsi_series {
    uint64_t first, n;
} gbsi_series;
/* Several series in ascending order, no two of which overlap. */
typedef struct gbsi_series_list {
    const gbsi_series *at;
    size_t n;
} gbsi_series_list;

/* The part of gbsi_conditioned_around(), whose variables and factors these are. The result knows no
 * other variables, and is not a network: free_variable, fixed_state, cpt and topological are NULL.
 */
gbs_status gbsi_conditioned_pick(const gbsi_conditioned *whole, gbsi_series_list variables,
                                 gbsi_series_list factors, gbsi_conditioned **part, gbs_error *err);

/* Room for a part that is of no whole: its variables, factors and tables are undefined, it has no
 * logical factors. */
gbs_status gbsi_conditioned_new_alone(const gbsi_part_sizes *sizes, gbsi_conditioned **part,
                                      gbs_error *err);

#endif
