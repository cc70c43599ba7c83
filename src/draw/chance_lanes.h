/* SPDX-License-Identifier: Apache-2.0 */
/* The conditional of a row of two states as herding by bins takes it: the probability of state 1 in
 * units of 2^-32. */
#ifndef GBSI_DRAW_CHANCE_LANES_H
#define GBSI_DRAW_CHANCE_LANES_H

#include <stdbool.h>

#include "plan/tile.h"
#include "simd/math_lanes.h"

typedef struct gbsi_chances {
    vu chance; /* from 1 to 2^32 - 1 where open */
    vm open;   /* p is neither 0 nor 1 */
    vm one;    /* p is 1 */
    vm dead;   /* neither state has weight */
    vf p[2];
} gbsi_chances;

/* The less likely of two weights relative to their sum, at most 1/2, is exact to float accuracy;
 * p near 1 would not be. */
static inline gbsi_chances gbsi_chances_of(vf w0, vf w1)
{
    const vf zero = vf_set1(0.0F);
    gbsi_chances c;
    const vm likely_one = vf_lt(w0, w1);
    const vf total = vf_add(w0, w1);
    c.dead = vf_eq(total, zero);
    const vf safe = vf_select(c.dead, vf_set1(1.0F), total);
    const vf small = vf_div(vf_select(likely_one, w0, w1), safe);
    const vf large = vf_div(vf_select(likely_one, w1, w0), safe);
    c.p[0] = vf_select(likely_one, small, large);
    c.p[1] = vf_select(likely_one, large, small);
    c.one = vf_eq(w0, zero);
    c.open = vm_not(vm_or(vm_or(c.one, vf_eq(w1, zero)), c.dead));
    c.one = vm_andnot(c.one, c.dead);
    /* 2^31 is beyond what converts */
    const vm half = vf_le(vf_set1(0.5F), small);
    const vf scaled =
        vf_min(vf_fma(small, vf_set1(0x1p32F), vf_set1(0.5F)), vf_set1(0x1.fffffep30F));
    vu chance = vu_select(half, vu_set1(UINT32_C(1) << 31), vf_to_vu(scaled));
    chance = vu_select(vu_eq(chance, vu_set1(0)), vu_set1(1), chance);
    c.chance = vu_select(likely_one, vu_sub(vu_set1(0), chance), chance);
    return c;
}

/* Of a row of a tile, in any of its forms. */
static inline gbsi_chances gbsi_chances_of_row(const gbsi_tile *tile, uint32_t row)
{
    const vf one = vf_set1(1.0F);
    const float *w = tile->w + (size_t)row * (tile->odds ? 1 : 2) * GBSI_LANES;
    const vf given = vf_load(w);
    if (tile->odds && tile->linear) {
        return gbsi_chances_of(one, given);
    }
    if (tile->odds) {
        const vf e = vf_exp_low(vf_neg(vf_abs(given)));
        const vm likely_one = vf_lt(vf_set1(0.0F), given);
        return gbsi_chances_of(vf_select(likely_one, e, one), vf_select(likely_one, one, e));
    }
    const vf other = vf_load(w + GBSI_LANES);
    if (tile->linear) {
        return gbsi_chances_of(given, other);
    }
    const vf top = vf_max(given, other);
    const vm dead = vf_eq(top, vf_set1(-INFINITY));
    const vf safe = vf_select(dead, vf_set1(0.0F), top);
    return gbsi_chances_of(vf_exp_low(vf_sub(given, safe)), vf_exp_low(vf_sub(other, safe)));
}

/* The bin of P 2^-32: intervals (b/B, (b+1)/B], or [b/B, (b+1)/B) [M20]. P B in 64 bits is exact.
 */
static inline vu gbsi_bin_of(vu chance, uint32_t n_bins, bool left_edge)
{
    const vu scale = vu_set1(n_bins);
    const vu high = vu_mul_hi(chance, scale);
    if (left_edge) {
        return high;
    }
    const vm on_edge = vu_eq(vu_mul(chance, scale), vu_set1(0));
    return vu_select(on_edge, vu_sub(high, vu_set1(1)), high);
}

#endif
