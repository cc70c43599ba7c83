/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#ifdef GBSI_HAVE_AVX512_SET

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

/* A test is built with the flags of the machine; the instruction set is enabled only for the
 * lines below. */
#if defined(__clang__)
#pragma clang attribute push(                                                        \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi,bmi2"))), \
    apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi,bmi2")
#endif

#define GBSI_LANES_AVX512
#define PROBE_NAME gbsi_probes_avx512
#include "simd/lanes_probe.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif

#else
typedef int no_probes; /* ISO C requires a declaration in every file */
#endif
