/* SPDX-License-Identifier: Apache-2.0 */
/* The Splash sampler (Gonzalez, Low, Gretton & Guestrin 2011, algorithm 3): each round draws
 * splashes that do not touch one another. The variables of a splash are drawn jointly from their
 * exact conditional [M35], [M36].
 *
 * A pass is the smallest number of rounds with at least as many updates as there are slots. A batch
 * is one round. Adaptation ends for good with the first pass that is kept. The draw must need
 * conditionals only, and not neighbours (neither CONTEXT nor POSITION), because every splash has
 * other neighbours. A pass returns GBS_ERR_LIMIT if its weights would exceed the memory limit. */
#ifndef GBSI_SPLASH_SPLASH_ROUNDS_H
#define GBSI_SPLASH_SPLASH_ROUNDS_H

#include "base/watch.h"
#include "estimate/estimate.h"
#include "plan/pass.h"

typedef struct gbsi_splash gbsi_splash; /* state of the pass gbsi_pass_splash */

extern const gbsi_pass gbsi_pass_splash;

/* Work of all passes so far, in counts that do not depend on threads or the clock. */
typedef struct gbsi_splash_counts {
    uint64_t n_variables; /* variables of grown splashes, counted once for all chains */
    /* entries of cliques and long factors, counted for every sixteen chains */
    uint64_t n_entries;
    uint64_t n_log_entries; /* entries of cliques and long factors, counted for each chain that is
                               computed in logarithms */
    /* links, long factors and entries of scopes that were read: once to grow each splash, and once
     * for every sixteen chains to draw the splash */
    uint64_t n_looked;
} gbsi_splash_counts;
gbsi_splash_counts gbsi_splash_count(const gbsi_splash *splash);

/* splash_cost.c: cost of the splashes that `counts` counts, for any number of chains [M42]. */
double gbsi_splash_operations(const gbsi_splash_counts *counts, uint32_t n_chains);

#endif
