/* SPDX-License-Identifier: Apache-2.0 */
/* Inner loops over half a row of sites, compiled once per instruction set from levels_lanes.c. */
#ifndef GBSI_LEVELS_LEVELS_ROW_H
#define GBSI_LEVELS_LEVELS_ROW_H

#include "levels/levels.h"
#include "rng/words.h"
#include "simd/dispatch.h"

/* Random words are made together for this number of chains and, in each chain, for this number of
 * sites (one word per site). */
#define GBSI_LEVELS_CHAINS 16u
#define GBSI_LEVELS_WORDS  64u

/* The neighbours in one direction of all sites of half a row. */
typedef struct gbsi_levels_neighbour {
    ptrdiff_t at;        /* distance from the site to the neighbour, in bytes of the state */
    const float *weight; /* [half] weight of the neighbour of each site */
} gbsi_levels_neighbour;

typedef struct gbsi_levels_row {
    const gbsi_levels *levels;
    /* neighbours by direction, in order of rows and columns; the second half of the array has the
     * neighbours that come after the site; a missing neighbour has the weight 0 */
    gbsi_levels_neighbour neighbour[GBSI_LEVELS_NEIGHBOURS];
    const uint16_t *value; /* [half] values that sites show */
    uint8_t *state;        /* [n_chains][stride] states: `half` levels of a chain, then padding */
    size_t stride;         /* bytes from one chain to the next */
    uint32_t n_chains;
    const gbsi_words *words;
    uint64_t seed, pass;
    /* number of the block of random words that contains the word of the first site */
    uint32_t first_word;
    /* [half / 16][n_levels][16] sums to which the conditionals of all chains are added; NULL if
     * probabilities are not kept */
    float *sum;
    /* [n_watched] watched blocks of this half, in ascending order, as numbers among all blocks */
    const uint32_t *watched;
    uint32_t first_block; /* number of the first block of this half */
    uint32_t n_watched;
    float *p; /* [n_watched][n_chains][n_levels][16] out: conditionals of the watched blocks */
} gbsi_levels_row;

typedef struct gbsi_levels_functions {
    /* Draws every site of half a row given its neighbours, in every chain. */
    void (*update)(const gbsi_levels_row *row);
    /* Returns the part of the first chain's log density from half a row: the log-weights of the
     * sites, and the terms that join each site to the neighbours after it. */
    double (*log_density)(const gbsi_levels_row *row);
} gbsi_levels_functions;

#endif
