/* SPDX-License-Identifier: Apache-2.0 */
/* exp, log and tanh of sixteen floats, from +, -, *, /, fma and 2^n alone, with the same bits on
 * all machines. Each function reduces its argument to a range in which a short polynomial is
 * precise. The coefficients are fitted by tools/fit_exp.py; the error bounds were measured over
 * the floats of the range. */
#ifndef GBSI_SIMD_MATH_LANES_H
#define GBSI_SIMD_MATH_LANES_H

#include "simd/lanes.h"

/* Returns exp(x) for x <= 88, without a check of x; draws call it with x <= 0.
 *     x = n ln 2 + r, |r| <= ln 2 / 2,     exp(x) = 2^n (1 + c1 r + ... + c5 r^5)
 * Adding 1.5 * 2^23 + 127 rounds x / ln 2 to n and leaves n + 127. The bits of this number, shifted
 * to the exponent field, are the float 2^n. The constant ln 2 is split into two floats, because n
 * times the error of a single float would be 2.4e-7. The relative error is < 1.9e-7 from -87.3 on.
 * Below -87.3, also for -inf, the result is 0; NaN gives NaN; exp(0) = 1. */
static inline vf vf_exp_low(vf x)
{
    const vf shift = vf_set1(0x1.8p23f + 127.0f);
    vf t = vf_fma(x, vf_set1(0x1.715476p+0f), shift);
    vf n = vf_sub(t, shift);
    vf r = vf_fnma(n, vf_set1(0x1.62e43p-1f), x);
    r = vf_fnma(n, vf_set1(-0x1.05c61p-29f), r);
    vf p = vf_fma(vf_set1(0x1.0fa1eep-7f), r, vf_set1(0x1.573a1cp-5f));
    p = vf_fma(p, r, vf_set1(0x1.555a7cp-3f));
    p = vf_fma(p, r, vf_set1(0x1.fffdc6p-2f));
    p = vf_fma(p, r, vf_set1(0x1.fffff6p-1f));
    p = vf_fma(p, r, vf_set1(1.0f));
    vf y = vf_mul(p, vf_from_bits(vu_shl(vf_bits(t), 23)));
    return vf_select(vf_lt(x, vf_set1(-87.3f)), vf_set1(0.0f), y);
}

/* Returns exp(min(x, 88)) for any x, which is never +inf; errors as in vf_exp_low(). */
static inline vf vf_exp(vf x)
{
    /* 88 is the first operand: if x is NaN, 88 < x is false and vf_min() keeps the NaN. */
    return vf_exp_low(vf_min(vf_set1(88.0f), x));
}

/* Returns log(x) for positive normal x; 0 gives -inf. Any other argument gives an undefined value,
 * which is equal on all instruction sets. With x = 2^k m, sqrt(1/2) <= m < sqrt(2), and f = m - 1
 * (exact), log(x) = k ln 2 + f - f^2 / 2 + f^3 P(f). The error is below 1 ulp of log(x), also for x
 * near 1. */
static inline vf vf_log(vf x)
{
    vu bits = vf_bits(x);
    /* Computes k + 127, the distance of x from sqrt(1/2) in whole octaves, from the bits of both
     * numbers. */
    vu octave = vu_shr(vu_add(bits, vu_set1(0x3F800000u - 0x3F3504F3u)), 23);
    vf k = vf_sub(vf_from_small(octave), vf_set1(127.0f));
    vf f =
        vf_sub(vf_from_bits(vu_sub(bits, vu_shl(vu_sub(octave, vu_set1(127)), 23))), vf_set1(1.0f));
    vf p = vf_fma(vf_set1(0x1.204e84p-4f), f, vf_set1(-0x1.d77d88p-4f));
    p = vf_fma(p, f, vf_set1(0x1.de3208p-4f));
    p = vf_fma(p, f, vf_set1(-0x1.fcbf58p-4f));
    p = vf_fma(p, f, vf_set1(0x1.23d55p-3f));
    p = vf_fma(p, f, vf_set1(-0x1.555c8ep-3f));
    p = vf_fma(p, f, vf_set1(0x1.999d44p-3f));
    p = vf_fma(p, f, vf_set1(-0x1.fffff8p-3f));
    p = vf_fma(p, f, vf_set1(0x1.555554p-2f));
    vf square = vf_mul(f, f);
    /* Adds small terms first: f^3 P - f^2 / 2 + k ln2_low, then f, then k ln2_high. */
    vf tail = vf_mul(square, vf_fma(p, f, vf_set1(-0.5f)));
    tail = vf_fma(k, vf_set1(-0x1.05c61p-29f), tail);
    vf y = vf_fma(k, vf_set1(0x1.62e43p-1f), vf_add(f, tail));
    return vf_select(vf_eq(x, vf_set1(0.0f)), vf_from_bits(vu_set1(0xFF800000u)), y);
}

/* tanh(x) as x + x^3 Q(x^2) up to 0.625, then as (1 - e) / (1 + e) with e = exp(-2 |x|), where
 * nothing cancels. The relative error is below 3e-7; -0, +-inf and NaN give the results of the C
 * library. */
static inline vf vf_tanh(vf x)
{
    vf size = vf_abs(x);
    vf z = vf_mul(x, x);
    vf q = vf_fma(vf_set1(0x1.3a9068p-9f), z, vf_set1(-0x1.153b98p-7f));
    q = vf_fma(q, z, vf_set1(0x1.656b1ep-6f));
    q = vf_fma(q, z, vf_set1(-0x1.ba199cp-5f));
    q = vf_fma(q, z, vf_set1(0x1.111136p-3f));
    q = vf_fma(q, z, vf_set1(-0x1.555556p-2f));
    vf small = vf_fma(vf_mul(x, z), q, x);
    vf e = vf_exp_low(vf_mul(size, vf_set1(-2.0f)));
    vf large = vf_div(vf_sub(vf_set1(1.0f), e), vf_add(vf_set1(1.0f), e));
    /* Gives the positive quotient the sign of x; small results, among them -0, have the right sign
     * already. */
    vf y = vf_select(vf_lt(size, vf_set1(0.625f)), small, large);
    return vf_from_bits(vu_or(vf_bits(y), vu_and(vf_bits(x), vu_set1(0x80000000u))));
}

#endif
