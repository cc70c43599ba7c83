/* SPDX-License-Identifier: Apache-2.0 */
#include "simd/dispatch.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

static const char *const LEVEL_TEXT[GBSI_N_SIMD] = {"portable", "neon", "avx2", "avx512"};

/* The level in use plus one; 0 before the first query. If two threads make the first query at the
 * same time, they find the same level. It therefore does not matter which thread stores its result
 * last. */
static atomic_int chosen;

static gbsi_simd best_of_machine(void)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (avx512) {
        return GBSI_SIMD_AVX512;
    }
    if (avx2) {
        return GBSI_SIMD_AVX2;
    }
#endif
#ifdef __aarch64__
    return GBSI_SIMD_NEON; /* NEON is a part of every AArch64 */
#endif
    return GBSI_SIMD_PORTABLE;
}

/* Returns the level with this name, or GBSI_N_SIMD if no level has it. */
static gbsi_simd level_of_text(const char *text)
{
    for (int level = 0; level < GBSI_N_SIMD; level++) {
        if (strcmp(text, LEVEL_TEXT[level]) == 0) {
            return (gbsi_simd)level;
        }
    }
    return GBSI_N_SIMD;
}

gbs_status gbsi_simd_check(gbs_error *err)
{
    const char *text =
        getenv("GIBBSITE_SIMD"); // NOLINT(concurrency-mt-unsafe): the environment is only read
    char has[64] = "";
    if (text == NULL || text[0] == '\0' || level_of_text(text) != GBSI_N_SIMD) {
        return GBS_OK;
    }
    for (int level = 0; level < GBSI_N_SIMD; level++) {
        if (gbsi_simd_has((gbsi_simd)level)) {
            (void)strcat(strcat(has, " "), LEVEL_TEXT[level]);
        }
    }
    return gbsi_fail(err, GBS_ERR_ARGUMENT,
                     "environment GIBBSITE_SIMD=%.64s: expected portable, neon, avx2 or avx512 "
                     "(this machine has:%s)",
                     text, has);
}

gbsi_simd gbsi_simd_level(void)
{
    int known = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (known != 0) {
        return (gbsi_simd)(known - 1);
    }
    const char *text = getenv("GIBBSITE_SIMD");
    gbsi_simd wish = text == NULL ? GBSI_N_SIMD : level_of_text(text);
    return gbsi_simd_force(wish);
}

bool gbsi_simd_has(gbsi_simd level)
{
#define BUILT(set, SET) [GBSI_SIMD_##SET] = true,
    static const bool built[GBSI_N_SIMD + 1] = {GBSI_SIMD_SETS(BUILT)};
#undef BUILT
    return level <= best_of_machine() && built[level];
}

gbsi_simd gbsi_simd_force(gbsi_simd level)
{
    while (!gbsi_simd_has(level)) {
        --level; /* the loop ends: every machine has the portable level */
    }
    atomic_store_explicit(&chosen, (int)level + 1, memory_order_relaxed);
    return level;
}

const char *gbsi_simd_text(gbsi_simd level)
{
    assert(level < GBSI_N_SIMD);
    return LEVEL_TEXT[level];
}

const char *gbs_simd_name(void)
{
    return gbsi_simd_text(gbsi_simd_level());
}
