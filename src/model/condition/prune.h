/* SPDX-License-Identifier: Apache-2.0 */
/* Finds variables that do not affect the answer. Such a variable occurs in a single factor, whose
 * sum over the variable is constant; the factor leaves the model together with the variable. */
#ifndef GBSI_CONDITION_PRUNE_H
#define GBSI_CONDITION_PRUNE_H

#include "condition/condition.h"

/* Largest relative difference between the largest and the smallest sum for which the sum counts as
 * constant. */
#define GBSI_CONSTANT_SUM 0x1p-40

/* @param entry log-weights of a table of n entries, in which a variable has k states and the given
 * stride.
 * @param watch NULL, or a watch that may stop the work; the result is then false. @return
 * whether the sum over the variable is equal for all states of the other variables; *log_sum is
 * then the logarithm of this sum. */
bool gbsi_table_has_one_sum(const double *entry, size_t n, size_t k, size_t stride,
                            gbsi_watch *watch, double *log_sum);

/* Barren variables of a conditioned model, in the order in which they leave it. */
typedef struct gbsi_pruning {
    uint32_t n;
    uint32_t *variable;   /* [n] barren variables */
    size_t *factor_start; /* [n + 1] offsets of the variables in `factor` */
    size_t *factor;       /* [factor_start[n]] factors that leave the model with each variable */
    uint8_t *pruned;      /* [variables of the whole] 1 if pruned */
    uint8_t *dropped;     /* [factors of the whole] 1 if the factor is removed */
    double log_sum;       /* ln of the product of the sums over the variables */
} gbsi_pruning;

/* Finds the barren variables. A variable is barren if it is not asked for and occurs in only one
 * factor f (or in the levels of one noisy factor) whose sum over the variable is equal for all
 * states of the other variables. The variable and f then leave the model, and the sum becomes a
 * constant factor. This may make other variables barren. No direction of edges is used.
 *   sum over v of f(v, n) = s for all n: v and f leave, ln Z gains ln s  [M78]
 * Takes O(entries of the factors whose sums are computed + scopes).
 * @param asked [variables of the whole] nonzero if the variable is asked for; NULL if none is.
 * @param watch NULL, or a watch that may stop the work; the status is then GBS_ERR_STOPPED.
 * @param pruning out; the caller must clear it, also after a failure. */
gbs_status gbsi_prune(const gbsi_conditioned *whole, const uint8_t *asked, gbsi_watch *watch,
                      gbsi_pruning *pruning, gbs_error *err);
void gbsi_pruning_clear(gbsi_pruning *pruning);

/* Makes the remaining model, as gbsi_conditioned_part() does. The distribution of the remaining
 * variables does not change. */
gbs_status gbsi_pruned_part(const gbsi_conditioned *whole, const gbsi_pruning *pruning,
                            gbsi_conditioned **part, gbs_error *err);

/* Replaces *whole by the remaining model if any variable is pruned.
 * @param user [n] numbers of the user's variables that are asked for. @param n_pruned out:
 * number of pruned variables; may be NULL. */
gbs_status gbsi_prune_for(gbsi_conditioned **whole, size_t n, const uint32_t *user,
                          gbsi_watch *watch, uint32_t *n_pruned, gbs_error *err);

/* Computes the distribution of the i-th pruned variable, given the variables pruned after it and
 * the variables that stay.
 * @param x [variables of the whole] states; the state of the variable itself is scratch. @param p
 * [its arity] out: probabilities, whose sum is 1. */
void gbsi_pruned_law(const gbsi_conditioned *whole, const gbsi_pruning *pruning, uint32_t i,
                     uint32_t *x, double *p);

#endif
