/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the start of a chain: a state of positive weight, different for each chain and as dispersed
 * as is cheaply possible.
 *
 * Bayesian networks: forward sampling in topological order, observed ones clamped. All other models
 * start from states drawn uniformly at random. If the state then violates hard zeros: search
 * (random variable order, values in random order, hard factors kept arc consistent, limited
 * backtracking), then min-conflicts, with restarts (Minton, Johnston, Philips & Laird 1992). */
#ifndef GBSI_CHAINS_START_H
#define GBSI_CHAINS_START_H

#include "base/watch.h"
#include "chains/executor.h"
#include "condition/condition.h"

typedef struct gbsi_starter gbsi_starter;

/* @param watch borrowed, NULL: never stops. Once the watch has stopped, the search for starts ends.
 */
gbs_status gbsi_starter_new(const gbsi_conditioned *model, uint64_t seed, gbsi_watch *watch,
                            gbsi_starter **starter, gbs_error *err);
void gbsi_starter_free(gbsi_starter *starter);

/* A start of one chain: a pure function of (model, seed, chain, restart number).
 * @param x [n_variables] free states, out; of positive weight on success.
 * @return GBS_ERR_NOT_FOUND, or GBS_ERR_IMPOSSIBLE where none exists: "no state found after N
 * repairs" naming up to four violated factors by the user's number and their variables by name. */
gbs_status gbsi_starter_draw(gbsi_starter *starter, uint32_t chain, uint64_t restart, uint32_t *x,
                             gbs_error *err);

/* The start of a variable that nothing says anything of: every state as likely.
 * @param variable free variable of the whole that is sampled. */
uint32_t gbsi_start_anywhere(uint64_t seed, uint32_t chain, uint64_t restart, uint32_t variable,
                             uint32_t arity);

/* ---- forward.c ------------------------------------------------------------------------------ */

/* Draws a value of a variable of a Bayesian network given its parents. */
/* Conditional probabilities of the states of v given its parents in x, up to a factor; all equal
 * where v has no table left or its row has no positive entry.
 * @param x [n_variables] free states; read at the parents only. @param weight [arity of v], out. */
void gbsi_forward_weights(const gbsi_conditioned *model, uint32_t v, const uint32_t *x,
                          double *weight);

/* State a with probability weight_a / sum, by inverting the distribution function; states of
 * weight 0 never. Uses word[0] and word[1]. @param weight [n], not all 0. */
uint32_t gbsi_forward_pick(const double *weight, uint32_t n, const uint32_t *word);

#endif
