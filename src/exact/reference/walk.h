/* SPDX-License-Identifier: Apache-2.0 */
/* Visiting every state of positive weight. */
#ifndef GBSI_REFERENCE_WALK_H
#define GBSI_REFERENCE_WALK_H

#include "reference/enumerate.h"

/* Visits a state. @param index index of the state in mixed radix, variable 0 slowest. @param logw
 * sum of the log factors without log_constant, above minus infinity. @return the weight to be
 * summed. */
typedef double gbsi_visit(void *context, uint64_t index, double logw);

/* @param watch  NULL, or may stop it: GBS_ERR_STOPPED.
 * @param sums   out or NULL: [state_offset[n_variables]] for each state of each variable, the sum
 *               of the weights of the joint states that contain it.
 * @param total  out or NULL: sum of all weights.
 * @return before the first visit: GBS_ERR_MEMORY, or GBS_ERR_LIMIT, with the number, for more than
 *         GBSI_ENUMERATE_MAX_STATES states. */
gbs_status gbsi_walk(const gbsi_conditioned *model, gbsi_watch *watch, gbsi_visit *visit,
                     void *context, double *sums, double *total, gbs_error *err);

/* The largest log density over all states, log_constant left out.
 * @return GBS_ERR_IMPOSSIBLE if no state has positive weight; or as gbsi_walk(). */
gbs_status gbsi_walk_max(const gbsi_conditioned *model, gbsi_watch *watch, double *max,
                         gbs_error *err);

#endif
