/* SPDX-License-Identifier: Apache-2.0 */
/* Conditionals of a row of variables of two states, in the form that herding by bins reads:
 * probabilities of state 1 in units of 2^-32. */
#ifndef GBSI_DRAW_CHANCE_LANES_H
#define GBSI_DRAW_CHANCE_LANES_H

#include <math.h>
#include <stdbool.h>

#include "plan/tile.h"
#include "simd/math_lanes.h"

typedef struct gbsi_chances {
    vu chance; /* probability of state 1 in units of 2^-32, from 1 to 2^32 - 1 in open lanes */
    vm open;   /* lanes whose p is neither 0 nor 1; set by gbsi_chances_of_pair() if asked for */
    vm one;    /* lanes whose p is 1; set by gbsi_chances_of_pair() */
    vm dead;   /* lanes in which neither state has weight; set by gbsi_chances_of_pair() */
    vf p[2];   /* probabilities; gbsi_chances_of_odds() sets p[1] only */
} gbsi_chances;

/* Computes the probability of state 1 in units of 2^-32. The less likely state, of probability q,
 * gets max(1, round(q 2^32)) units, and the other state gets the rest. q is at most 1/2 and has the
 * full accuracy of a float, whereas a p near 1 would lose digits. The conversion to integers is
 * valid only below 2^31, so that q = 1/2 is handled separately. */
static inline vu gbsi_chance_from(vf q, vm likely_one)
{
    const vf scaled = vf_fma(q, vf_set1(0x1p32F), vf_set1(0.5F));
    vu chance = vf_to_vu(vf_min(scaled, vf_set1(0x1.fffffep30F)));
    chance = vu_select(vf_le(vf_set1(0.5F), q), vu_set1(UINT32_C(1) << 31), chance);
    chance = vu_select(vu_eq(chance, vu_set1(0)), vu_set1(1), chance);
    return vu_select(likely_one, vu_sub(vu_set1(0), chance), chance);
}

/* Computes chances from finite odds r or from logarithms of odds. All lanes are then open. The less
 * likely state has probability q. */
static inline gbsi_chances gbsi_chances_of_odds(const gbsi_tile *tile, uint32_t row, bool linear)
{
    const vf one = vf_set1(1.0F);
    const vf given = vf_load(tile->w + (size_t)row * GBSI_LANES);
    const vf r = linear ? given : vf_exp_low(vf_neg(vf_abs(given)));
    const vm likely_one = vf_lt(linear ? one : vf_set1(0.0F), given);
    const vf q = vf_div(linear ? vf_min(r, one) : r, vf_add(one, r));
    gbsi_chances c = {.chance = gbsi_chance_from(q, likely_one)};
    c.p[1] = vf_select(likely_one, vf_sub(one, q), q);
    return c;
}

/* Computes chances from weights, some of which may be 0, or from log-weights, some of which may be
 * -infinity. */
static inline gbsi_chances gbsi_chances_of_pair(const gbsi_tile *tile, uint32_t row)
{
    const vf zero = vf_set1(0.0F);
    const vf one = vf_set1(1.0F);
    const float *w = tile->w + (size_t)row * 2 * GBSI_LANES;
    vf w0 = vf_load(w);
    vf w1 = vf_load(w + GBSI_LANES);
    if (!tile->linear) {
        const vf top = vf_max(w0, w1);
        const vf safe = vf_select(vf_eq(top, vf_set1(-INFINITY)), zero, top);
        w0 = vf_exp_low(vf_sub(w0, safe));
        w1 = vf_exp_low(vf_sub(w1, safe));
    }
    gbsi_chances c;
    const vf total = vf_add(w0, w1);
    c.dead = vf_eq(total, zero);
    const vm likely_one = vf_lt(w0, w1);
    const vf q = vf_div(vf_select(likely_one, w0, w1), vf_select(c.dead, one, total));
    c.p[0] = vf_select(likely_one, q, vf_sub(one, q));
    c.p[1] = vf_select(likely_one, vf_sub(one, q), q);
    c.one = vm_andnot(vf_eq(w0, zero), c.dead);
    c.open = vm_not(vm_or(vf_eq(w0, zero), vf_eq(w1, zero)));
    c.open = vm_andnot(c.open, vm_from_bits(tile->idle));
    c.chance = gbsi_chance_from(q, likely_one);
    return c;
}

/* Bin of P 2^-32 among the intervals (b/B, (b+1)/B] or [b/B, (b+1)/B) [M32]. P B is exact in 64
 * bits. */
static inline vu gbsi_bin_of(vu chance, uint32_t n_bins, int shift, bool left_edge)
{
    if (shift != 0) {
        return vu_shr(left_edge ? chance : vu_sub(chance, vu_set1(1)), shift);
    }
    const vu scale = vu_set1(n_bins);
    const vu high = vu_mul_hi(chance, scale);
    if (left_edge) {
        return high;
    }
    const vm on_edge = vu_eq(vu_mul(chance, scale), vu_set1(0));
    return vu_select(on_edge, vu_sub(high, vu_set1(1)), high);
}

#endif
