/* SPDX-License-Identifier: Apache-2.0 */
/* Elementary functions in double from IEEE +, -, *, / alone.
 *
 * Where one more rounding would spoil the last digit, a value is stored as a pair hi + lo of
 * doubles, with |lo| at most about ulp(hi) / 2. Sums and products are split exactly: Knuth, The Art
 * of Computer Programming 2, 4.2.2, theorem B (two_sum), and Dekker (1971), A floating-point
 * technique for extending the available precision, Numer. Math. 18:224-242 (fast_two_sum,
 * two_product). The series are Taylor series, long enough for the reduced argument. The compiler
 * must not contract expressions into fma; otherwise the bits differ between machines. */
#include "simd/math.h"

#include <math.h>
#include <stdint.h>

#include "simd/math_pair.h"

/* log10 2 as a sum: its first 42 bits, whose product with an exponent is exact, and the remainder.
 */
static const double LOG10_2_HI = 0x1.34413509f7800p-2;
static const double LOG10_2_LO = 0x1.fef311f12b358p-46;
static const pair INVERSE_LN2 = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
static const pair INVERSE_LN10 = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};

/* Logarithm of the largest double; above this number exp is infinite. */
static const double EXP_MAX = 0x1.62e42fefa39efp+9;

/* Returns 2^n, -1022 <= n <= 1023. */
static inline double power_of_two(int n)
{
    return of_bits((uint64_t)(n + 1023) << 52);
}

/* Returns y 2^n for y near 1 and |n| < 1100. The first factor is exact, therefore a subnormal
 * result is rounded only once. */
static inline double scale(double y, int n)
{
    int half = n / 2;
    return y * power_of_two(half) * power_of_two(n - half);
}

/* Computes exp(x + tail) = 2^n (1 + hi + lo) for |x| < 800 and a tiny tail. With
 *     x + tail = n ln 2 + r,  |r| at most slightly more than ln 2 / 2,  hi = r rounded,
 *     lo = rounding error of hi + r^2 (1/2! + r/3! + ... + r^11/13!).
 * The next term of the series is below 2^-57. Even and odd powers are summed separately. */
static pair exp_reduced(double x, double tail, int *n)
{
    const double shift = 0x1.8p52;
    double whole = (x * INVERSE_LN2.hi + shift) - shift;
    double rest = x - whole * LN2_HI; /* an exact product and difference */
    double correction = whole * LN2_LO - tail;
    double r = rest - correction;
    double lost = (rest - r) - correction;

    double z = r * r;
    double even = 1.0 / 479001600;
    double odd = 1.0 / 6227020800;
    even = even * z + 1.0 / 3628800;
    odd = odd * z + 1.0 / 39916800;
    even = even * z + 1.0 / 40320;
    odd = odd * z + 1.0 / 362880;
    even = even * z + 1.0 / 720;
    odd = odd * z + 1.0 / 5040;
    even = even * z + 1.0 / 24;
    odd = odd * z + 1.0 / 120;
    even = even * z + 1.0 / 2;
    odd = odd * z + 1.0 / 6;
    *n = (int)whole;
    pair result = {r, z * (even + r * odd) + lost};
    return result;
}

/* Returns exp(x + tail) for any x that is not NaN. */
static double exp_of_sum(double x, double tail)
{
    if (x > 710.0) {
        return INFINITY;
    }
    if (x < -746.0) {
        return 0.0;
    }
    int n;
    pair e = exp_reduced(x, tail, &n);
    pair sum = fast_two_sum(1.0, e.hi);
    return scale(sum.hi + (sum.lo + e.lo), n);
}

double gbsi_exp(double x)
{
    if (isnan(x)) {
        return x;
    }
    if (x > EXP_MAX) {
        return INFINITY;
    }
    return exp_of_sum(x, 0.0);
}

/* Returns exp(x) - 1 for |x| <= 40 as (2^n - 1) + 2^n hi + 2^n lo. The first two terms of the sum
 * may cancel. */
static pair expm1_pair(double x)
{
    int n;
    pair e = exp_reduced(x, 0.0, &n);
    double factor = power_of_two(n);
    pair less_one = two_sum(factor, -1.0);
    pair sum = two_sum(less_one.hi, factor * e.hi);
    return fast_two_sum(sum.hi, sum.lo + (less_one.lo + factor * e.lo));
}

double gbsi_expm1(double x)
{
    if (isnan(x) || fabs(x) < 0x1p-54) {
        return x;
    }
    if (x > 40.0) {
        return gbsi_exp(x); /* the subtracted 1 is below half an ulp */
    }
    if (x < -40.0) {
        return -1.0;
    }
    return expm1_pair(x).hi;
}

double gbsi_tanh(double x)
{
    double size = fabs(x);
    if (isnan(x) || size < 0x1p-28) {
        return x; /* x^3 / 3 is below half an ulp */
    }
    double result = 1.0;
    if (size < 20.0) {
        /* tanh x = t / (t + 2), t = exp(2x) - 1 */
        pair t = expm1_pair(2.0 * size);
        pair t_plus_2 = two_sum(2.0, t.hi);
        t_plus_2.lo += t.lo;
        pair q = pair_quotient(t, t_plus_2);
        result = q.hi + q.lo;
    }
    return x < 0.0 ? -result : result;
}

/* Splits x = 2^k m, sqrt(1/2) <= m < sqrt(2), for a positive and finite x. @return m. */
static double take_exponent(double x, int *k)
{
    int shift = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        shift = 54;
    }
    uint64_t bits = bits_of(x);
    int octave = (int)octave_of(bits);
    *k = octave - shift;
    return of_bits(bits - ((uint64_t)(int64_t)octave << 52));
}

/* Returns log x as a pair, for a positive and finite x. */
static pair log_pair(double x)
{
    int k;
    pair m = log_of_mantissa(take_exponent(x, &k));
    return log_scaled(k, m);
}

/* Returns the logarithm, in any base, of an argument whose logarithm is not finite: NaN, 0,
 * negative numbers, infinity. */
static double log_special(double x)
{
    if (x == 0.0) {
        return -INFINITY;
    }
    return x > 0.0 || isnan(x) ? x : NAN;
}

static inline int has_log(double x)
{
    return x > 0.0 && x < INFINITY;
}

double gbsi_log(double x)
{
    return has_log(x) ? log_pair(x).hi : log_special(x);
}

double gbsi_log2(double x)
{
    if (!has_log(x)) {
        return log_special(x);
    }
    int k;
    pair m = pair_product(log_of_mantissa(take_exponent(x, &k)), INVERSE_LN2);
    pair sum = two_sum(k, m.hi);
    return sum.hi + (sum.lo + m.lo);
}

double gbsi_log10(double x)
{
    if (!has_log(x)) {
        return log_special(x);
    }
    int k;
    pair m = pair_product(log_of_mantissa(take_exponent(x, &k)), INVERSE_LN10);
    pair sum = two_sum(k * LOG10_2_HI, m.hi);
    return sum.hi + (sum.lo + (k * LOG10_2_LO + m.lo));
}

double gbsi_log1p(double x)
{
    if (fabs(x) < 0x1p-54) {
        return x;
    }
    if (!has_log(1.0 + x)) {
        return log_special(1.0 + x);
    }
    /* log(hi + lo) = log hi + lo / hi - ..., and lo^2 is negligible. */
    pair sum = two_sum(1.0, x);
    pair log_hi = log_pair(sum.hi);
    return log_hi.hi + (log_hi.lo + sum.lo / sum.hi);
}

double gbsi_pow(double x, double y)
{
    if (x == 1.0 || y == 0.0) {
        return 1.0;
    }
    if (isnan(x) || isnan(y) || x < 0.0) {
        return NAN;
    }
    if (!has_log(x) || fabs(y) > 0x1p64) {
        /* y is 0 or infinite, or so large that x^y is 0 or infinite for any x except 1. */
        return (x > 1.0) == (y > 0.0) ? INFINITY : 0.0;
    }
    if (fabs(y) < 0x1p-64) {
        return 1.0; /* |log x| < 746: the result differs from 1 by less than half an ulp; products
                       of smaller numbers would underflow */
    }
    pair log_x = log_pair(x);
    pair power = two_product(y, log_x.hi);
    power.lo += y * log_x.lo;
    return exp_of_sum(power.hi, power.lo);
}

double gbsi_sqrt(double x)
{
    return __builtin_sqrt(
        x); /* this is one instruction, because the file is compiled with -fno-math-errno */
}
