/* SPDX-License-Identifier: Apache-2.0 */
/* Long factors as functions of a sum over their variables. */
#ifndef GBSI_SPLASH_SUMS_H
#define GBSI_SPLASH_SUMS_H

#include "plan/kernel.h"
#include "splash/potentials.h"

/* In the sum of a noisy factor, the bits from this one on are the role of the state of the factor's
 * child (gbsi_noisy_part). */
#define GBSI_PART_BIT 62

/* Returns the contribution of a variable in state x to the sum on which a long factor depends. The
 * contribution is an offset in the table if the factor is a table. In a logical factor, the
 * contribution is 2 for a true literal of the body, and 1 for a true head. In a spin product, it is
 * 1 for state 0 and 0 for state 1. In a noisy factor, it is a cost. The contribution of a state of
 * a variable inside the splash is equal in all chains; a variable outside has one contribution for
 * each chain.
 * @param e index of the variable in the array of all scopes. @param stride gbsi_part_stride(). */
static inline uint64_t gbsi_part_of(const gbsi_plan *plan, size_t f, size_t e, size_t stride,
                                    uint32_t x)
{
    const gbsi_factors *factors = &plan->model->factors;
    if (gbsi_is_noisy(factors->kind[f])) {
        const gbsi_noisy noisy = gbsi_noisy_of(factors, f);
        return e < factors->scope_start[f] + noisy.n_parents
                   ? (uint64_t)plan->cost[plan->cost_at[e] + x]
                   : (uint64_t)gbsi_noisy_part_of(noisy.effect, noisy.falling, x) << GBSI_PART_BIT;
    }
    switch ((gbs_factor_kind)factors->kind[f]) {
    case GBS_FACTOR_TABLE:
        return x * stride;
    case GBS_FACTOR_LOGICAL:
        return x != factors->literal[e] ? 0
               : factors->logical[factors->aux[f]].head == GBSI_HEAD_FREE &&
                       e + 1 == factors->scope_start[f + 1]
                   ? 1
                   : 2;
    default:
        return x == 0;
    }
}

/* Log-weight of a factor without a table, given the sum over its whole scope. */
static inline double gbsi_value_of_sum(const gbsi_plan *plan, size_t f, uint64_t sum)
{
    const gbsi_factors *factors = &plan->model->factors;
    const gbsi_logical *logical = NULL;
    if (gbsi_is_noisy(factors->kind[f])) {
        const gbsi_noisy_sum *noisy = &plan->noisy[plan->noisy_of[f]];
        const gbsi_noisy_part part = factors->kind[f] == GBSI_FACTOR_EFFECT
                                         ? GBSI_NOISY_EFFECT
                                         : (gbsi_noisy_part)(sum >> GBSI_PART_BIT);
        const uint64_t costs = sum & (((uint64_t)1 << GBSI_PART_BIT) - 1);
        return gbsi_noisy_sum_log(noisy, noisy->leak + (int64_t)costs, part);
    }
    switch ((gbs_factor_kind)factors->kind[f]) {
    case GBS_FACTOR_LOGICAL:
        logical = &factors->logical[factors->aux[f]];
        return gbsi_logical_value(logical, factors->weight[f],
                                  logical->n_body_true + (uint32_t)(sum / 2),
                                  logical->head == GBSI_HEAD_TRUE || sum % 2 != 0);
    default:
        return sum % 2 == 0 ? factors->weight[f] : -factors->weight[f];
    }
}

/* Stride, in the table of its factor, of the variable at an index of the array of all scopes. For
 * factors without a table, whose scopes may be long, the result is 1 and has no meaning. */
static inline size_t gbsi_part_stride(const gbsi_plan *plan, size_t f, size_t e)
{
    const gbsi_factors *factors = &plan->model->factors;
    size_t stride = 1;
    for (size_t after = factors->scope_start[f + 1];
         factors->kind[f] == GBS_FACTOR_TABLE && --after > e;) {
        stride *= gbsi_plan_arity(plan, gbsi_scope_slot(plan, after));
    }
    return stride;
}

#endif
