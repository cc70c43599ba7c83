/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of a row of any number of states become probabilities, in place. */
#ifndef GBSI_DRAW_SHARES_LANES_H
#define GBSI_DRAW_SHARES_LANES_H

#include <math.h>
#include <string.h>

#include "plan/tile.h"
#include "simd/math_lanes.h"

/* @return where no state has weight: all are 0 then. Sums are in double. */
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

/* The probabilities of a tile to whoever asks; executors ask where they are. */
static inline void gbsi_shares_tell(gbsi_tile *tile)
{
    if (tile->p != NULL && tile->p != tile->w) {
        const size_t n = (size_t)tile->n_rows * tile->arity * GBSI_LANES;
        memcpy(tile->p, tile->w, n * sizeof *tile->p);
    }
}

#endif
