/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules by bins share in their lanes. */
#ifndef GBSI_DRAW_BINNED_LANES_H
#define GBSI_DRAW_BINNED_LANES_H

#include "draw/binned.h"
#include "draw/chance_lanes.h"
#include "draw/shares_lanes.h"
#include "draw/tile_lanes.h"

/* What a row of a tile holds: a place of sixteen chains, or up to sixteen places of one. */
GBSI_INLINE uint32_t gbsi_lanes_of_row(const gbsi_tile *tile, uint32_t row)
{
    const uint32_t left = tile->lanes == 1 ? tile->n_places - GBSI_LANES * row : GBSI_LANES;
    return left < GBSI_LANES ? left : GBSI_LANES;
}

/* Where the weight of a lane stands. */
GBSI_INLINE size_t gbsi_bin_at(const gbsi_herd *herd, const gbsi_tile *tile, uint32_t row,
                               uint32_t lane, uint32_t bin)
{
    const uint32_t place = tile->lanes == 1 ? GBSI_LANES * row + lane : row;
    const uint32_t slot = gbsi_tile_slot(tile, place);
    return tile->lanes == 1 ? herd->cell[slot] + bin : (herd->cell[slot] + bin) * GBSI_LANES + lane;
}

/* @param dead lanes without a state of positive weight. */
static inline void gbsi_flag_dead(gbsi_tile *tile, uint32_t row, vm dead)
{
    if (vm_any(dead)) {
        gbsi_tile_flag_row(tile, row, vm_bits(dead));
    }
}

/* Two states with hard zeros: where p is 0 or 1 it decides, else value does. */
GBSI_INLINE void gbsi_put_pair(gbsi_tile *tile, uint32_t row, const gbsi_chances *c, vu value)
{
    gbsi_flag_dead(tile, row, c->dead);
    gbsi_store_values(tile, row,
                      vu_select(c->open, value, vu_select(c->one, vu_set1(1), vu_set1(0))));
    if (tile->p != NULL) {
        float *p = tile->p + (size_t)row * 2 * GBSI_LANES;
        vf_store(p, c->p[0]);
        vf_store(p + GBSI_LANES, c->p[1]);
    }
}

/* Variables of more than two states. */
static inline void gbsi_more_states(gbsi_herd *herd, gbsi_tile *tile)
{
    for (uint32_t row = 0; row < tile->n_rows; ++row) {
        gbsi_flag_dead(tile, row, gbsi_shares_of_row(tile, row));
        gbsi_binned_row(herd, tile, row);
    }
    gbsi_shares_tell(tile);
}

#endif
