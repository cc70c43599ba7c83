/* SPDX-License-Identifier: Apache-2.0 */
/* Draws a value of a variable of a Bayesian network given its parents. */
#ifndef GBSI_CHAINS_FORWARD_H
#define GBSI_CHAINS_FORWARD_H

#include "condition/condition.h"

/* Conditional probabilities of the states of v given its parents in x, up to a factor; all equal
 * where v has no table left or its row has no positive entry.
 * @param x [n_variables] free states; read at the parents only. @param weight [arity of v], out. */
void gbsi_forward_weights(const gbsi_conditioned *model, uint32_t v, const uint32_t *x,
                          double *weight);

/* State a with probability weight_a / sum, by inverting the distribution function; states of
 * weight 0 never. Uses word[0] and word[1]. @param weight [n], not all 0. */
uint32_t gbsi_forward_pick(const double *weight, uint32_t n, const uint32_t *word);

#endif
