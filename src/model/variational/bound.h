/* SPDX-License-Identifier: Apache-2.0 */
/* An upper bound on the largest log density of a model, by dual block-coordinate ascent [M83].
 *
 * Numbers g_fv(a) are added to the factors f of a variable v and subtracted from the variable. No
 * log density changes, so that for any g
 *     max_x E(x)  <=  B(g)  =  sum_v max_a (- sum_f g_fv(a))  +  sum_f max_x (ln psi_f(x) + sum_v
 *                              g_fv(x_v)).
 * A round visits every variable twice, forwards and backwards, as sequential tree-reweighted
 * message passing does (TRW-S; Kolmogorov 2006, IEEE Transactions on Pattern Analysis and Machine
 * Intelligence 28:1568-1583; for long factors Kolmogorov 2015, the same journal 37:919-930). No
 * visit raises B in exact arithmetic. B is evaluated with outward rounding. */
#ifndef GBSI_VARIATIONAL_BOUND_H
#define GBSI_VARIATIONAL_BOUND_H

#include "base/status.h"
#include "base/watch.h"
#include "condition/condition.h"

typedef struct gbsi_bound gbsi_bound;

/* Returns B(0), the sum of the largest log-weights of all factors; no messages are needed.
 * @return +inf if the watch stopped the work. */
double gbsi_bound_plain(const gbsi_conditioned *model, gbsi_watch *watch);

/* Whether a bound proves a log density to be the largest: it is above by at most 1e-9, relative to
 * 1 + the size of the bound. Rounding errors of a sum of a million factors are smaller. */
bool gbsi_bound_reaches(double log_density, double bound);

/* Whether a model with hard zeros has a state whose log density is B(0), and which is found by
 * giving each variable its first state that the zeros leave. Such a state is proved to be the most
 * probable without a search. @param watch NULL: never stops. */
gbs_status gbsi_bound_is_obvious(const gbsi_conditioned *model, gbsi_watch *watch, bool *obvious,
                                 gbs_error *err);

/* Returns the bytes that gbsi_bound_new() allocates. */
uint64_t gbsi_bound_bytes(const gbsi_conditioned *model);

/** Starts with g = 0.
 * @param model borrowed.
 * @param watch borrowed; may stop any of the calls below. NULL: never stops.
 * @return GBS_OK; GBS_ERR_MEMORY. */
gbs_status gbsi_bound_new(const gbsi_conditioned *model, gbsi_watch *watch, gbsi_bound **out,
                          gbs_error *err);
void gbsi_bound_free(gbsi_bound *b);

/* Runs one round. @return the least bound of all whole rounds until now; +inf before the first. */
double gbsi_bound_round(gbsi_bound *b);

/* Returns whether several rounds in turn have lowered the bound by less than rounding. */
bool gbsi_bound_settled(const gbsi_bound *b);

/* Returns the state in which each variable has the largest theta_v + shares of its factors at its
 * last visit. If the bound is tight and the largest entries are unique, this state is the most
 * probable one; otherwise it may have any weight. @return [n_variables] */
const uint32_t *gbsi_bound_state(const gbsi_bound *b);

/* Returns the approximate number of nanoseconds of one round. It is counted, not measured. */
double gbsi_bound_operations(const gbsi_conditioned *model);

#endif
