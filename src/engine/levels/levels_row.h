/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loops over half a row of sites: compiled once per instruction set from levels_lanes.c.
 */
#ifndef GBSI_LEVELS_LEVELS_ROW_H
#define GBSI_LEVELS_LEVELS_ROW_H

#include "levels/levels.h"
#include "rng/words.h"
#include "simd/dispatch.h"

/* Chains whose random words are made together, and sites of each. */
#define GBSI_LEVELS_CHAINS 16u
#define GBSI_LEVELS_WORDS  64u

/* A neighbour of every site of half a row. */
typedef struct gbsi_levels_neighbour {
    ptrdiff_t at;        /* distance from the site in bytes of the state */
    const float *weight; /* [half] */
} gbsi_levels_neighbour;

typedef struct gbsi_levels_row {
    const gbsi_levels *levels;
    /* in order of rows and columns: the second half comes after the site; missing ones have the
     * weight 0 */
    gbsi_levels_neighbour neighbour[GBSI_LEVELS_NEIGHBOURS];
    const uint16_t *value; /* [half] what sites show */
    uint8_t *state;        /* [n_chains][stride] states: [half] levels of a chain, then padding */
    size_t stride;         /* bytes from a chain to the next */
    uint32_t n_chains;
    const gbsi_words *words;
    uint64_t seed, pass;
    uint32_t first_word;     /* block of random words of the first site */
    float *sum;              /* [half / 16][n_levels][16] conditionals are added to it, all chains';
                                NULL: probabilities are not kept */
    const uint32_t *watched; /* [n_watched] watched blocks of this half, ascending, as numbers among
                                all blocks */
    uint32_t first_block;    /* number of the first block of this half */
    uint32_t n_watched;
    float *p; /* [n_watched][n_chains][n_levels][16] their conditionals, out */
} gbsi_levels_row;

typedef struct gbsi_levels_functions {
    /* Draws every site of half a row given its neighbours, in every chain. */
    void (*update)(const gbsi_levels_row *row);
    /* The log-weights of the observed values of these sites, and of the neighbours that come after
     * them, for the first chain. */
    double (*log_density)(const gbsi_levels_row *row);
} gbsi_levels_functions;

#endif
