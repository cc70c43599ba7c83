/* SPDX-License-Identifier: Apache-2.0 */
/* Barren variables, which can be summed out before the other variables are answered. If all
 * variables are queried and all others are answered exactly, barren variables are drawn given
 * independent draws of the other variables. */
#ifndef GBSI_CHOOSE_BARREN_H
#define GBSI_CHOOSE_BARREN_H

#include "condition/prune.h"

typedef struct gbsi_barren {
    gbsi_conditioned *full; /* the model given evidence, with the barren variables; owned */
    gbsi_pruning pruning;
    uint32_t *full_variable; /* [variables that stay] the number in `full` of each variable that is
                                not barren */
    uint32_t *x;             /* [full variables] the last draw of all variables */
    double *p;               /* [largest arity] scratch */
    double *mean; /* [full states] for each state of a pruned variable, the mean of its conditional
                     probability over n_draws draws */
    double *square; /* [full states] for each state, the sum of squared deviations from this mean */
    uint64_t n_draws;
} gbsi_barren;

/* @param full owned by the result, or freed after a failure. @param pruning owned by the result, or
 * freed after a failure. @param part the model that remains of `full` without the pruned variables.
 */
gbs_status gbsi_barren_new(gbsi_conditioned *full, gbsi_pruning *pruning,
                           const gbsi_conditioned *part, gbsi_barren **out, gbs_error *err);
void gbsi_barren_free(gbsi_barren *barren);

/* Draws all pruned variables in reverse order of their removal, and adds their conditionals to the
 * averages [M7]. Each is drawn given the variables drawn before. @param x [variables that stay] an
 * independent draw of these variables. */
void gbsi_barren_draw(gbsi_barren *barren, const uint32_t *x, uint64_t seed, uint32_t chain,
                      uint64_t draw);

/* The estimate of state a of variable v of `full`, and its standard error. */
double gbsi_barren_p(const gbsi_barren *barren, uint32_t v, uint32_t a, double *mcse);

#endif
