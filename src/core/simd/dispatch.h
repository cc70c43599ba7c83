/* SPDX-License-Identifier: Apache-2.0 */
/* Choice of the instruction set. Only dispatch.c examines the CPU. */
#ifndef GBSI_SIMD_DISPATCH_H
#define GBSI_SIMD_DISPATCH_H

#include <stdbool.h>

#include "gibbsite/status.h"

/* The levels, that is, instruction sets, by ascending width of their registers. GIBBSITE_SIMD sets
 * the highest level allowed. */
typedef enum gbsi_simd {
    GBSI_SIMD_PORTABLE,
    GBSI_SIMD_NEON,   /* Armv8.0-A */
    GBSI_SIMD_AVX2,   /* instruction sets AVX2, FMA, BMI */
    GBSI_SIMD_AVX512, /* subsets F, BW, DQ and VL of AVX-512; VBMI is not needed */
    GBSI_N_SIMD,
} gbsi_simd;

/* The instruction sets of this build, each as X(suffix of its functions, its name in gbsi_simd).
 * To add an instruction set, add a row: the row declares its functions and adds them to the lists
 * of functions. */
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

/* Returns the best level that the CPU, the build and the environment variable GIBBSITE_SIMD
 * (portable, neon, avx2, avx512) allow. The level is determined only once. If the CPU lacks the
 * requested level, a lower one is used. This function cannot fail: it ignores an invalid value of
 * the environment variable, and gbsi_simd_check() refuses the value. */
gbsi_simd gbsi_simd_level(void);
/* Returns "portable", "neon", "avx2" or "avx512". */
const char *gbsi_simd_text(gbsi_simd level);
/* Returns whether the CPU and the build have this level. A level below the best may be missing:
 * x86 has no NEON. */
bool gbsi_simd_has(gbsi_simd level);
/* For tests and benchmarks: uses this level from now on if the machine has it. @return the level
 * in use. */
gbsi_simd gbsi_simd_force(gbsi_simd level);
/* Returns GBS_ERR_ARGUMENT if GIBBSITE_SIMD is set to anything but the name of a level or an
 * empty text. Functions that compute, such as gbs_run_new() and gbs_exact_*(), call this
 * function first. */
gbs_status gbsi_simd_check(gbs_error *err);

#endif
