/* SPDX-License-Identifier: Apache-2.0 */
/* A conditioned model in which hard zeros are replaced by small weights. Annealing can cross
 * these weights, while hard zeros would keep every chain in its region. */
#ifndef GBSI_CONDITION_SOFTEN_H
#define GBSI_CONDITION_SOFTEN_H

#include "condition/condition.h"

/* Makes a softened copy of `hard`. A configuration of weight zero gets exp(-penalty) times a small
 * weight: the least positive weight of its table, or exp(-depth) times the largest weight if this
 * is larger. A forbidden equality, or a hard logical function that fails, costs `penalty`. Where
 * the log density of `hard` is finite, the log density of the copy differs from it by a constant.
 * @param hard borrowed while the copy exists; the copy only has separate tables, weights and
 * has_zeros.
 * @param depth nats, positive or INFINITY. @param penalty nats, positive. */
gbs_status gbsi_soften(const gbsi_conditioned *hard, double depth, double penalty,
                       gbsi_conditioned **out, gbs_error *err);
/* Returns the constant by which the copy's log density exceeds the log density of `hard`. */
double gbsi_soften_shift(const gbsi_conditioned *hard, double penalty);
void gbsi_softened_free(gbsi_conditioned *soft);
/* Returns the bytes of a copy, without the bytes that it borrows. */
uint64_t gbsi_softened_bytes(const gbsi_conditioned *soft);

#endif
