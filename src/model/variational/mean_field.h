/* SPDX-License-Identifier: Apache-2.0 */
/* Naive mean field: the product of independent distributions that is a fixed point of
 *     q_v(a)  ∝  exp( sum over factors f of v of E_q[ log f(a, others) ] )                    [M26]
 * and the lower bound on ln Z that any such product gives. */
#ifndef GBSI_VARIATIONAL_MEAN_FIELD_H
#define GBSI_VARIATIONAL_MEAN_FIELD_H

#include "base/status.h"
#include "base/watch.h"
#include "condition/condition.h"
#include "gibbsite/run.h"

typedef struct gbsi_mean_field gbsi_mean_field;

/* Bytes that gbsi_mean_field_new() takes. */
uint64_t gbsi_mean_field_bytes(const gbsi_conditioned *model);

/**
 * Start from the factors of single variables alone.
 *
 * @param model    borrowed. @param schedule all at once from the last iterate, or one after the
 *                 other in place. @param damping D in (0, 1]: q <- (1 - D) q + D new; 1: undamped.
 * @param watch    borrowed; may stop any of the calls below. NULL: never stops.
 */
gbs_status gbsi_mean_field_new(const gbsi_conditioned *model, gbs_mean_field_schedule schedule,
                               double damping, gbsi_watch *watch, gbsi_mean_field **out,
                               gbs_error *err);
void gbsi_mean_field_free(gbsi_mean_field *m);

/* Runs one iteration over all variables. @return the largest |new - q| met, before damping. NAN if
 * it was stopped: in sequential updates the variables reached so far have changed, otherwise none
 * has. */
double gbsi_mean_field_step(gbsi_mean_field *m);

/* The largest |new - q| with nothing changed: 0 at a fixed point. NAN if it was stopped. */
double gbsi_mean_field_residual(gbsi_mean_field *m);

/* E_q[log of all factors] + the entropy of q, log_constant included: at most ln Z. Minus infinity
 * where q has weight on a hard zero, NAN if it was stopped. */
double gbsi_mean_field_bound(gbsi_mean_field *m);

/* [state_offset[n_variables]] q as it stands; borrowed. */
const double *gbsi_mean_field_q(const gbsi_mean_field *m);

/* ---- expected.c ----------------------------------------------------------------------------- */

/* Expected log-weights of a factor under independent variables. */
/* Stands for a log-weight of minus infinity, so that 0 times it is 0. A sum of 10^7 of them is
 * still a number, and no sum of finite log-weights comes near (GBS_MAX_LOG_WEIGHT). */
#define GBSI_LOG_ZERO (-1e300)

/* Doubles of scratch that gbsi_expected_logw() needs for any factor of the model. */
size_t gbsi_expected_scratch(const gbsi_conditioned *model);

/**
 * Add E[ log f | x_v = a ] to out[a], v the variable at a position of the scope of factor f, the
 * others independent with probabilities q.
 *
 * @param q       [state_offset[n_variables]] ragged. @param scratch see above.
 * @param out     [arity of v] is added to. Time: entries of a table; variables of the others (the
 *                square of them for GBS_LOGICAL_LINEAR, GBS_LOGICAL_RATIO and cardinalities).
 */
void gbsi_expected_logw(const gbsi_conditioned *model, size_t f, size_t position, const double *q,
                        double *scratch, double *out);

#endif
