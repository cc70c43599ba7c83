/* SPDX-License-Identifier: Apache-2.0 */
/* Makes sixteen states more probable by exact maxima over blocks of bounded width (block/block.h),
 * until no block of any plan can improve any of them. During this search, hard zeros are softened;
 * blocks can then cross them, one block after the other. */
#ifndef GBSI_SEARCH_QUENCH_H
#define GBSI_SEARCH_QUENCH_H

#include "block/block.h"
#include "condition/condition.h"

/* ---- crossover.c ---------------------------------------------------------------------------- */

/* Combines two states into the best state that their components allow. The variables in which two
 * states differ fall into components that no factor joins, and the log density is a sum over the
 * components. Each component is taken from the state in which it is more probable. One step thus
 * finds the best of 2^components states (partition crossover; Tinos, Whitley & Chicano 2015,
 * Foundations of Genetic Algorithms XIII, 137-149). */
typedef struct gbsi_crossover {
    const gbsi_conditioned *model; /* borrowed */
    uint32_t *parent; /* [n_variables] parent of each variable in the forest of components; only
                         variables in which the two states differ */
    double *gain; /* [n_variables] at the root of each component: change of the log density of x if
                     x takes over the component, in nats */
} gbsi_crossover;

gbs_status gbsi_crossover_init(gbsi_crossover *crossover, const gbsi_conditioned *model,
                               gbs_error *err);
void gbsi_crossover_free(gbsi_crossover *crossover); /* frees the members, not the struct itself */

/* Takes over those components of another state that are more probable. @param x [n_variables] in
 * and out: takes over the components of `other` that raise the log density of x. Both states must
 * have positive probability. @return whether x changed. */
bool gbsi_crossover_take(gbsi_crossover *crossover, uint32_t *x, const uint32_t *other);

/* ---- quench.c ------------------------------------------------------------------------------- */

typedef struct gbsi_quench {
    const gbsi_conditioned *model; /* borrowed */
    /* Model whose hard zeros are softened so that blocks can cross them; NULL if the model has no
     * hard zeros. */
    gbsi_conditioned *soft;
    gbsi_conditioned
        *firm;           /* model with such a penalty that no gain outweighs a violated hard zero */
    gbsi_blocks *blocks; /* blocks of the model `soft`, or of `model` if `soft` is NULL */
    gbsi_block_lanes *lanes;
    gbsi_crossover crossover; /* crossover of states under the model `firm`, or under `model` if
                                 `firm` is NULL */
    uint32_t *x;              /* [n_variables][GBSI_BLOCK_LANES] states of the lanes */
    uint32_t *one, *other;    /* [n_variables] scratch */
    double density[GBSI_BLOCK_LANES]; /* log densities of the lanes under `model`, after
                                         gbsi_quench_run() */
} gbsi_quench;

/* @param tau0 typical size of log-weights. @param out set to NULL if the model has no blocks, or if
 * the memory limit leaves no room for them. */
gbs_status gbsi_quench_new(const gbsi_conditioned *model, double tau0, uint64_t seed,
                           gbsi_watch *watch, gbsi_quench **out, gbs_error *err);
void gbsi_quench_free(gbsi_quench *quench);

/* Set and get the state of one lane. @param x [n_variables] state: input of gbsi_quench_set(),
 * output of gbsi_quench_get(). */
void gbsi_quench_set(gbsi_quench *quench, uint32_t lane, const uint32_t *x);
void gbsi_quench_get(const gbsi_quench *quench, uint32_t lane, uint32_t *x);

/* Runs all plans in turn, and repeats them while they raise the log density of some lane. The work
 * ends early if the counted nanoseconds are used up or the watch stops. Then the best lane takes
 * over those components in which other lanes are better, and all plans run again. Every lane must
 * have been set before. */
void gbsi_quench_run(gbsi_quench *quench, double operations, gbsi_watch *watch);

/* The schedule of block draws that lead out of a local optimum, between two searches for maxima.
 * The temperature falls from tau0 to tau0 / n in n equal steps; each step draws every plan once in
 * all lanes. @param n_draws approximate number of draws in all steps together. @param pass pass
 * number of the first draw; random numbers are keyed by the seed, by lane + chain, and by this
 * number. */
typedef struct gbsi_quench_schedule {
    double tau0;
    uint64_t n_draws;
    uint64_t seed, pass;
    uint32_t chain;
} gbsi_quench_schedule;
/* @return the number n of steps that have about n_draws draws. */
uint64_t gbsi_quench_steps(const gbsi_quench *quench, uint64_t n_draws);
/* Runs step t = 1 .. n. @return the number of draws. */
uint64_t gbsi_quench_cool(gbsi_quench *quench, const gbsi_quench_schedule *schedule, uint64_t t,
                          gbsi_watch *watch);

/* The time of one turn of all plans, in counted nanoseconds. */
double gbsi_quench_operations(const gbsi_quench *quench);

#endif
