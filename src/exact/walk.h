/* SPDX-License-Identifier: Apache-2.0 */
/* Visiting every state of positive weight. */
#ifndef GBSI_EXACT_WALK_H
#define GBSI_EXACT_WALK_H

#include "exact/enumerate.h"

/* Visits a state. @param index mixed radix, variable 0 slowest. @param logw ln of the product of
 * its factors, log_constant left out; above minus infinity. @return its weight for the sums. */
typedef double gbsi_visit(void *context, uint64_t index, double logw);

/* @param sums   [state_offset[n_variables]] sums of the weights of the states in which a variable
 *               has a state, out; or NULL.
 * @param total  out or NULL: sum of all weights.
 * @return GBS_ERR_LIMIT beyond GBSI_ENUMERATE_MAX_STATES, with the figure, before the first visit;
 *         GBS_ERR_MEMORY likewise. */
gbs_status gbsi_walk(const gbsi_conditioned *model, gbsi_visit *visit, void *context, double *sums,
                     double *total, gbs_error *err);

/* The largest log density over all states, log_constant left out.
 * @return GBS_ERR_IMPOSSIBLE if no state has positive weight; or as gbsi_walk(). */
gbs_status gbsi_walk_max(const gbsi_conditioned *model, double *max, gbs_error *err);

#endif
