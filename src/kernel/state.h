/* SPDX-License-Identifier: Apache-2.0 */
/* Reading states in kernels: the width is a constant where these are inlined. */
#ifndef GBSI_KERNEL_STATE_H
#define GBSI_KERNEL_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "plan/kernel.h"
#include "simd/lanes.h"

#define GBSI_INLINE static inline __attribute__((always_inline))

/* The states of one slot in 16 chains. */
GBSI_INLINE vu state16(const void *state, uint32_t slot, bool wide)
{
    return wide ? vu_load_u16((const uint16_t *)state + (size_t)slot * GBSI_LANES)
                : vu_load_u8((const uint8_t *)state + (size_t)slot * GBSI_LANES);
}

/* The state of one slot of one chain. */
GBSI_INLINE uint32_t state1(const void *state, uint32_t slot, bool wide)
{
    return wide ? ((const uint16_t *)state)[slot] : ((const uint8_t *)state)[slot];
}

/* Log-weights add up, weights multiply [M15]. */
GBSI_INLINE vf join(vf a, vf b, const bool linear)
{
    return linear ? vf_mul(a, b) : vf_add(a, b);
}

GBSI_INLINE float join1(float a, float b, const bool linear)
{
    return linear ? a * b : a + b;
}

/* An entry of a table by the number of neighbours; 16 entries fit a register. */
GBSI_INLINE vf by_count(const float *table, vu count, size_t degree)
{
    return degree < 16 ? vf_permute16(vf_load(table), count) : vf_gather(table, count);
}

GBSI_INLINE uint32_t tile_slot(const gbsi_tile *tile, uint32_t place)
{
    return tile->contiguous ? tile->first_slot + place : tile->slot[place];
}

#endif
