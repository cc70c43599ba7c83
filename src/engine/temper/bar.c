/* SPDX-License-Identifier: Apache-2.0 */
#include "temper/ratios.h"

#include "simd/math.h"

/* sum over i of 1 / (1 + exp(sign (c - u_i))) */
static double fermi_sum(const double *u, size_t n, double c, double sign)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; ++i) {
        const double d = sign * (c - u[i]);
        sum += d > 700.0 ? 0.0 : 1.0 / (1.0 + gbsi_exp(d));
    }
    return sum;
}

/* Equation 12 of Bennett. With M = ln(n0 / n1), the ratio c = ln(Z_1 / Z_0) solves
 *     sum_i 1 / (1 + exp(M + c - u0_i)) = sum_i 1 / (1 + exp(u1_i - c - M)).
 * The left side decreases with c and the right side increases, so that bisection finds the
 * solution. */
double gbsi_bar(const double *u0, size_t n0, const double *u1, size_t n1)
{
    const double m = gbsi_log((double)n0 / (double)n1);
    double low = u0[0];
    double high = u0[0];
    for (size_t i = 0; i < n0; ++i) {
        low = u0[i] < low ? u0[i] : low;
        high = u0[i] > high ? u0[i] : high;
    }
    for (size_t i = 0; i < n1; ++i) {
        low = u1[i] < low ? u1[i] : low;
        high = u1[i] > high ? u1[i] : high;
    }
    for (unsigned step = 0; step < 60; ++step) {
        const double middle = 0.5 * (low + high);
        const double left = fermi_sum(u0, n0, middle + m, 1.0);
        const double right = fermi_sum(u1, n1, middle + m, -1.0);
        if (left > right) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return 0.5 * (low + high);
}
