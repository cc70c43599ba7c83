/* SPDX-License-Identifier: Apache-2.0 */
/* exp, log, tanh and pow in double, from IEEE +, -, *, / alone. The functions of the C library
 * give different bits on machines with and without FMA hardware. The functions of this header are
 * used when models are read or generated, in exact inference and in estimates. Errors are below 1
 * ulp for exp, pow and the logarithms, and below 1.5 ulp for expm1 and tanh. A NaN argument gives
 * NaN, except that pow(1, y) = pow(x, 0) = 1. */
#ifndef GBSI_SIMD_MATH_H
#define GBSI_SIMD_MATH_H

#include <stddef.h>

double gbsi_exp(double x);
double gbsi_log(double x); /* log 0 = -inf; NaN for negative numbers */
/* Replaces x[0 .. n) by its logarithms, with the same bits as gbsi_log(); faster if n is 8 or
 * more. */
void gbsi_log_many(double *x, size_t n);
double gbsi_log1p(double x);
double gbsi_expm1(double x);
double gbsi_tanh(double x);
double gbsi_pow(double x, double y); /* requires x > 0 */
double gbsi_log2(double x);
double gbsi_log10(double x);
double gbsi_sqrt(double x); /* correctly rounded */

/* The normal distribution. */

/* Returns z with P(Z <= z) = p, by algorithm AS 241 (Wichura 1988, Applied Statistics
 * 37:477-484). The relative error is about 1e-16. The result is -inf and +inf for p = 0 and 1,
 * and NAN for p outside [0, 1]. */
double gbsi_normal_quantile(double p);

#endif
