/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the instruction set. Only dispatch.c looks at the CPU. */
#ifndef GBSI_SIMD_DISPATCH_H
#define GBSI_SIMD_DISPATCH_H

#include <stdbool.h>

#include "gibbsite/status.h"

/* The levels in the order of the width of their registers: GIBBSITE_SIMD sets the highest one
 * allowed. */
typedef enum gbsi_simd {
    GBSI_SIMD_PORTABLE,
    GBSI_SIMD_NEON,   /* Armv8.0-A */
    GBSI_SIMD_AVX2,   /* AVX2, FMA, BMI */
    GBSI_SIMD_AVX512, /* F, BW, DQ, VL, VBMI not needed */
    GBSI_N_SIMD,
} gbsi_simd;

/* The sets of this build, each as X(suffix of its functions, its name in gbsi_simd): a new
 * instruction set needs only a row here for its functions to be declared and listed. */
#define GBSI_SIMD_SETS(X) X(portable, PORTABLE) GBSI_SET_NEON(X) GBSI_SET_AVX2(X) GBSI_SET_AVX512(X)
#ifdef GBSI_HAVE_NEON_SET
#define GBSI_SET_NEON(X) X(neon, NEON)
#else
#define GBSI_SET_NEON(X)
#endif
#ifdef GBSI_HAVE_AVX2_SET
#define GBSI_SET_AVX2(X) X(avx2, AVX2)
#else
#define GBSI_SET_AVX2(X)
#endif
#ifdef GBSI_HAVE_AVX512_SET
#define GBSI_SET_AVX512(X) X(avx512, AVX512)
#else
#define GBSI_SET_AVX512(X)
#endif

/* The best that the CPU, the build and the environment variable GIBBSITE_SIMD (portable, neon,
 * avx2, avx512; a wish that the CPU has not is lowered to one it has) allow. Decided once. This
 * function cannot fail: an invalid value of the environment variable is ignored here, and
 * gbsi_simd_check() refuses it. */
gbsi_simd gbsi_simd_level(void);
/* "portable", "neon", "avx2" or "avx512". */
const char *gbsi_simd_text(gbsi_simd level);
/* Whether the CPU and the build have this level. A level below the best may be missing: x86 has no
 * NEON. */
bool gbsi_simd_has(gbsi_simd level);
/* Tests and benchmarks: use this level from now on if the machine has it. @return the level in use.
 */
gbsi_simd gbsi_simd_force(gbsi_simd level);
/* GBS_ERR_ARGUMENT where GIBBSITE_SIMD is set to something else than the name of a level; not set
 * and empty are fine. Functions that compute call this first: gbs_run_new(), gbs_exact_*() and
 * their like.
 */
gbs_status gbsi_simd_check(gbs_error *err);

#endif
