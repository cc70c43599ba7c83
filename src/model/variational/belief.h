/* SPDX-License-Identifier: Apache-2.0 */
/* Loopy belief propagation: messages from factors to variables, repeated until they no longer
 * change,
 *     m_f→v(a)  ∝  sum over the states x of f with x_v = a of  f(x) prod_u≠v m_u→f(x_u),
 *     m_u→f(b)  ∝  prod over the other factors g of u of m_g→u(b)                         [M81]
 *   and the Bethe value of ln Z that they give. Both answers are exact if the factor graph is a
 *   forest; otherwise they are approximations without a bound (Yedidia, Freeman & Weiss 2005,
 *   IEEE Transactions on Information Theory 51:2282-2312). */
#ifndef GBSI_VARIATIONAL_BELIEF_H
#define GBSI_VARIATIONAL_BELIEF_H

#include "base/status.h"
#include "base/watch.h"
#include "condition/condition.h"

typedef struct gbsi_belief gbsi_belief;

/* Returns the bytes that gbsi_belief_new() allocates. */
uint64_t gbsi_belief_bytes(const gbsi_conditioned *model);

/** Starts with uniform messages.
 * @param model borrowed.
 * @param watch borrowed; may stop any of the calls below; NULL if nothing may stop them.
 * @return GBS_ERR_UNSUPPORTED if a factor without a table has more than 2^22 states;
 * gbsi_decompose() splits most such factors into short factors. */
gbs_status gbsi_belief_new(const gbsi_conditioned *model, gbsi_watch *watch, gbsi_belief **out,
                           gbs_error *err);
void gbsi_belief_free(gbsi_belief *b);

/* Runs one round over the factors, alternately from the first to the last and from the last to the
 * first. Factors whose incoming messages have changed least wait for a later round.
 * @param damping D in (0, 1]: log m <- (1 - D) log m + D log new; 1: undamped. @return the largest
 * change that a factor had not taken into account when its turn came. The change of an entry of a
 * log message is measured as |new - old| / (1 + |new|). The result is 0 at a fixed point, and NAN
 * if the watch stopped the round. */
double gbsi_belief_round(gbsi_belief *b, double damping);

/* Returns the damping of round n, from 0, where the user has set none: 1 at first, because most
 * models converge without it, and less later, for messages that go round in circles. */
double gbsi_belief_damping(uint64_t n);

/* Rules out a state of a variable in all later rounds, as evidence does. Messages of the factors
 * stay as they are until the next round. */
void gbsi_belief_rule_out(gbsi_belief *b, uint32_t variable, uint32_t state);

/* Returns the approximate number of nanoseconds of one round. It is counted, not measured. */
double gbsi_belief_operations(const gbsi_conditioned *model);

/* Computes the probabilities of the variables' states from the current messages.
 * @param p [state_offset[n_variables]] out. @return GBS_ERR_IMPOSSIBLE if the zeros of the
 * messages leave a variable without a state; no state of the model then has positive weight. */
gbs_status gbsi_belief_marginals(const gbsi_belief *b, double *p, gbs_error *err);

/* Returns the Bethe value of ln Z, including log_constant. It is neither an upper nor a lower bound
 * unless the graph is a forest. The result is NAN if the watch stopped the work. */
double gbsi_belief_log_z(gbsi_belief *b);

#endif
