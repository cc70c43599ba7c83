/* SPDX-License-Identifier: Apache-2.0 */
#include "estimate/accumulate.h"

/* Functions that accumulate_lanes.c defines, once per instruction set. */
#define DECLARE(set, SET)                                                              \
    void gbsi_accumulate_tile_##set(float *, const gbsi_offsets *, const gbsi_tile *); \
    void gbsi_accumulate_state_##set(uint8_t *, const gbsi_arity_run *, size_t,        \
                                     const gbsi_state_rows *);                         \
    void gbsi_accumulate_flush_##set(gbsi_fast, double *, size_t);                     \
    void gbsi_accumulate_close_##set(gbsi_fast, const gbsi_closing *);
#define ROW(set, SET)                \
    [GBSI_SIMD_##SET] = {            \
        gbsi_accumulate_tile_##set,  \
        gbsi_accumulate_state_##set, \
        gbsi_accumulate_flush_##set, \
        gbsi_accumulate_close_##set, \
    },

GBSI_SIMD_SETS(DECLARE)

const gbsi_accumulate *gbsi_accumulate_of(gbsi_simd level)
{
    static const gbsi_accumulate accumulate[GBSI_N_SIMD] = {GBSI_SIMD_SETS(ROW)};
    return &accumulate[level];
}
