/* SPDX-License-Identifier: Apache-2.0 */
#include "rng/words.h"

#include <assert.h>
#include <stddef.h>

/* The functions are defined by words_lanes.c, once per instruction set. */
#define DECLARE(set, SET)                                                                         \
    void gbsi_words_lanes16_##set(uint64_t, uint32_t, uint64_t, uint32_t, uint32_t, gbsi_purpose, \
                                  uint32_t *);                                                    \
    void gbsi_words_lanes1_##set(uint64_t, uint32_t, uint64_t, uint32_t, uint32_t, uint32_t *);
#define ROW(set, SET) [GBSI_SIMD_##SET] = {gbsi_words_lanes16_##set, gbsi_words_lanes1_##set},

GBSI_SIMD_SETS(DECLARE)

const gbsi_words *gbsi_words_of(gbsi_simd level)
{
    static const gbsi_words words[GBSI_N_SIMD] = {GBSI_SIMD_SETS(ROW)};
    assert(level < GBSI_N_SIMD && words[level].lanes16 != NULL);
    return &words[level];
}
