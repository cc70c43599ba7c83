/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the start of a chain: a state of positive weight, different for each chain, and as
 * dispersed as possible at little cost. In Bayesian networks, states are sampled forward in
 * topological order, with observed variables fixed. All other models start from states drawn
 * uniformly at random. If the drawn state violates hard zeros, a search follows. It takes the
 * variables in random order and their values in random order, keeps hard factors arc consistent,
 * and backtracks a limited number of times. The next method is a random walk, with restarts
 * (Balint & Schoening 2012). The last method learns clauses (satisfy/satisfy.h). */
#ifndef GBSI_CHAINS_START_H
#define GBSI_CHAINS_START_H

#include "base/watch.h"
#include "chains/executor.h"
#include "condition/condition.h"

typedef struct gbsi_starter gbsi_starter;

/* @param watch borrowed; NULL if the search is never stopped. The search for starts ends once the
 * watch has stopped. */
gbs_status gbsi_starter_new(const gbsi_conditioned *model, uint64_t seed, gbsi_watch *watch,
                            gbsi_starter **starter, gbs_error *err);
void gbsi_starter_free(gbsi_starter *starter);

/* Draws the start of one chain, which depends only on (model, seed, chain, restart number).
 * @param x [n_variables] free states, out; of positive weight on success. @return GBS_ERR_NOT_FOUND
 * if no state was found, or GBS_ERR_IMPOSSIBLE if none exists. The error message says "no state
 * found after N repairs", and names up to four violated factors by number and their variables by
 * name. If none exists, the message names up to twelve factors that contradict one another. */
gbs_status gbsi_starter_draw(gbsi_starter *starter, uint32_t chain, uint64_t restart, uint32_t *x,
                             gbs_error *err);

/* Returns the start of a variable in a model without conditional tables and hard zeros: all states
 * of the variable are equally likely. @param variable number of a free variable in the whole
 * sampled model. */
uint32_t gbsi_start_anywhere(uint64_t seed, uint32_t chain, uint64_t restart, uint32_t variable,
                             uint32_t arity);

/* ---- forward.c ------------------------------------------------------------------------------ */

/* Draws a value of a variable of a Bayesian network given its parents. */
/* Writes the conditional probabilities of the states of v given its parents in x, up to a factor.
 * All weights are equal if v has no table, or if the row of the table has no positive entry. @param
 * x [n_variables] free states; only the states of the parents are read. @param weight [arity of v],
 * out. */
void gbsi_forward_weights(const gbsi_conditioned *model, uint32_t v, const uint32_t *x,
                          double *weight);

/* Draws state a with probability weight[a] / sum of all weights, by inverting the distribution
 * function; a state of weight 0 is never drawn. Uses word[0] and word[1]. @param weight [n], not
 * all 0. */
uint32_t gbsi_forward_pick(const double *weight, uint32_t n, const uint32_t *word);

#endif
