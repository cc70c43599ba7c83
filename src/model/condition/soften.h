/* SPDX-License-Identifier: Apache-2.0 */
/* A conditioned model in which hard zeros are replaced by small weights. Annealing can pass through
 * states with these weights; a chain can never pass through a hard zero. */
#ifndef GBSI_CONDITION_SOFTEN_H
#define GBSI_CONDITION_SOFTEN_H

#include "condition/condition.h"

/* Makes a softened copy of `hard`. A configuration of weight zero gets the weight exp(-penalty)
 * times w. Here w is the larger of two numbers: the least positive weight of the table, and
 * exp(-depth) times its largest weight. A forbidden equality, or a hard logical function that
 * fails, costs `penalty`. Where the log density of `hard` is finite, the log density of the copy
 * differs from it by a constant.
 * @param hard borrowed while the copy exists; the copy owns only its tables, weights and has_zeros.
 * @param depth nats, positive or INFINITY. @param penalty nats, positive. */
gbs_status gbsi_soften(const gbsi_conditioned *hard, double depth, double penalty,
                       gbsi_conditioned **out, gbs_error *err);
/* Returns the constant by which the copy's log density exceeds the log density of `hard`. */
double gbsi_soften_shift(const gbsi_conditioned *hard, double penalty);
void gbsi_softened_free(gbsi_conditioned *soft);
/* Returns the bytes of a copy, without the bytes that it borrows. */
uint64_t gbsi_softened_bytes(const gbsi_conditioned *soft);

#endif
