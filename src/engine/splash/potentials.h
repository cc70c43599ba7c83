/* SPDX-License-Identifier: Apache-2.0 */
/* The factors of each slot in the form that splashes use. There are factors of one variable, tables
 * of pairs in the order of each of the two variables, and long factors. The maximum of each table
 * is subtracted from its logarithms, so that no weight exceeds 1. */
#ifndef GBSI_SPLASH_POTENTIALS_H
#define GBSI_SPLASH_POTENTIALS_H

#include "plan/plan.h"

/* A factor of two variables, in the form that one of the variables reads. The pool holds the entry
 * for state x of the other variable and own state a of k states at table + x * k + a. */
typedef struct gbsi_splash_link {
    uint32_t slot; /* slot of the other variable */
    uint32_t table;
    float least; /* smallest weight of the table that is not 0 */
} gbsi_splash_link;

/* Place of a variable in a long factor, which is a factor of three or more variables. */
typedef struct gbsi_splash_member {
    uint32_t number; /* number of the factor among the long factors */
    uint32_t at;     /* position in the scope of the factor */
} gbsi_splash_member;

typedef struct gbsi_potentials {
    const gbsi_plan *plan; /* borrowed */
    uint32_t n;            /* number of slots */
    size_t *field_start;   /* [n + 1] */
    double *field64; /* [field_start[n]] for each state of each slot: sum of the logarithms of the
                        factors that contain only this variable */
    float *field;
    size_t *link_start; /* [n + 1] */
    gbsi_splash_link *link;
    size_t *many_start;       /* [n + 1] */
    gbsi_splash_member *many; /* long factors of each slot, ascending by their numbers */
    uint32_t n_long;
    size_t *long_factor; /* [n_long] index in the model of each long factor */
    size_t n_pool;
    double *log64; /* [n_pool] logarithms of all tables of pairs */
    float *log, *weight;
    uint8_t *precise; /* [n] 1 if sums in float may have an error above 1e-4 [M13] */
    uint64_t bytes;
} gbsi_potentials;

gbs_status gbsi_potentials_new(const gbsi_plan *plan, gbsi_potentials **out, gbs_error *err);
void gbsi_potentials_free(gbsi_potentials *potentials);
/* Upper bound of the bytes of potentials. */
uint64_t gbsi_potentials_bytes(const gbsi_plan *plan);

/* Counts of the long factors of a plan. */
typedef struct gbsi_long_counts {
    uint64_t n;      /* number of long factors */
    uint64_t n_ends; /* number of variables in the scopes of all long factors */
} gbsi_long_counts;
gbsi_long_counts gbsi_count_long(const gbsi_plan *plan);

/* Slot of the variable at an entry of the scopes. */
static inline uint32_t gbsi_scope_slot(const gbsi_plan *plan, size_t entry)
{
    return plan->slot_of[plan->model->factors.scope[entry]];
}

#endif
