/* SPDX-License-Identifier: Apache-2.0 */
/* Chains over a picture: their levels, and updates of the sites of one colour after another. */
#ifndef GBSI_LEVELS_LEVELS_CHAINS_H
#define GBSI_LEVELS_LEVELS_CHAINS_H

#include "levels/levels_row.h"
#include "parallel/pool.h"
#include "plan/pass.h"

struct gbsi_estimate;

/* Passes whose conditionals are added up in single precision before they go to the totals. */
#define GBSI_LEVELS_PASSES 1024u

typedef struct gbsi_levels_chains {
    const gbsi_levels *levels; /* borrowed; another of the same size may take its place */
    const gbsi_levels_functions *functions;
    const gbsi_words *words;
    gbsi_pool *pool; /* borrowed, NULL: one thread */
    uint64_t seed;
    uint32_t n_chains, n_members;
    size_t half_bytes, chain_bytes; /* bytes of half a row, with a margin before it, and of a chain
                                     */
    uint8_t *state;                 /* [n_chains][2 * height][margin, half] */
    float *sum;       /* [n_blocks][n_levels][16] conditionals of all chains; NULL: not kept */
    float *total;     /* sums of passes that are no longer in `sum`; NULL: there never are any */
    uint64_t n_kept;  /* passes in both */
    float *watched;   /* [n_members][watched of half a row][n_chains][n_levels][16] */
    size_t n_watched; /* numbers of each member */
} gbsi_levels_chains;

/* Passes that are kept, if any are: GBSI_LEVELS_PASSES or fewer need no totals. */
typedef struct gbsi_levels_keeping {
    bool keeps, long_run;
} gbsi_levels_keeping;

uint64_t gbsi_levels_chains_bytes(const gbsi_levels *levels, uint32_t n_chains, uint32_t n_threads,
                                  gbsi_levels_keeping keeping);
gbs_status gbsi_levels_chains_new(const gbsi_levels *levels, uint32_t n_chains, uint64_t seed,
                                  gbsi_levels_keeping keeping, gbsi_simd level, gbsi_pool *pool,
                                  gbsi_levels_chains **out, gbs_error *err);
void gbsi_levels_chains_free(gbsi_levels_chains *chains); /* NULL is allowed */

/* Sets the levels of a chain by site, row by row. */
void gbsi_levels_chains_set(gbsi_levels_chains *chains, uint32_t chain, const uint32_t *x);
void gbsi_levels_chains_get(const gbsi_levels_chains *chains, uint32_t chain, uint32_t *x);
/* Levels that sites would have without neighbours, drawn independently. */
void gbsi_levels_chains_scatter(gbsi_levels_chains *chains);

/* Updates the sites of rows [first, end) of a colour in every chain, see gbsi_levels_rows_of().
 * @param estimate receives the sites that are watched; NULL: nothing is kept of this pass. */
void gbsi_levels_chains_run(gbsi_levels_chains *chains, uint64_t pass, uint32_t color,
                            uint32_t first, uint32_t end, struct gbsi_estimate *estimate);
/* Updates all sites once, and keeps nothing. */
void gbsi_levels_chains_sweep(gbsi_levels_chains *chains, uint64_t pass);
/* To be called after a pass that is kept. */
void gbsi_levels_chains_kept(gbsi_levels_chains *chains);

/* The log density, up to the rounding of sums over a row in single precision. */
double gbsi_levels_chains_log_density(const gbsi_levels_chains *chains, uint32_t chain);

/* ---- levels_pass.c -------------------------------------------------------------------------- */

/* Passes over a picture: a gbsi_pass whose compiled form is a gbsi_levels. */
extern const gbsi_pass gbsi_pass_levels;

/* The mean conditional of a site over all chains and passes that were kept, one at least.
 * @param state state of the pass. @param p [n_levels] out. */
void gbsi_levels_marginal(const void *state, uint32_t site, double *p);

/* For tests: sets the number of operations between two looks at the watch. */
void gbsi_levels_look_every(void *state, double between_looks);

#endif
