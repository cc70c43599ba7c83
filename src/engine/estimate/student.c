/* SPDX-License-Identifier: Apache-2.0 */
/* Student's t through the incomplete beta function (Abramowitz & Stegun 26.7.1, 26.5.8):
 *     P(|T| > t) = I_x(df/2, 1/2),   x = df / (df + t^2),
 * I_x(a, b) is computed by its continued fraction (beta.c), or from I_(1-x)(b, a) if this fraction
 * converges faster. */
#include "estimate/beta.h"

#include <math.h>
#include <stdbool.h>

#include "simd/math.h"

#define MOST_DF 1e9

static const double LOG_SQRT_PI = 0.57236494292470008707;

/* ln Gamma(a + 1/2) - ln Gamma(a), from the Stirling series of the two logarithms (DLMF 5.11.8):
 *     ln(a)/2 - 1/(8a) + 1/(192 a^3) - 1/(640 a^5) + 17/(14336 a^7) - 31/(18432 a^9) + ...
 * The difference is computed as one series and therefore loses no digits, even for large a. */
static double log_gamma_half_step(double a)
{
    double shifted = 1;
    while (a < 16) {
        shifted *= a / (a + 0.5);
        a += 1;
    }
    const double i = 1 / a;
    const double i2 = i * i;
    const double series =
        i * (-1.0 / 8 +
             i2 * (1.0 / 192 + i2 * (-1.0 / 640 + i2 * (17.0 / 14336 - i2 * (31.0 / 18432)))));
    return 0.5 * gbsi_log(a) + series + gbsi_log(shifted);
}

/* P(T > t), t >= 0. */
static double upper_tail(double t, double df)
{
    if (isinf(t)) {
        return 0;
    }
    const double a = 0.5 * df;
    const double square = t * t;
    const bool near =
        square < df; /* otherwise the formula for large t is used, in which t^2 may be infinite */
    const double ratio = near ? square / df : df / square;
    const double x = near ? 1 / (1 + ratio) : ratio / (1 + ratio);
    const double y = near ? ratio / (1 + ratio) : 1 / (1 + ratio); /* 1 - x */
    /* x^a y^(1/2) / B(a, 1/2). x^a is computed from 1 - x, which is tiny for large df */
    const double log_xa = -a * (gbsi_log1p(ratio) + (near ? 0 : 2 * gbsi_log(t) - gbsi_log(df)));
    const double log_beta = LOG_SQRT_PI - log_gamma_half_step(a);
    const double front = gbsi_exp(log_xa - log_beta) * gbsi_sqrt(y);
    if (x < (a + 1) / (a + 2.5)) {
        return 0.5 * front * gbsi_beta_fraction(a, 0.5, x) / a;
    }
    return 0.5 - front * gbsi_beta_fraction(0.5, a, y);
}

double gbsi_student_cdf(double t, double df)
{
    if (isnan(t) || !(df > 0)) {
        return NAN;
    }
    const double tail = upper_tail(fabs(t), df < MOST_DF ? df : MOST_DF);
    return t > 0 ? 1 - tail : tail;
}

double gbsi_student_quantile(double p, double df)
{
    if (!(p >= 0 && p <= 1) || !(df > 0)) {
        return NAN;
    }
    df = df < MOST_DF ? df : MOST_DF;
    const double tail = p < 0.5 ? p : 1 - p;
    if (tail <= 0) {
        return p < 0.5 ? -(double)INFINITY : (double)INFINITY;
    }
    if (tail == 0.5) {
        return 0;
    }
    double high = 1;
    while (upper_tail(high, df) > tail) {
        high *= 2;
    }
    double low = high == 1 ? 0 : high / 2;
    for (int i = 0; i < 200 && !isinf(high); i++) {
        const double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high) {
            break;
        }
        if (upper_tail(middle, df) > tail) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return p < 0.5 ? -high : high;
}
