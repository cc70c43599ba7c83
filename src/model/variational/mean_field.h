/* SPDX-License-Identifier: Apache-2.0 */
/* Naive mean field [M26]. It finds a product q of independent distributions of the variables that
 * is a fixed point of
 *     q_v(a)  ∝  exp( sum over factors f of v of E_q[ log f(a, others) ] )
 * and computes the lower bound on ln Z that any product of independent distributions gives. */
#ifndef GBSI_VARIATIONAL_MEAN_FIELD_H
#define GBSI_VARIATIONAL_MEAN_FIELD_H

#include "base/status.h"
#include "base/watch.h"
#include "condition/condition.h"
#include "gibbsite/run.h"

typedef struct gbsi_mean_field gbsi_mean_field;

/* Returns the bytes that gbsi_mean_field_new() allocates. */
uint64_t gbsi_mean_field_bytes(const gbsi_conditioned *model);

/** Starts with a q that uses only the factors of single variables.
 * @param model borrowed.
 * @param schedule whether an iteration updates all variables at once from the q of the last
 * iteration, or one variable after the other in place.
 * @param damping D in (0, 1]: q <- (1 - D) q + D new; 1: undamped.
 * @param watch borrowed; may stop any of the calls below; NULL if nothing may stop them. */
gbs_status gbsi_mean_field_new(const gbsi_conditioned *model, gbs_mean_field_schedule schedule,
                               double damping, gbsi_watch *watch, gbsi_mean_field **out,
                               gbs_error *err);
void gbsi_mean_field_free(gbsi_mean_field *m);

/* Runs one iteration over all variables. @return the largest |new - q|, before damping. The result
 * is NAN if the watch stopped the iteration. After such a stop, a sequential schedule has changed
 * the variables that it reached, and a simultaneous schedule has changed none. */
double gbsi_mean_field_step(gbsi_mean_field *m);

/* Returns the largest |new - q| without changing q; the result is 0 at a fixed point, and NAN if
 * the watch stopped the work. */
double gbsi_mean_field_residual(gbsi_mean_field *m);

/* Returns E_q[log of all factors], including log_constant, plus the entropy of q; this sum is at
 * most ln Z. The result is minus infinity if q gives a configuration of weight zero a positive
 * probability, and NAN if the watch stopped the work. */
double gbsi_mean_field_bound(gbsi_mean_field *m);

/* Returns the current q, [state_offset[n_variables]], borrowed. */
const double *gbsi_mean_field_q(const gbsi_mean_field *m);

/* ---- expected.c ----------------------------------------------------------------------------- */

/* Expected log-weight of a factor whose variables are independent. */
/* Replaces a log-weight of minus infinity, because 0 times this number is 0. A sum of 10^7 such
 * numbers is still finite, and no sum of finite log-weights is near it (GBS_MAX_LOG_WEIGHT). */
#define GBSI_LOG_ZERO (-1e300)

/* Returns the number of doubles of scratch that gbsi_expected_logw() needs for any factor of the
 * model. */
size_t gbsi_expected_scratch(const gbsi_conditioned *model);

/** Adds E[ log f | x_v = a ] to out[a], where v is the variable at a position of the scope of
 * factor f. The other variables are independent with probabilities q.
 * @param q [state_offset[n_variables]] in rows by variable. @param scratch
 * [gbsi_expected_scratch()]. @param out [arity of v] increased.
 * Takes time proportional to the entries of a table. For the other kinds it is proportional to
 * the number of variables; for GBS_LOGICAL_LINEAR, GBS_LOGICAL_RATIO and cardinalities to its
 * square. */
void gbsi_expected_logw(const gbsi_conditioned *model, size_t f, size_t position, const double *q,
                        double *scratch, double *out);

#endif
