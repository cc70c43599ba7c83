/* SPDX-License-Identifier: Apache-2.0 */
/* The Splash sampler (Gonzalez, Low, Gretton & Guestrin 2011, algorithm 3): rounds of splashes that
 * do not touch, each drawn as one from its exact conditional [M35], [M36]. */
#ifndef GBSI_SPLASH_SPLASH_H
#define GBSI_SPLASH_SPLASH_H

#include "base/watch.h"
#include "estimate/estimate.h"
#include "parallel/pool.h"
#include "plan/draw.h"
#include "plan/kernel.h"

typedef struct gbsi_splash gbsi_splash;

/* What splashes are of: states as the executor keeps them, all borrowed. */
typedef struct gbsi_splash_setting {
    const gbsi_plan *plan;
    const gbs_run_options *options; /* only until gbsi_splash_new() returns */
    const gbsi_group *group;        /* [n_groups] */
    uint32_t n_groups, lanes, n_chains;
    gbsi_simd level;
    gbsi_pool *pool; /* NULL: one thread */
} gbsi_splash_setting;

/* A pass: how values are picked, and what is kept of it. The draw asks for conditionals alone, not
 * for neighbours (neither CONTEXT nor POSITION), since those of a splash are others every time. */
typedef struct gbsi_splash_sweep {
    const gbsi_draw *draw;
    void *draw_state;
    uint64_t pass;
    gbsi_estimate *estimate; /* NULL: nothing is kept */
    bool rao_blackwell;
    gbsi_watch *watch; /* NULL: nobody waits */
} gbsi_splash_sweep;

gbs_status gbsi_splash_new(const gbsi_splash_setting *setting, gbsi_splash **out, gbs_error *err);
void gbsi_splash_free(gbsi_splash *splash);
/* At most what it takes, bytes. */
uint64_t gbsi_splash_bytes(const gbsi_plan *plan, const gbs_run_options *options,
                           uint32_t n_threads);

/* Tell every variable of every splash; see gbs_run_callbacks. */
typedef void gbsi_on_splash(void *context, uint64_t round, uint32_t splash, uint32_t variable);
void gbsi_splash_watch(gbsi_splash *splash, gbsi_on_splash *on_splash, void *context);

/* The fewest rounds with at least as many updates as there are slots. Adaptation ends for good
 * with the first pass that is kept.
 * @param n_updates out: of each chain.
 * @return GBS_STOPPED where the watch stopped: the splashes drawn until then are a shorter pass.
 * GBS_ERR_IMPOSSIBLE naming a variable whose conditional had no positive weight;
 * GBS_ERR_LIMIT where the draw's weights would take more than they may. */
gbs_status gbsi_splash_pass(gbsi_splash *splash, const gbsi_splash_sweep *sweep,
                            uint64_t *n_updates, gbs_error *err);

/* What all passes so far took, in numbers that depend on no thread and no clock. */
typedef struct gbsi_splash_counts {
    uint64_t n_variables;   /* grown, once for all chains */
    uint64_t n_entries;     /* of their cliques, walked by each sixteen chains at once */
    uint64_t n_log_entries; /* likewise, walked by one chain in logarithms */
    uint64_t n_looked;      /* links, long factors and entries of scopes looked at, to grow splashes
                               and, by each sixteen chains at once, to draw them */
} gbsi_splash_counts;
gbsi_splash_counts gbsi_splash_count(const gbsi_splash *splash);

/* Whether some splash since adaptation ended held all variables of factors with zeros of its
 * component, for all components that have such: then blocks reach the whole support. */
bool gbsi_splash_connects(const gbsi_splash *splash);

#endif
