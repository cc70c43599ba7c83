/* SPDX-License-Identifier: Apache-2.0 */
/* Incomplete beta function I_x(a, b), computed by the continued fraction of DLMF 8.17.22, evaluated
 * with the modified Lentz method (Thompson & Barnett (1986), J. Comput. Phys. 64:490-509). */
#include "estimate/beta.h"

#include <math.h>
#include <stdbool.h>

#include "simd/math.h"

#define MOST_TERMS 200000

static const double LOG_SQRT_2PI = 0.91893853320467274178;

static double away_from_0(double x)
{
    return fabs(x) < 1e-300 ? 1e-300 : x;
}

double gbsi_beta_fraction(double a, double b, double x)
{
    double c = 1;
    double d = 1 / away_from_0(1 - (a + b) * x / (a + 1));
    double k = d;
    for (int i = 1; i <= MOST_TERMS; i++) {
        const double m = i;
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / away_from_0(1 + even * d);
        c = away_from_0(1 + even / c);
        k *= c * d;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / away_from_0(1 + odd * d);
        c = away_from_0(1 + odd / c);
        k *= c * d;
        if (fabs(c * d - 1) < 1e-15) {
            break;
        }
    }
    return k;
}

/* Stirling series (DLMF 5.11.1) without its first terms (a - 1/2) ln a - a + ln(2 pi)/2. */
static double stirling_rest(double a)
{
    const double i = 1 / a;
    const double i2 = i * i;
    return i * (1.0 / 12 - i2 * (1.0 / 360 - i2 * (1.0 / 1260 - i2 * (1.0 / 1680 - i2 / 1188))));
}

/* ln(Gamma(a + b) / (Gamma(a) Gamma(b)) x^a y^b), y = 1 - x. The large terms of the three Stirling
 * series are combined first. Their sum a ln(x (a+b)/a) + b ln(y (a+b)/b) is small where the density
 * is large. */
static double log_front(double a, double b, double x, double y)
{
    double shift = 0;
    double s = a + b;
    while (a < 16) { /* Gamma(a) = Gamma(a + 1) / a and x^a = x^(a+1) / x; the first rule also
                        applies to Gamma(a + b) */
        shift += gbsi_log(a) - gbsi_log(s) - gbsi_log(x);
        a += 1;
        s += 1;
    }
    while (b < 16) {
        shift += gbsi_log(b) - gbsi_log(s) - gbsi_log(y);
        b += 1;
        s += 1;
    }
    return a * gbsi_log(x * s / a) + b * gbsi_log(y * s / b) +
           0.5 * (gbsi_log(a) + gbsi_log(b / s)) - LOG_SQRT_2PI + stirling_rest(s) -
           stirling_rest(a) - stirling_rest(b) + shift;
}

double gbsi_beta_cdf(double x, double a, double b)
{
    if (isnan(x) || !(a > 0) || !(b > 0)) {
        return NAN;
    }
    if (x <= 0 || x >= 1) {
        return x <= 0 ? 0 : 1;
    }
    const double front = gbsi_exp(log_front(a, b, x, 1 - x));
    return x < (a + 1) / (a + b + 2) ? front * gbsi_beta_fraction(a, b, x) / a
                                     : 1 - front * gbsi_beta_fraction(b, a, 1 - x) / b;
}

double gbsi_beta_quantile(double p, double a, double b)
{
    if (!(p >= 0 && p <= 1) || !(a > 0) || !(b > 0)) {
        return NAN;
    }
    double low = 0;
    double high = 1;
    /* bisection of x, or of the exponent of x while x is small */
    for (int i = 0; i < 200 && high - low > 1e-15 * high && high > 1e-300; i++) {
        const double middle = low < 1e-3 * high
                                  ? gbsi_sqrt(low > 1e-300 ? low : 1e-300) * gbsi_sqrt(high)
                                  : (low + high) / 2;
        if (middle <= low || middle >= high) {
            break;
        }
        if (gbsi_beta_cdf(middle, a, b) < p) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return p <= 0 ? 0 : p >= 1 ? 1 : high;
}
