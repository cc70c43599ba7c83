/* SPDX-License-Identifier: Apache-2.0 */
/* The factors of a small model, arranged for building up a log density variable by variable: a
 * factor is evaluated as soon as the last variable of its scope has a state. Factors with the same
 * last variable are summed beforehand into tables of a few thousand entries each. */
#ifndef GBSI_REFERENCE_LOCAL_H
#define GBSI_REFERENCE_LOCAL_H

#include <math.h>

#include "condition/condition.h"

#define GBSI_LOCAL_DEPTH 22 /* variables: 2^22 states is the limit of enumeration */

/* A sum and its accumulated rounding error. */
typedef struct gbsi_sum {
    double high;
    double low;
} gbsi_sum;

/* a + b with the rounding errors kept: Knuth's two-sum of the high parts. */
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
    size_t first; /* into gbsi_local.factor */
    size_t n;
    uint32_t n_others;                /* variables before the last one */
    uint32_t other[GBSI_LOCAL_DEPTH]; /* [n_others] ascending */
    size_t stride[GBSI_LOCAL_DEPTH];  /* [n_others] stride of each in table */
    gbsi_sum *table;                  /* sums of the factors, the last variable fastest; or NULL */
    const gbsi_sum *row;              /* row of the table for the current prefix */
} gbsi_local_group;

typedef struct gbsi_local {
    const gbsi_conditioned *model; /* borrowed */
    size_t *first;                 /* [n_variables + 1] into factor */
    size_t *factor;                /* by last variable */
    size_t *group_start;           /* [n_variables + 1] */
    gbsi_local_group *group;
    uint32_t *x; /* [n_variables] current states */
} gbsi_local;

/* @param model with at most GBSI_LOCAL_DEPTH variables. */
gbs_status gbsi_local_new(const gbsi_conditioned *model, gbsi_local **local, gbs_error *err);
void gbsi_local_free(gbsi_local *local);

/* Call it once x[0..v-1] are set, before gbsi_local_extend() for the states of v. */
void gbsi_local_begin(gbsi_local *local, uint32_t v);

/* logw plus the factors whose last variable is v, for the current x[v]; high is minus infinity if
 * one of these factors is. */
gbsi_sum gbsi_local_extend(const gbsi_local *local, uint32_t v, gbsi_sum logw);

#endif
