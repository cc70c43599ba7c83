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

GBSI_INLINE uint32_t tile_slot(const gbsi_tile *tile, uint32_t place)
{
    return tile->contiguous ? tile->first_slot + place : tile->slot[place];
}

#endif
