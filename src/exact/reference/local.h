/* SPDX-License-Identifier: Apache-2.0 */
/* The factors of a small model, in an order in which a log density can be computed variable by
 * variable. A factor is evaluated as soon as the last variable of its scope has a state. Factors
 * with the same last variable are summed beforehand into tables of a few thousand entries each. */
#ifndef GBSI_REFERENCE_LOCAL_H
#define GBSI_REFERENCE_LOCAL_H

#include <math.h>

#include "condition/condition.h"

#define GBSI_LOCAL_DEPTH 22 /* most variables: enumeration visits at most 2^22 states */

/* A sum and its accumulated rounding error. */
typedef struct gbsi_sum {
    double high;
    double low;
} gbsi_sum;

/* Returns a + b with the accumulated rounding error, by Knuth's two-sum of the high parts. */
static inline gbsi_sum gbsi_sum_add(gbsi_sum a, gbsi_sum b)
{
    const double high = a.high + b.high;
    if (!isfinite(high)) {
        return (gbsi_sum){.high = high, .low = 0.0};
    }
    const double part = high - a.high;
    const double lost = (a.high - (high - part)) + (b.high - part);
    return (gbsi_sum){.high = high, .low = a.low + (b.low + lost)};
}

/* A group of factors with the same last variable. */
typedef struct gbsi_local_group {
    size_t first; /* first factor, as an index into gbsi_local.factor */
    size_t n;
    uint32_t n_others;                /* number of variables of the group other than the last one */
    uint32_t other[GBSI_LOCAL_DEPTH]; /* [n_others] these variables, ascending */
    size_t stride[GBSI_LOCAL_DEPTH];  /* [n_others] strides of these variables in `table` */
    gbsi_sum
        *table; /* sums of the group's factors for all joint states, of which the last variable
                   varies fastest; NULL: the group is one factor, which is evaluated each time */
    const gbsi_sum *row; /* row of `table` for the current states of the earlier variables */
} gbsi_local_group;

typedef struct gbsi_local {
    const gbsi_conditioned *model; /* borrowed */
    size_t *first;  /* [n_variables + 1] start of the factors of each last variable in `factor` */
    size_t *factor; /* factors sorted by their last variable */
    size_t *group_start; /* [n_variables + 1] start of the groups of each last variable */
    gbsi_local_group *group;
    uint32_t *x; /* [n_variables] current states */
} gbsi_local;

/* @param model a model of at most GBSI_LOCAL_DEPTH variables. */
gbs_status gbsi_local_new(const gbsi_conditioned *model, gbsi_local **local, gbs_error *err);
void gbsi_local_free(gbsi_local *local);

/* Prepares gbsi_local_extend() for the states of v. The caller must have set x[0..v-1] before. */
void gbsi_local_begin(gbsi_local *local, uint32_t v);

/* Returns logw plus the log factors whose last variable is v, at the current x. The member `high`
 * is minus infinity if one of these log factors is. */
gbsi_sum gbsi_local_extend(const gbsi_local *local, uint32_t v, gbsi_sum logw);

#endif
