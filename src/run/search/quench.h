/* SPDX-License-Identifier: Apache-2.0 */
/* Makes sixteen states more probable by exact maxima over blocks of bounded width (block/block.h),
 * until no block of any plan can raise one of them. Hard zeros are softened during this search, and
 * blocks can cross them one after the other. */
#ifndef GBSI_SEARCH_QUENCH_H
#define GBSI_SEARCH_QUENCH_H

#include "block/block.h"
#include "condition/condition.h"

/* ---- crossover.c ---------------------------------------------------------------------------- */

/* Combines the best of two states, component by component. The variables in which two states differ
 * fall into components that no factor joins, and the log density is a sum over the components. Each
 * component is taken from the state in which it is more probable: one step finds the best of
 * 2^components states (partition crossover; Tinos, Whitley & Chicano 2015, Foundations of Genetic
 * Algorithms XIII, 137-149). */
typedef struct gbsi_crossover {
    const gbsi_conditioned *model; /* borrowed */
    uint32_t *parent; /* [n_variables] forest of the components of the variables in which two states
                         differ */
    double *gain;     /* [n_variables] at the root of each component: log density of the other state
                         minus log density of x, in nats */
} gbsi_crossover;

gbs_status gbsi_crossover_init(gbsi_crossover *crossover, const gbsi_conditioned *model,
                               gbs_error *err);
void gbsi_crossover_free(gbsi_crossover *crossover); /* frees the members, not the struct itself */

/* Takes over components of another state. @param x [n_variables] in and out: gets the components of
 * `other` that raise its log density. Both states must have positive probability. @return whether x
 * changed. */
bool gbsi_crossover_take(gbsi_crossover *crossover, uint32_t *x, const uint32_t *other);

/* ---- quench.c ------------------------------------------------------------------------------- */

typedef struct gbsi_quench {
    const gbsi_conditioned *model; /* borrowed */
    /* Model with zeros that can be crossed; NULL if the model has no hard zeros. */
    gbsi_conditioned *soft;
    gbsi_conditioned *firm; /* model in which no gain outweighs a violated zero */
    gbsi_blocks *blocks;    /* blocks of `soft`, or of `model` if `soft` is NULL */
    gbsi_block_lanes *lanes;
    gbsi_crossover crossover; /* crossover under `firm`, or under `model` if `firm` is NULL */
    uint32_t *x;              /* [n_variables][GBSI_BLOCK_LANES] states of the lanes */
    uint32_t *one, *other;    /* [n_variables] scratch */
    double density[GBSI_BLOCK_LANES]; /* log densities of the lanes under `model`, after
                                         gbsi_quench_run() */
} gbsi_quench;

/* @param tau0 the scale of log-weights. @param out NULL if the model has no blocks, or the memory
 * limit leaves no room for them. */
gbs_status gbsi_quench_new(const gbsi_conditioned *model, double tau0, uint64_t seed,
                           gbsi_watch *watch, gbsi_quench **out, gbs_error *err);
void gbsi_quench_free(gbsi_quench *quench);

/* Set and get the state of one lane. @param x [n_variables] input of gbsi_quench_set(), output of
 * gbsi_quench_get(). */
void gbsi_quench_set(gbsi_quench *quench, uint32_t lane, const uint32_t *x);
void gbsi_quench_get(const gbsi_quench *quench, uint32_t lane, uint32_t *x);

/* Runs all plans in turn, and repeats them while they raise the log density of some lane, until the
 * counted nanoseconds are used up or the watch stops the work. Then the best lane takes over the
 * components in which other lanes are better, and all plans run again. Every lane must have been
 * set before. */
void gbsi_quench_run(gbsi_quench *quench, double operations, gbsi_watch *watch);

/* The schedule of block draws that lead out of a local optimum before the next quench. The
 * temperature falls from tau0 to tau0 / n in n equal steps, each of which draws every plan once in
 * all lanes. @param n_draws approximate number of draws in all steps. @param pass number of the
 * pass of the first draw; random numbers are keyed by seed, lane + chain and pass. */
typedef struct gbsi_quench_schedule {
    double tau0;
    uint64_t n_draws;
    uint64_t seed, pass;
    uint32_t chain;
} gbsi_quench_schedule;
/* @return the number n of steps in which about n_draws draws are made. */
uint64_t gbsi_quench_steps(const gbsi_quench *quench, uint64_t n_draws);
/* Runs the whole step t = 1 .. n. @return the number of draws. */
uint64_t gbsi_quench_cool(gbsi_quench *quench, const gbsi_quench_schedule *schedule, uint64_t t,
                          gbsi_watch *watch);

/* The time of one turn of all plans, in nanoseconds. */
double gbsi_quench_operations(const gbsi_quench *quench);

#endif
