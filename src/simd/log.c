/* SPDX-License-Identifier: Apache-2.0 */
#include "simd/dispatch.h"
#include "simd/math.h"

/* Defined by log_lanes.c, once per instruction set. */
void gbsi_log_many_portable(double *x, size_t n);
#ifdef GBSI_HAVE_X86_SETS
void gbsi_log_many_avx2(double *x, size_t n);
void gbsi_log_many_avx512(double *x, size_t n);
#endif

void gbsi_log_many(double *x, size_t n)
{
    static void (*const of_set[])(double *, size_t) = {
        gbsi_log_many_portable,
#ifdef GBSI_HAVE_X86_SETS
        gbsi_log_many_avx2,
        gbsi_log_many_avx512,
#endif
    };
    of_set[gbsi_simd_level()](x, n);
}
