/* SPDX-License-Identifier: Apache-2.0 */
#include "rng/words.h"

#include <assert.h>
#include <stddef.h>

/* Defined by words_lanes.c, once per instruction set. */
#define DECLARE_SET(set)                                                                         \
    void gbsi_words_lanes16_##set(uint64_t, uint32_t, uint64_t, uint32_t, uint32_t, uint32_t *); \
    void gbsi_words_lanes1_##set(uint64_t, uint32_t, uint64_t, uint32_t, uint32_t, uint32_t *);
#define TABLE_OF_SET(set)                                 \
    {                                                     \
        gbsi_words_lanes16_##set, gbsi_words_lanes1_##set \
    }

DECLARE_SET(portable)
#ifdef GBSI_HAVE_X86_SETS
DECLARE_SET(avx2)
DECLARE_SET(avx512)
#endif
#ifdef GBSI_HAVE_NEON_SET
DECLARE_SET(neon)
#endif

const gbsi_words *gbsi_words_of(gbsi_simd level)
{
    static const gbsi_words words[GBSI_N_SIMD] = {
        [GBSI_SIMD_PORTABLE] = TABLE_OF_SET(portable),
#ifdef GBSI_HAVE_X86_SETS
        [GBSI_SIMD_AVX2] = TABLE_OF_SET(avx2),
        [GBSI_SIMD_AVX512] = TABLE_OF_SET(avx512),
#endif
#ifdef GBSI_HAVE_NEON_SET
        [GBSI_SIMD_NEON] = TABLE_OF_SET(neon),
#endif
    };
    assert(level < GBSI_N_SIMD && words[level].lanes16 != NULL);
    return &words[level];
}
