/* SPDX-License-Identifier: Apache-2.0 */
/* Chains over a picture: the levels of their sites, and updates of one colour after another. */
#ifndef GBSI_LEVELS_LEVELS_CHAINS_H
#define GBSI_LEVELS_LEVELS_CHAINS_H

#include "levels/levels_row.h"
#include "parallel/pool.h"
#include "plan/pass.h"

struct gbsi_estimate;

/* Largest number of passes whose conditionals are added up in single precision before their sum is
 * added to the totals. */
#define GBSI_LEVELS_PASSES 1024u

typedef struct gbsi_levels_chains {
    const gbsi_levels *levels; /* borrowed; may be replaced by another picture of equal size */
    const gbsi_levels_functions *functions;
    const gbsi_words *words;
    gbsi_pool *pool; /* borrowed; NULL if there is one thread */
    uint64_t seed;
    uint32_t n_chains, n_members;
    /* number of bytes of half a row with the margin before it, and number of bytes of a chain */
    size_t half_bytes, chain_bytes;
    uint8_t *state; /* [n_chains][2 * height][margin, half] */
    /* [n_blocks][n_levels][16] sums of conditionals over all chains; NULL if they are not kept */
    float *sum;
    /* sums over older passes, whose conditionals are no longer in `sum`; NULL if `sum` suffices for
     * all passes */
    float *total;
    uint64_t n_kept;  /* number of passes whose conditionals are in `sum` or `total` */
    float *watched;   /* scratch for conditionals: [n_members][watched blocks of half a
                         row][n_chains][n_levels][16] */
    size_t n_watched; /* number of floats in `watched` for each member */
} gbsi_levels_chains;

/* Says how many passes will be kept, which decides whether totals are needed. No totals are needed
 * for GBSI_LEVELS_PASSES passes or fewer. */
typedef struct gbsi_levels_keeping {
    bool keeps, long_run;
} gbsi_levels_keeping;

uint64_t gbsi_levels_chains_bytes(const gbsi_levels *levels, uint32_t n_chains, uint32_t n_threads,
                                  gbsi_levels_keeping keeping);
gbs_status gbsi_levels_chains_new(const gbsi_levels *levels, uint32_t n_chains, uint64_t seed,
                                  gbsi_levels_keeping keeping, gbsi_simd level, gbsi_pool *pool,
                                  gbsi_levels_chains **out, gbs_error *err);
void gbsi_levels_chains_free(gbsi_levels_chains *chains); /* NULL is allowed */

/* Sets the levels of all sites of a chain. @param x levels of sites, row by row. */
void gbsi_levels_chains_set(gbsi_levels_chains *chains, uint32_t chain, const uint32_t *x);
void gbsi_levels_chains_get(const gbsi_levels_chains *chains, uint32_t chain, uint32_t *x);
/* Draws the level of every site independently, given only the value that the site shows. */
void gbsi_levels_chains_scatter(gbsi_levels_chains *chains);

/* Updates the sites of rows [first, end) of a colour in every chain, see gbsi_levels_rows_of().
 * @param estimate receives the conditionals of watched sites; NULL if the pass is not kept. */
void gbsi_levels_chains_run(gbsi_levels_chains *chains, uint64_t pass, uint32_t color,
                            uint32_t first, uint32_t end, struct gbsi_estimate *estimate);
/* Updates all sites once, in a pass that is not kept. */
void gbsi_levels_chains_sweep(gbsi_levels_chains *chains, uint64_t pass);
/* Must be called after each kept pass. */
void gbsi_levels_chains_kept(gbsi_levels_chains *chains);

/* Log density; its sums over a row are rounded to single precision. */
double gbsi_levels_chains_log_density(const gbsi_levels_chains *chains, uint32_t chain);

/* ---- levels_pass.c -------------------------------------------------------------------------- */

/* Passes over a picture: a gbsi_pass whose compiled form is a gbsi_levels. */
extern const gbsi_pass gbsi_pass_levels;

/* Mean conditional of a site over all chains and kept passes; at least one pass must have been
 * kept.
 * @param state state of the pass. @param p [n_levels] out. */
void gbsi_levels_marginal(const void *state, uint32_t site, double *p);

/* For tests: sets the number of operations between two looks at the watch. */
void gbsi_levels_look_every(void *state, double between_looks);

#endif
