/* SPDX-License-Identifier: Apache-2.0 */
/* Loopy belief propagation: messages from factors to variables, repeated until they stay,
 *     m_f→v(a)  ∝  sum over the states x of f with x_v = a of  f(x) prod_u≠v m_u→f(x_u),
 *     m_u→f(b)  ∝  prod over the other factors g of u of m_g→u(b)                         [M81]
 * and the Bethe value of ln Z that they give. Both answers are exact if the factor graph is a
 * forest; otherwise they are approximations without a bound (Yedidia, Freeman & Weiss 2005, IEEE
 * Transactions on Information Theory 51:2282-2312). */
#ifndef GBSI_VARIATIONAL_BELIEF_H
#define GBSI_VARIATIONAL_BELIEF_H

#include "base/status.h"
#include "base/watch.h"
#include "condition/condition.h"

typedef struct gbsi_belief gbsi_belief;

/* Bytes that gbsi_belief_new() takes. */
uint64_t gbsi_belief_bytes(const gbsi_conditioned *model);

/**
 * Start with messages that say nothing.
 *
 * @param model borrowed.
 * @param watch borrowed; may stop any of the calls below. NULL: never stops.
 * @return GBS_ERR_UNSUPPORTED where a factor without a table has more than 2^22 states:
 *         gbsi_decompose() makes short factors of most of them.
 */
gbs_status gbsi_belief_new(const gbsi_conditioned *model, gbsi_watch *watch, gbsi_belief **out,
                           gbs_error *err);
void gbsi_belief_free(gbsi_belief *b);

/* Runs one round over the factors, in turn from the first to the last and from the last to the
 * first. Factors whose incoming messages have changed least wait for a later round.
 * @param damping D in (0, 1]: log m <- (1 - D) log m + D log new; 1: undamped.
 * @return the largest change, |new - old| / (1 + |new|) of a log message, that a factor had not
 *         taken into account when its turn came; 0: a fixed point. NAN if it was stopped. */
double gbsi_belief_round(gbsi_belief *b, double damping);

/* The probabilities of the variables' states by the messages as they stand.
 * @param p [state_offset[n_variables]] out.
 * @return GBS_ERR_IMPOSSIBLE if the zeros of the messages leave a variable without a state: then
 *         no state of the model has positive weight. */
gbs_status gbsi_belief_marginals(const gbsi_belief *b, double *p, gbs_error *err);

/* The Bethe value of ln Z, log_constant included: neither an upper nor a lower bound, unless the
 * graph is a forest. NAN if it was stopped. */
double gbsi_belief_log_z(gbsi_belief *b);

#endif
