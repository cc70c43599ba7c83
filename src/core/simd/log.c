/* SPDX-License-Identifier: Apache-2.0 */
#include "simd/dispatch.h"
#include "simd/math.h"

/* The functions are defined by log_lanes.c, once per instruction set. */
#define DECLARE(set, SET) void gbsi_log_many_##set(double *x, size_t n);
#define ROW(set, SET)     [GBSI_SIMD_##SET] = gbsi_log_many_##set,

GBSI_SIMD_SETS(DECLARE)

void gbsi_log_many(double *x, size_t n)
{
    static void (*const of_set[GBSI_N_SIMD])(double *, size_t) = {GBSI_SIMD_SETS(ROW)};
    of_set[gbsi_simd_level()](x, n);
}
