/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic on pairs of doubles, and the logarithm. math.c, for one number, and log_lanes.c, for
 * many numbers, use the operations defined here and therefore give the same bits. */
#ifndef GBSI_SIMD_MATH_PAIR_H
#define GBSI_SIMD_MATH_PAIR_H

#include <stdint.h>
#include <string.h>

typedef struct pair {
    double hi;
    double lo;
} pair;

/* ln 2 as a sum: its first 42 bits, whose product with an exponent is exact, and the remainder. */
#define LN2_HI 0x1.62e42fefa3800p-1
#define LN2_LO 0x1.ef35793c76730p-45

/* Returns a + b exactly; requires |a| >= |b|. */
static inline pair fast_two_sum(double a, double b)
{
    double sum = a + b;
    pair r = {sum, b - (sum - a)};
    return r;
}

/* Returns a + b exactly. */
static inline pair two_sum(double a, double b)
{
    double sum = a + b;
    double b_part = sum - a;
    pair r = {sum, (a - (sum - b_part)) + (b - b_part)};
    return r;
}

/* Returns the upper 26 bits of a; |a| < 2^996. */
static inline double upper_half(double a)
{
    double t = a * 0x1.0000002p27;
    return t - (t - a);
}

/* Returns a * b exactly, except near the ends of the exponent range. */
static inline pair two_product(double a, double b)
{
    double a_hi = upper_half(a);
    double a_lo = a - a_hi;
    double b_hi = upper_half(b);
    double b_lo = b - b_hi;
    double product = a * b;
    pair r = {product, ((a_hi * b_hi - product) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo};
    return r;
}

static inline pair pair_product(pair a, pair b)
{
    pair r = two_product(a.hi, b.hi);
    r.lo += a.hi * b.lo + a.lo * b.hi;
    return r;
}

/* Returns (a.hi + a.lo) / (b.hi + b.lo) as a pair: a quotient, and a correction computed from the
 * remainder of the quotient. */
static inline pair pair_quotient(pair a, pair b)
{
    double q = a.hi / b.hi;
    pair p = two_product(q, b.hi);
    pair r = {q, (((a.hi - p.hi) - p.lo) + (a.lo - q * b.lo)) / b.hi};
    return r;
}

static inline uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Returns log m for sqrt(1/2) <= m < sqrt(2), with a relative error of about 2^-64. With f = m -
 * 1 and s = f / (2 + f), log m = 2 artanh s = 2 s (1 + u (1/3 + u (1/5 + u/7 + ...))), u = s^2
 * <= 0.0295. The terms up to 1/3 are computed in pairs, the other terms in doubles. */
static inline pair log_of_mantissa(double m)
{
    pair f = {m - 1.0, 0.0}; /* exact */
    pair s = pair_quotient(f, two_sum(2.0, f.hi));
    pair u = pair_product(s, s);
    double series = 0.0;
    for (int odd = 25; odd >= 5; odd -= 2) {
        series = u.hi * (series + 1.0 / odd);
    }
    pair q = fast_two_sum(0x1.5555555555555p-2, series); /* 1/3 as a pair */
    q.lo += 0x1.5555555555555p-56;
    pair tail = pair_product(s, pair_product(u, q));
    pair sum = fast_two_sum(s.hi, tail.hi);
    sum.lo += s.lo + tail.lo;
    sum = fast_two_sum(sum.hi, sum.lo);
    pair result = {2.0 * sum.hi, 2.0 * sum.lo};
    return result;
}

/* Returns log (2^k m), given log m. */
static inline pair log_scaled(double k, pair log_m)
{
    pair sum = two_sum(k * LN2_HI, log_m.hi);
    return fast_two_sum(sum.hi, sum.lo + (k * LN2_LO + log_m.lo));
}

/* Returns the number of octaves by which a normal x > 0 lies above [sqrt(1/2), sqrt(2)). The number
 * is read from the difference between the bits of x and the bits of sqrt(1/2). */
static inline int64_t octave_of(uint64_t bits)
{
    return (int64_t)((bits + (0x3FF0000000000000u - 0x3FE6A09E667F3BCDu)) >> 52) - 1023;
}

#endif
