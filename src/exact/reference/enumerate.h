/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over all states. These sums are the reference for tests, and give the exact answers for
 * small components. */
#ifndef GBSI_REFERENCE_ENUMERATE_H
#define GBSI_REFERENCE_ENUMERATE_H

#include "base/watch.h"
#include "condition/condition.h"

#define GBSI_ENUMERATE_MAX_STATES  ((uint64_t)1 << 22)
#define GBSI_ENUMERATE_AUTO_STATES ((uint64_t)1 << 20)

/* Returns the product of the arities of the variables with keep[v] != 0 (keep NULL: all variables),
 * or UINT64_MAX if the product does not fit. */
uint64_t gbsi_n_states(const gbsi_conditioned *model, const uint8_t *keep);

/* Computes marginals and ln Z of a conditioned model by enumeration of all states. States are
 * visited depth first in two passes, in which the last variable varies fastest. Weights relative to
 * the largest weight are added in compensated sums.
 *
 * @param watch borrowed or NULL; may stop the enumeration. @param p [state_offset[n_variables]],
 * out. @param log_z out or NULL; includes log_constant.
 * @return GBS_ERR_LIMIT, with the number of states, for more than GBSI_ENUMERATE_MAX_STATES states;
 * GBS_ERR_STOPPED if the watch stopped; GBS_ERR_IMPOSSIBLE if no state has positive weight. */
gbs_status gbsi_enumerate(const gbsi_conditioned *model, gbsi_watch *watch, double *p,
                          double *log_z, gbs_error *err);

/* Computes the probability of every state, for tests. States are numbered in mixed radix; variable
 * 0 varies slowest. @param joint [gbsi_n_states()], out. */
gbs_status gbsi_enumerate_joint(const gbsi_conditioned *model, double *joint, gbs_error *err);

/* Finds out whether the support is connected, that is, whether changes of one variable at a time
 * lead through states of positive weight from any such state to any other. @return as
 * gbsi_enumerate(). */
gbs_status gbsi_support_connected(const gbsi_conditioned *model, gbsi_watch *watch, bool *connected,
                                  gbs_error *err);

/* ---- walk.c --------------------------------------------------------------------------------- */

/* A function that visits a state of positive weight. @param index number of the state in mixed
 * radix; variable 0 varies slowest. @param logw sum of the log factors, without log_constant;
 * finite.
 * @return the weight that the walk adds to its sums. */
typedef double gbsi_visit(void *context, uint64_t index, double logw);

/* @param watch  borrowed or NULL; may stop the walk, which then returns GBS_ERR_STOPPED. @param
 * sums   out or NULL: [state_offset[n_variables]] for each state of each variable, the sum of the
 * weights of the joint states in which the variable has this state.
 * @param total  out or NULL: sum of all weights.
 * @return before the first visit: GBS_ERR_MEMORY, or GBS_ERR_LIMIT, with the number of states, for
 * more than GBSI_ENUMERATE_MAX_STATES states. */
gbs_status gbsi_walk(const gbsi_conditioned *model, gbsi_watch *watch, gbsi_visit *visit,
                     void *context, double *sums, double *total, gbs_error *err);

/* Finds the largest log density over all states, without log_constant. @return GBS_ERR_IMPOSSIBLE
 * if no state has positive weight; else as gbsi_walk(). */
gbs_status gbsi_walk_max(const gbsi_conditioned *model, gbsi_watch *watch, double *max,
                         gbs_error *err);

#endif
