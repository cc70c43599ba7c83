/* SPDX-License-Identifier: Apache-2.0 */
/* Which instruction set to run on. Only dispatch.c looks at the CPU. */
#ifndef GBSI_SIMD_DISPATCH_H
#define GBSI_SIMD_DISPATCH_H

#include <stdbool.h>

typedef enum gbsi_simd {
    GBSI_SIMD_PORTABLE,
    GBSI_SIMD_AVX2,   /* AVX2, FMA, BMI */
    GBSI_SIMD_AVX512, /* F, BW, DQ, VL, VBMI not needed */
    GBSI_N_SIMD,
} gbsi_simd;

/* The best that the CPU, the build and the environment variable GIBBSITE_SIMD (portable, avx2,
 * avx512; a wish beyond the CPU is lowered to what it has) allow. Decided once. There is no way to
 * fail here, so a text that is no wish counts as none; clients refuse it by gbsi_simd_wish_ok(). */
gbsi_simd gbsi_simd_level(void);
/* "portable", "avx2" or "avx512". */
const char *gbsi_simd_text(gbsi_simd level);
/* Tests and benchmarks: use this level from now on if the machine has it. @return the level in use.
 */
gbsi_simd gbsi_simd_force(gbsi_simd level);
/* Is this a value that GIBBSITE_SIMD may have? @param text NULL (not set) and "" are fine. */
bool gbsi_simd_wish_ok(const char *text);

#endif
