/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that store the values of a row of a tile, and functions of random_lanes.c that other
 * drawing methods use. */
#ifndef GBSI_DRAW_TILE_LANES_H
#define GBSI_DRAW_TILE_LANES_H

#include <stddef.h>

#include "plan/draw.h"
#include "plan/tile.h"
#include "simd/lanes.h"

#define GBSI_INLINE static inline __attribute__((always_inline))

GBSI_INLINE void gbsi_store_values(const gbsi_tile *tile, uint32_t row, vu value)
{
    if (tile->value_bytes == 1) {
        vu_store_u8((uint8_t *)tile->value + (size_t)row * GBSI_LANES, value);
    } else {
        vu_store_u16((uint16_t *)tile->value + (size_t)row * GBSI_LANES, value);
    }
}

/* ---- random_lanes.c ------------------------------------------------------------------------- */

extern const gbsi_draw GBSI_V(gbsi_draw_random);

#endif
