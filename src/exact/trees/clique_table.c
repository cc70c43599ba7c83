/* SPDX-License-Identifier: Apache-2.0 */
#include "trees/clique_table.h"

#include "simd/dispatch.h"

/* The inner loops over tables, which clique_table_lanes.c defines once per instruction set. */
#define DECLARE(set, SET) extern const gbsi_table_loops gbsi_table_loops_##set;
#define ROW(set, SET)     [GBSI_SIMD_##SET] = &gbsi_table_loops_##set,

GBSI_SIMD_SETS(DECLARE)

const gbsi_table_loops *gbsi_table_loops_now(void)
{
    static const gbsi_table_loops *const of_set[GBSI_N_SIMD] = {GBSI_SIMD_SETS(ROW)};
    return of_set[gbsi_simd_level()];
}
