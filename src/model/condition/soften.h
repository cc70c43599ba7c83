/* SPDX-License-Identifier: Apache-2.0 */
/* A conditioned model whose hard zeros are only unlikely: what annealing crosses where zeros would
 * hold every chain. */
#ifndef GBSI_CONDITION_SOFTEN_H
#define GBSI_CONDITION_SOFTEN_H

#include "condition/condition.h"

/* A copy in which a configuration of weight zero has the least positive weight of its table, but at
 * least the largest times exp(-depth), times exp(-penalty); a forbidden equality, or a hard logical
 * function that fails, costs penalty. Its log density differs from the log density of `hard` by a
 * constant, wherever the log density of `hard` is finite.
 *
 * @param hard borrowed while the copy exists: the copy only has separate tables, weights and
 * has_zeros.
 * @param depth nats, positive or INFINITY. @param penalty nats, positive. */
gbs_status gbsi_soften(const gbsi_conditioned *hard, double depth, double penalty,
                       gbsi_conditioned **out, gbs_error *err);
/* The constant by which the copy's log density exceeds that of `hard`. */
double gbsi_soften_shift(const gbsi_conditioned *hard, double penalty);
void gbsi_softened_free(gbsi_conditioned *soft);
/* The bytes of a copy, without those of the original. */
uint64_t gbsi_softened_bytes(const gbsi_conditioned *soft);

#endif
