/* SPDX-License-Identifier: Apache-2.0 */
#include "rbm/rbm.h"

#include "simd/dispatch.h"

/* Defined by layers_lanes.c, once per instruction set. */
#define DECLARE(set, SET) extern const gbsi_layers gbsi_layers_##set;
#define ROW(set, SET)     [GBSI_SIMD_##SET] = &gbsi_layers_##set,

GBSI_SIMD_SETS(DECLARE)

const gbsi_layers *gbsi_layers_here(void)
{
    static const gbsi_layers *const of_set[GBSI_N_SIMD] = {GBSI_SIMD_SETS(ROW)};
    return of_set[gbsi_simd_level()];
}
