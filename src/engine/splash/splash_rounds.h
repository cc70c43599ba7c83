/* SPDX-License-Identifier: Apache-2.0 */
/* The Splash sampler (Gonzalez, Low, Gretton & Guestrin 2011, algorithm 3): each round draws
 * splashes that do not touch one another. The variables of a splash are drawn jointly from their
 * exact conditional [M35], [M36].
 *
 * A pass is as many rounds as are needed to make at least as many updates as there are slots. A
 * batch is one round. Adaptive growth ends for good when the first kept pass begins. The drawing
 * method must not have the traits CONTEXT and POSITION: splashes give it conditionals, but no
 * states of neighbours and no positions. A pass fails with GBS_ERR_LIMIT if the weights of the
 * drawing method would exceed the memory limit. */
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
    uint64_t n_variables; /* number of variables of grown splashes, counted once for all chains
                             together */
    /* number of entries of cliques and long factors, counted once for every sixteen chains */
    uint64_t n_entries;
    uint64_t n_log_entries; /* number of entries of cliques and long factors, counted for each chain
                               that is computed in logarithms */
    /* number of links, long factors and scope entries that were read, to grow each splash and, for
     * every sixteen chains, to draw the splash */
    uint64_t n_looked;
} gbsi_splash_counts;
gbsi_splash_counts gbsi_splash_count(const gbsi_splash *splash);

/* splash_cost.c: cost of the splashes that `counts` counts, for any number of chains [M42]. */
double gbsi_splash_operations(const gbsi_splash_counts *counts, uint32_t n_chains);

#endif
