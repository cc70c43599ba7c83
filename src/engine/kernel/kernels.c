/* SPDX-License-Identifier: Apache-2.0 */
/* Table of kernels by class and instruction set. */
#include <assert.h>
#include <stddef.h>

#include "gibbsite/info.h"
#include "plan/kernel.h"

#define DECLARE(set, SET)                                \
    extern const gbsi_kernel gbsi_kernel_ising_##set;    \
    extern const gbsi_kernel gbsi_kernel_potts_##set;    \
    extern const gbsi_kernel gbsi_kernel_pairwise_##set; \
    extern const gbsi_kernel gbsi_kernel_terms_##set;    \
    extern const gbsi_kernel gbsi_kernel_precise_##set;
#define ROW(set, SET)                                                           \
    [GBSI_SIMD_##SET] = {&gbsi_kernel_ising_##set,    &gbsi_kernel_potts_##set, \
                         &gbsi_kernel_pairwise_##set, &gbsi_kernel_terms_##set, \
                         &gbsi_kernel_terms_##set,    &gbsi_kernel_precise_##set},

GBSI_SIMD_SETS(DECLARE)

const gbsi_kernel *gbsi_kernel_of(gbsi_class class_id, gbsi_simd level)
{
    static const gbsi_kernel *const kernel[GBSI_N_SIMD][GBSI_N_CLASSES] = {GBSI_SIMD_SETS(ROW)};
    assert(level < GBSI_N_SIMD && class_id < GBSI_N_CLASSES);
    return kernel[level][class_id];
}

const char *gbs_class_name(unsigned class_id)
{
    static const char *const name[GBSI_N_CLASSES] = {"ising",   "potts",   "pairwise", "table",
                                                     "logical", "precise", "lattice"};
    _Static_assert(GBS_N_CLASSES == GBSI_N_CLASSES, "the public count of classes");
    return class_id < GBSI_N_CLASSES ? name[class_id] : NULL;
}
