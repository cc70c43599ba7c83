/* SPDX-License-Identifier: Apache-2.0 */
#include "exact/table.h"

#include "simd/dispatch.h"

/* Defined by table_lanes.c, once per instruction set. */
extern const gbsi_table_loops gbsi_table_loops_portable;
#ifdef GBSI_HAVE_X86_SETS
extern const gbsi_table_loops gbsi_table_loops_avx2;
extern const gbsi_table_loops gbsi_table_loops_avx512;
#endif
#ifdef GBSI_HAVE_NEON_SET
extern const gbsi_table_loops gbsi_table_loops_neon;
#endif

const gbsi_table_loops *gbsi_table_loops_now(void)
{
    static const gbsi_table_loops *const of_set[GBSI_N_SIMD] = {
        [GBSI_SIMD_PORTABLE] = &gbsi_table_loops_portable,
#ifdef GBSI_HAVE_X86_SETS
        [GBSI_SIMD_AVX2] = &gbsi_table_loops_avx2,
        [GBSI_SIMD_AVX512] = &gbsi_table_loops_avx512,
#endif
#ifdef GBSI_HAVE_NEON_SET
        [GBSI_SIMD_NEON] = &gbsi_table_loops_neon,
#endif
    };
    return of_set[gbsi_simd_level()];
}
