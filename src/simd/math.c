/* SPDX-License-Identifier: Apache-2.0 */
/* Elementary functions in double from IEEE +, -, *, / alone.
 *
 * Where one rounding too many would cost the last digit, a value is carried as a pair hi + lo, the
 * sum of two doubles with |lo| <= ulp(hi) / 2 or so. Sums and products are split exactly: Knuth,
 * The Art of Computer Programming 2, 4.2.2, theorem B (two_sum), and Dekker (1971), A
 * floating-point technique for extending the available precision, Numer. Math. 18:224-242
 * (fast_two_sum, two_product). The series are Taylor's, long enough for the reduced argument, so
 * their coefficients need no explanation. Contraction into fma must stay off, or the bits differ
 * between machines. */
#include "simd/math.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct pair {
    double hi;
    double lo;
} pair;

/* ln 2 and log10 2 with 42 bits, so that the product with an exponent is exact, and the rest. */
static const double LN2_HI = 0x1.62e42fefa3800p-1;
static const double LN2_LO = 0x1.ef35793c76730p-45;
static const double LOG10_2_HI = 0x1.34413509f7800p-2;
static const double LOG10_2_LO = 0x1.fef311f12b358p-46;
static const pair INVERSE_LN2 = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
static const pair INVERSE_LN10 = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
static const pair THIRD = {0x1.5555555555555p-2, 0x1.5555555555555p-56};

/* log of the largest double; above, exp is infinite. */
static const double EXP_MAX = 0x1.62e42fefa39efp+9;

/* a + b exactly; |a| >= |b|. */
static inline pair fast_two_sum(double a, double b)
{
    double sum = a + b;
    pair r = {sum, b - (sum - a)};
    return r;
}

/* a + b exactly. */
static inline pair two_sum(double a, double b)
{
    double sum = a + b;
    double b_part = sum - a;
    pair r = {sum, (a - (sum - b_part)) + (b - b_part)};
    return r;
}

/* The upper 26 bits of a; |a| < 2^996. */
static inline double upper_half(double a)
{
    double t = a * 0x1.0000002p27;
    return t - (t - a);
}

/* a * b exactly, unless it gets near the ends of the exponent range. */
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

/* (a.hi + a.lo) / (b.hi + b.lo): a quotient and what its remainder adds. */
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

/* 2^n, -1022 <= n <= 1023. */
static inline double power_of_two(int n)
{
    return of_bits((uint64_t)(n + 1023) << 52);
}

/* y 2^n for y near 1 and |n| < 1100. The first factor is exact, so a subnormal rounds once. */
static inline double scale(double y, int n)
{
    int half = n / 2;
    return y * power_of_two(half) * power_of_two(n - half);
}

/* x + tail = n ln 2 + r, |r| <= ln 2 / 2 (and a little), |x| < 800, |tail| tiny:
 *     exp(x + tail) = 2^n (1 + hi + lo),  hi = r rounded,
 *     lo = what rounding r lost + r^2 (1/2! + r/3! + ... + r^11/13!);
 * the next term is below 2^-57. Even and odd powers go side by side. */
static pair exp_reduced(double x, double tail, int *n)
{
    const double shift = 0x1.8p52;
    double whole = (x * INVERSE_LN2.hi + shift) - shift;
    double rest = x - whole * LN2_HI; /* exact */
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

/* exp(x + tail), any x that is not NaN. */
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

/* exp(x) - 1 for |x| <= 40:  (2^n - 1) + 2^n hi + 2^n lo, of which the first two may cancel. */
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
        return gbsi_exp(x); /* the 1 is below half an ulp */
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

/* x = 2^k m, sqrt(1/2) <= m < sqrt(2); x positive and finite. @return m. */
static double take_exponent(double x, int *k)
{
    int shift = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        shift = 54;
    }
    uint64_t bits = bits_of(x);
    /* The distance to the bits of sqrt(1/2) counts whole octaves. */
    int octave = (int)((bits + (0x3FF0000000000000u - 0x3FE6A09E667F3BCDu)) >> 52) - 1023;
    *k = octave - shift;
    return of_bits(bits - ((uint64_t)(int64_t)octave << 52));
}

/* log m for sqrt(1/2) <= m < sqrt(2), to about 2^-64 of itself. With f = m - 1, s = f / (2 + f):
 *     log m = 2 artanh s = 2 s (1 + u (1/3 + u (1/5 + u/7 + ...))),  u = s^2 <= 0.0295;
 * up to the 1/3 in pairs, the rest in doubles. */
static pair log_of_mantissa(double m)
{
    pair f = {m - 1.0, 0.0}; /* exact */
    pair s = pair_quotient(f, two_sum(2.0, f.hi));
    pair u = pair_product(s, s);
    double series = 0.0;
    for (int odd = 25; odd >= 5; odd -= 2) {
        series = u.hi * (series + 1.0 / odd);
    }
    pair q = fast_two_sum(THIRD.hi, series);
    q.lo += THIRD.lo;
    pair tail = pair_product(s, pair_product(u, q));
    pair sum = fast_two_sum(s.hi, tail.hi);
    sum.lo += s.lo + tail.lo;
    sum = fast_two_sum(sum.hi, sum.lo);
    pair result = {2.0 * sum.hi, 2.0 * sum.lo};
    return result;
}

/* log x, x positive and finite. */
static pair log_pair(double x)
{
    int k;
    pair m = log_of_mantissa(take_exponent(x, &k));
    pair sum = two_sum(k * LN2_HI, m.hi);
    return fast_two_sum(sum.hi, sum.lo + (k * LN2_LO + m.lo));
}

/* The logarithm, in any base, of what has no finite one: NaN, 0, negative numbers, infinity. */
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
    /* log(hi + lo) = log hi + lo / hi - ..., and lo^2 is out of sight. */
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
        /* 0 or infinity, or a power so high that any x other than 1 ends in one of them. */
        return (x > 1.0) == (y > 0.0) ? INFINITY : 0.0;
    }
    if (fabs(y) < 0x1p-64) {
        return 1.0; /* |log x| < 746: below half an ulp; and products of less would underflow */
    }
    pair log_x = log_pair(x);
    pair power = two_product(y, log_x.hi);
    power.lo += y * log_x.lo;
    return exp_of_sum(power.hi, power.lo);
}

double gbsi_sqrt(double x)
{
    return __builtin_sqrt(x); /* one instruction: built with -fno-math-errno */
}
