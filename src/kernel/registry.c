/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernel computes which class, on which instruction set. */
#include <assert.h>
#include <stddef.h>

#include "gibbsite/info.h"
#include "plan/kernel.h"

extern const gbsi_kernel gbsi_kernel_precise;

#define KERNELS(set)                                                                     \
    extern const gbsi_kernel gbsi_kernel_ising_##set;                                    \
    extern const gbsi_kernel gbsi_kernel_potts_##set;                                    \
    extern const gbsi_kernel gbsi_kernel_pairwise_##set;                                 \
    extern const gbsi_kernel gbsi_kernel_terms_##set;                                    \
    static const gbsi_kernel *const kernels_##set[GBSI_N_CLASSES] = {                    \
        &gbsi_kernel_ising_##set, &gbsi_kernel_potts_##set, &gbsi_kernel_pairwise_##set, \
        &gbsi_kernel_terms_##set, &gbsi_kernel_terms_##set, &gbsi_kernel_precise};

KERNELS(portable)
#ifdef GBSI_HAVE_X86_SETS
KERNELS(avx2)
KERNELS(avx512)
#endif
#ifdef GBSI_HAVE_NEON_SET
KERNELS(neon)
#endif

const gbsi_kernel *gbsi_kernel_of(gbsi_class class_id, gbsi_simd level)
{
    assert(class_id < GBSI_N_CLASSES);
#ifdef GBSI_HAVE_X86_SETS
    if (level == GBSI_SIMD_AVX512) {
        return kernels_avx512[class_id];
    }
    if (level == GBSI_SIMD_AVX2) {
        return kernels_avx2[class_id];
    }
#endif
#ifdef GBSI_HAVE_NEON_SET
    if (level == GBSI_SIMD_NEON) {
        return kernels_neon[class_id];
    }
#endif
    (void)level; /* not looked at in a build of portable C alone */
    return kernels_portable[class_id];
}

const char *gbs_class_name(unsigned class_id)
{
    static const char *const name[GBSI_N_CLASSES] = {"ising",   "potts",   "pairwise", "table",
                                                     "logical", "precise", "lattice"};
    _Static_assert(GBS_N_CLASSES == GBSI_N_CLASSES, "the public count of classes");
    return class_id < GBSI_N_CLASSES ? name[class_id] : NULL;
}
