/* SPDX-License-Identifier: Apache-2.0 */
/* The factors in the form that splashes use, by slot of the plan: factors of one variable; tables
 * of pairs as both ends see them; all other factors whole. Logarithms are less their maximum, so
 * that nothing that is multiplied exceeds 1. */
#ifndef GBSI_SPLASH_POTENTIALS_H
#define GBSI_SPLASH_POTENTIALS_H

#include "plan/plan.h"

/* A factor of two variables, seen from one: entry x * k + a for the other's x and its own a of k
 * states, in the pool from `table` on. */
typedef struct gbsi_splash_link {
    uint32_t slot; /* the other */
    uint32_t table;
    float least; /* smallest weight that is not 0 */
} gbsi_splash_link;

/* A variable's place in a long factor: one of three or more variables. */
typedef struct gbsi_splash_member {
    uint32_t number; /* number of the factor among the long ones */
    uint32_t at;     /* position in its scope */
} gbsi_splash_member;

typedef struct gbsi_potentials {
    const gbsi_plan *plan; /* borrowed */
    uint32_t n;            /* slots */
    size_t *field_start;   /* [n + 1] */
    double *field64;       /* ln of all factors of the variable alone */
    float *field;
    size_t *link_start; /* [n + 1] */
    gbsi_splash_link *link;
    size_t *many_start;       /* [n + 1] */
    gbsi_splash_member *many; /* long factors that each is in, ascending */
    uint32_t n_long;
    size_t *long_factor; /* [n_long] number of each long factor in the model */
    size_t n_pool;
    double *log64; /* pool */
    float *log, *weight;
    uint8_t *precise; /* [n] 1: sums of floats may err by more than 1e-4 [M13] */
    uint64_t bytes;
} gbsi_potentials;

gbs_status gbsi_potentials_new(const gbsi_plan *plan, gbsi_potentials **out, gbs_error *err);
void gbsi_potentials_free(gbsi_potentials *potentials);
/* An upper bound of the bytes of potentials. */
uint64_t gbsi_potentials_bytes(const gbsi_plan *plan);

/* Factors of three or more variables, before there are potentials. */
typedef struct gbsi_long_counts {
    uint64_t n;      /* of them */
    uint64_t n_ends; /* variables in their scopes */
} gbsi_long_counts;
gbsi_long_counts gbsi_count_long(const gbsi_plan *plan);

/* The factor's variables as slots: the i-th of its scope. */
static inline uint32_t gbsi_scope_slot(const gbsi_plan *plan, size_t entry)
{
    return plan->slot_of[plan->model->factors.scope[entry]];
}

#endif
