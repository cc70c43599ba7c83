/* SPDX-License-Identifier: Apache-2.0 */
/* The Splash sampler (Gonzalez, Low, Gretton & Guestrin 2011, algorithm 3): rounds of splashes that
 * do not touch, each drawn as one from its exact conditional [M35], [M36].
 *
 * A pass is the fewest rounds with at least as many updates as there are slots, a batch is a round.
 * Adaptation ends for good with the first pass that is kept. The draw must need conditionals only,
 * and not neighbours (neither CONTEXT nor POSITION), because the neighbours of a splash change
 * every time. A pass returns GBS_ERR_LIMIT if its weights would take more memory than they may. */
#ifndef GBSI_SPLASH_SPLASH_ROUNDS_H
#define GBSI_SPLASH_SPLASH_ROUNDS_H

#include "base/watch.h"
#include "estimate/estimate.h"
#include "plan/pass.h"

typedef struct gbsi_splash gbsi_splash; /* the state of the pass below */

extern const gbsi_pass gbsi_pass_splash;

/* The work of all passes so far, in counts that depend on no thread and no clock. */
typedef struct gbsi_splash_counts {
    uint64_t n_variables;   /* grown, once for all chains */
    uint64_t n_entries;     /* entries of their cliques and long factors, computed for every sixteen
                               chains */
    uint64_t n_log_entries; /* nanoseconds for a chain that is walked in logarithms */
    uint64_t n_looked;      /* links, long factors and entries of scopes looked at, to grow splashes
                               and, by each sixteen chains at once, to draw them */
} gbsi_splash_counts;
gbsi_splash_counts gbsi_splash_count(const gbsi_splash *splash);

/* splash_cost.c: the cost of splashes with these counts, for any number of chains; [M42]. */
double gbsi_splash_operations(const gbsi_splash_counts *counts, uint32_t n_chains);

#endif
