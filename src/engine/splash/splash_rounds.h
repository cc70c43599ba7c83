/* SPDX-License-Identifier: Apache-2.0 */
/* The Splash sampler (Gonzalez, Low, Gretton & Guestrin 2011, algorithm 3): rounds of splashes that
 * do not touch one another. The variables of a splash are drawn jointly from their exact
 * conditional [M35], [M36].
 *
 * A pass is the smallest number of rounds with at least as many updates as there are slots; a batch
 * is a round. Adaptation ends for good with the first pass that is kept. The draw must need
 * conditionals only, and not neighbours (neither CONTEXT nor POSITION), because every splash has
 * other neighbours. A pass returns GBS_ERR_LIMIT if its weights would take more memory than they
 * may. */
#ifndef GBSI_SPLASH_SPLASH_ROUNDS_H
#define GBSI_SPLASH_SPLASH_ROUNDS_H

#include "base/watch.h"
#include "estimate/estimate.h"
#include "plan/pass.h"

/* Largest number of variables of a splash if the user gives none. */
#define GBSI_SPLASH_SIZE 1000u

typedef struct gbsi_splash gbsi_splash; /* state of the pass gbsi_pass_splash */

extern const gbsi_pass gbsi_pass_splash;

/* Work of all passes so far, in counts that do not depend on threads or the clock. */
typedef struct gbsi_splash_counts {
    uint64_t n_variables; /* variables grown, counted once for all chains */
    /* entries of cliques and long factors, counted for every sixteen chains */
    uint64_t n_entries;
    uint64_t n_log_entries; /* nanoseconds for a chain that is computed in logarithms */
    /* links, long factors and entries of scopes read to grow splashes, and, for every sixteen
     * chains, to draw them */
    uint64_t n_looked;
} gbsi_splash_counts;
gbsi_splash_counts gbsi_splash_count(const gbsi_splash *splash);

/* splash_cost.c: cost of splashes with these counts, for any number of chains [M42]. */
double gbsi_splash_operations(const gbsi_splash_counts *counts, uint32_t n_chains);

#endif
