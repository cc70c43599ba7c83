/* SPDX-License-Identifier: Apache-2.0 */
#include "simd/dispatch.h"
#include "simd/math.h"

/* Defined by log_lanes.c, once per instruction set. */
void gbsi_log_many_portable(double *x, size_t n);
#ifdef GBSI_HAVE_X86_SETS
void gbsi_log_many_avx2(double *x, size_t n);
void gbsi_log_many_avx512(double *x, size_t n);
#endif
#ifdef GBSI_HAVE_NEON_SET
void gbsi_log_many_neon(double *x, size_t n);
#endif

void gbsi_log_many(double *x, size_t n)
{
    static void (*const of_set[GBSI_N_SIMD])(double *, size_t) = {
        [GBSI_SIMD_PORTABLE] = gbsi_log_many_portable,
#ifdef GBSI_HAVE_X86_SETS
        [GBSI_SIMD_AVX2] = gbsi_log_many_avx2,
        [GBSI_SIMD_AVX512] = gbsi_log_many_avx512,
#endif
#ifdef GBSI_HAVE_NEON_SET
        [GBSI_SIMD_NEON] = gbsi_log_many_neon,
#endif
    };
    of_set[gbsi_simd_level()](x, n);
}
