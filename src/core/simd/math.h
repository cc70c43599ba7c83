/* SPDX-License-Identifier: Apache-2.0 */
/* exp, log, tanh and pow in double, from IEEE +, -, *, / alone: the C library's differ between
 * machines with and without FMA hardware. Used at load time, in generators, in exact and in
 * estimates. Errors: below 1 ulp exp, pow and the logarithms, 1.5 ulp expm1 and tanh. NaN in, NaN
 * out, but pow(1, y) = pow(x, 0) = 1. */
#ifndef GBSI_SIMD_MATH_H
#define GBSI_SIMD_MATH_H

#include <stddef.h>

double gbsi_exp(double x);
double gbsi_log(double x); /* log 0 = -inf, negative: NaN */
/* Replaces x[0 .. n) by its logarithms, with the bits of log(); it is faster if n is 8 or more. */
void gbsi_log_many(double *x, size_t n);
double gbsi_log1p(double x);
double gbsi_expm1(double x);
double gbsi_tanh(double x);
double gbsi_pow(double x, double y); /* x > 0 */
double gbsi_log2(double x);
double gbsi_log10(double x);
double gbsi_sqrt(double x); /* correctly rounded */

/* The normal distribution. */

/* z with P(Z <= z) = p, by algorithm AS 241 (Wichura 1988, Applied Statistics 37:477-484): the
 * relative error is about 1e-16. -inf and +inf for 0 and 1, NAN outside. */
double gbsi_normal_quantile(double p);

#endif
