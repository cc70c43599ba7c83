/* SPDX-License-Identifier: Apache-2.0 */
#include "estimate/accumulate.h"

#define DECLARE(set)                                                                   \
    void gbsi_accumulate_tile_##set(float *, const gbsi_offsets *, const gbsi_tile *); \
    void gbsi_accumulate_state_##set(uint8_t *, const gbsi_arity_run *, size_t,        \
                                     const gbsi_state_rows *);                         \
    void gbsi_accumulate_flush_##set(gbsi_fast, double *, size_t);                     \
    void gbsi_accumulate_close_##set(gbsi_fast, const gbsi_closing *);                 \
    static const gbsi_accumulate set = {                                               \
        gbsi_accumulate_tile_##set,                                                    \
        gbsi_accumulate_state_##set,                                                   \
        gbsi_accumulate_flush_##set,                                                   \
        gbsi_accumulate_close_##set,                                                   \
    }

DECLARE(portable);
#ifdef GBSI_HAVE_X86_SETS
DECLARE(avx2);
DECLARE(avx512);
#endif
#ifdef GBSI_HAVE_NEON_SET
DECLARE(neon);
#endif

const gbsi_accumulate *gbsi_accumulate_of(gbsi_simd level)
{
    switch (level) {
#ifdef GBSI_HAVE_X86_SETS
    case GBSI_SIMD_AVX2:
        return &avx2;
    case GBSI_SIMD_AVX512:
        return &avx512;
#endif
#ifdef GBSI_HAVE_NEON_SET
    case GBSI_SIMD_NEON:
        return &neon;
#endif
    default:
        return &portable;
    }
}
