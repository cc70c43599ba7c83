/* SPDX-License-Identifier: Apache-2.0 */
/* Expected log-weights of a factor under independent variables. */
#ifndef GBSI_VARIATIONAL_EXPECTED_H
#define GBSI_VARIATIONAL_EXPECTED_H

#include "condition/condition.h"

/* Stands for a log-weight of minus infinity, so that 0 times it is 0; a sum of 10^7 of them is
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
