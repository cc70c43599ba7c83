/* SPDX-License-Identifier: Apache-2.0 */
/* Functions on lanes that all rules of herding by bins use. */
#ifndef GBSI_DRAW_BINNED_LANES_H
#define GBSI_DRAW_BINNED_LANES_H

#include <string.h>

#include "draw/binned.h"
#include "draw/chance_lanes.h"
#include "draw/tile_lanes.h"

/* Number of lanes in use in a row of a tile. A row holds one place of sixteen chains, or up to
 * sixteen places of one chain. */
GBSI_INLINE uint32_t gbsi_lanes_of_row(const gbsi_tile *tile, uint32_t row)
{
    const uint32_t left = tile->lanes == 1 ? tile->n_places - GBSI_LANES * row : GBSI_LANES;
    return left < GBSI_LANES ? left : GBSI_LANES;
}

/* Index of the weight of one lane, for a given bin. */
GBSI_INLINE size_t gbsi_bin_at(const gbsi_herd *herd, const gbsi_tile *tile, uint32_t row,
                               uint32_t lane, uint32_t bin)
{
    const uint32_t place = tile->lanes == 1 ? GBSI_LANES * row + lane : row;
    const uint32_t slot = gbsi_tile_slot(tile, place);
    return tile->lanes == 1 ? herd->cell[slot] + bin : (herd->cell[slot] + bin) * GBSI_LANES + lane;
}

/* Flags lanes as impossible. @param dead bits of the lanes in which no state has a positive weight.
 */
static inline void gbsi_flag_dead(gbsi_tile *tile, uint32_t row, vm dead)
{
    if (vm_any(dead)) {
        gbsi_tile_flag_row(tile, row, vm_bits(dead));
    }
}

/* Stores values of variables of two states with hard zeros: p where p is 0 or 1, else `value`. */
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

/* Turns the weights of a row into probabilities in place, for any number of states. Sums are in
 * double.
 * @return the lanes in which no state has a positive weight; all probabilities of such a lane are
 * 0. */
static inline vm gbsi_shares_of_row(gbsi_tile *tile, uint32_t row)
{
    const uint32_t k = tile->arity;
    float *w = tile->w + (size_t)row * k * GBSI_LANES;
    const vf none = vf_set1(-INFINITY);
    vf top = tile->linear ? vf_set1(0.0F) : none;
    vd total = vd_zero();
    for (uint32_t a = 0; !tile->linear && a < k; ++a) {
        top = vf_max(top, vf_load(w + (size_t)a * GBSI_LANES));
    }
    top = vf_select(vf_eq(top, none), vf_set1(0.0F), top);
    for (uint32_t a = 0; a < k; ++a) {
        const vf given = vf_load(w + (size_t)a * GBSI_LANES);
        const vf weight = tile->linear ? given : vf_exp_low(vf_sub(given, top));
        vf_store(w + (size_t)a * GBSI_LANES, weight);
        total = vd_add(total, vd_from_vf(weight));
    }
    const vf sum = vf_from_vd(total);
    const vm dead = vf_eq(sum, vf_set1(0.0F));
    const vf safe = vf_select(dead, vf_set1(1.0F), sum);
    for (uint32_t a = 0; a < k; ++a) {
        const vf weight = vf_load(w + (size_t)a * GBSI_LANES);
        vf_store(w + (size_t)a * GBSI_LANES, vf_div(weight, safe));
    }
    return dead;
}

/* Draws variables of more than two states. */
static inline void gbsi_more_states(gbsi_herd *herd, gbsi_tile *tile)
{
    for (uint32_t row = 0; row < tile->n_rows; ++row) {
        gbsi_flag_dead(tile, row, gbsi_shares_of_row(tile, row));
        gbsi_binned_row(herd, tile, row);
    }
    if (tile->p != NULL && tile->p != tile->w) { /* callers read the probabilities from tile->p */
        const size_t n = (size_t)tile->n_rows * tile->arity * GBSI_LANES;
        memcpy(tile->p, tile->w, n * sizeof *tile->p);
    }
}

#endif
