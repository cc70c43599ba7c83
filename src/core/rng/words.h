/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the Philox words for the updates of a range of places, sixteen counters at once. */
#ifndef GBSI_RNG_WORDS_H
#define GBSI_RNG_WORDS_H

#include <stdint.h>

#include "rng/philox.h"
#include "simd/dispatch.h"

typedef struct gbsi_words {
    /* Computes word[4*b + w][lane] = word w of block first_block + b of chain + lane. @param
     * word [4 n_blocks][16] */
    void (*lanes16)(uint64_t seed, uint32_t chain, uint64_t pass, uint32_t first_block,
                    uint32_t n_blocks, gbsi_purpose purpose, uint32_t *word);
    /* Computes word[4*b + w] = word w of block first_block + b of one chain, for updates;
     * n_blocks is a multiple of 16. @param word [4 n_blocks] */
    void (*lanes1)(uint64_t seed, uint32_t chain, uint64_t pass, uint32_t first_block,
                   uint32_t n_blocks, uint32_t *word);
} gbsi_words;

/* Returns the functions of an instruction set. */
const gbsi_words *gbsi_words_of(gbsi_simd level);

#endif
