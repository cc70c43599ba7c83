/* SPDX-License-Identifier: Apache-2.0 */
/* What bound.c and bound_messages.c share. No other folder includes this header. */
#ifndef GBSI_VARIATIONAL_BOUND_INSIDE_H
#define GBSI_VARIATIONAL_BOUND_INSIDE_H

#include "variational/bound.h"

/* The ways in which the maxima of a factor are computed. */
typedef enum gbsi_bound_way {
    GBSI_BOUND_TABLE,   /* by eliminating one variable of a table after the other */
    GBSI_BOUND_POTTS,   /* from the two largest entries of a message */
    GBSI_BOUND_COUNT,   /* by the number of true literals, or of spins in state 0 */
    GBSI_BOUND_TANGENT, /* a noisy factor: 1 - N is replaced by its tangent in ln N */
    GBSI_BOUND_PLAIN,   /* the factor takes part with its largest log-weight only */
} gbsi_bound_way;

/* A tangent of the concave function ln(1 - e^s), where s <= 0 is ln N of a noisy factor:
 *     ln(1 - e^s)  <=  constant + slope * max(s, GBSI_BOUND_FLOOR)        (s a sum of floored
 * terms) (Jaakkola & Jordan 1999, Journal of Artificial Intelligence Research 10:291-322). */
#define GBSI_BOUND_FLOOR (-40.0)
typedef struct gbsi_bound_tangent {
    double slope, constant;
} gbsi_bound_tangent;

struct gbsi_bound {
    const gbsi_conditioned *model; /* borrowed */
    gbsi_watch *watch;             /* NULL: the work is never stopped */
    uint8_t *way;                  /* [n_factors] gbsi_bound_way */
    double *magnitude; /* [n_factors] upper bound of the absolute values in the sums of a factor,
                          messages excluded; of a plain factor its largest log-weight */
    size_t *own_start; /* [n_factors + 1] offsets in `own` */
    double *own;       /* tables of factors that are short but have no table, and tangents */
    size_t *start;     /* [n_edges + 1] offsets of g of each entry of the scopes */
    double *g; /* [start[n_edges]] minus infinity for states that no state of the model has */
    size_t *edge_start; /* [n_variables + 1] offsets of the variables in `edge` */
    size_t *edge;       /* [n_edges] entries of the scopes in which a variable occurs, ascending */
    size_t *factor;     /* [n_edges] factor of each entry of the scopes */
    double *work;       /* [most entries] scratch */
    double *out;        /* [largest arity] maxima of a factor for the states of one variable */
    double *total;      /* [largest arity] scratch */
    uint32_t *state;    /* [n_variables] state with the largest total at the last visit */
    double best;        /* least bound of all rounds */
    uint32_t n_idle;    /* number of rounds since the bound was lowered by more than rounding */
};

/* bound_messages.c */

/* Chooses the way of factor f, and says how many doubles of `own` and of `work` the factor takes,
 * and the approximate operations of the maxima for one variable. */
typedef struct gbsi_bound_needs {
    gbsi_bound_way way;
    size_t own, work;
    double operations;
} gbsi_bound_needs;
gbsi_bound_needs gbsi_bound_needs_of(const gbsi_conditioned *model, size_t f);
/* Fills own[] and magnitude[f] of a factor whose way is set. */
void gbsi_bound_prepare(gbsi_bound *b, size_t f);
/* Sets b->out[a] to the largest value, over the states of factor f in which the variable at
 * `position` of the scope has state a, of ln psi_f + the sum of g of the other variables. */
void gbsi_bound_maxima(gbsi_bound *b, size_t f, size_t position);
/* Returns the largest log-weight of factor f, or a number above it, in time linear in its table or
 * scope. */
double gbsi_bound_largest(const gbsi_conditioned *model, size_t f);

#endif
