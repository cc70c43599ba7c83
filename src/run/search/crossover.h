/* SPDX-License-Identifier: Apache-2.0 */
/* Combines the best of two states, component by component. Where two states differ the model falls
 * into components that no factor joins, and the log density is a sum over them: each is taken from
 * the state in which it is more probable, so that one step finds the best of 2^components states
 * (partition crossover; Tinos, Whitley & Chicano 2015, Foundations of Genetic Algorithms XIII,
 * 137-149). */
#ifndef GBSI_SEARCH_CROSSOVER_H
#define GBSI_SEARCH_CROSSOVER_H

#include "condition/condition.h"

typedef struct gbsi_crossover {
    const gbsi_conditioned *model; /* borrowed */
    uint32_t *parent;              /* [n_variables] components of those that differ */
    double *gain; /* [n_variables] at the root of each component: nats that the other state has more
                   */
} gbsi_crossover;

gbs_status gbsi_crossover_init(gbsi_crossover *crossover, const gbsi_conditioned *model,
                               gbs_error *err);
void gbsi_crossover_free(gbsi_crossover *crossover); /* what it owns */

/* Takes over components of another state. @param x [n_variables] in and out: gets those components
 * of `other` that raise its log density. Both arguments must be states of positive probability.
 * @return whether x changed. */
bool gbsi_crossover_take(gbsi_crossover *crossover, uint32_t *x, const uint32_t *other);

#endif
