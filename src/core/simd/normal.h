/* SPDX-License-Identifier: Apache-2.0 */
/* The normal distribution. */
#ifndef GBSI_SIMD_NORMAL_H
#define GBSI_SIMD_NORMAL_H

/* z with P(Z <= z) = p, by algorithm AS 241 (Wichura 1988, Applied Statistics 37:477-484): the
 * relative error is about 1e-16. -inf and +inf for 0 and 1, NAN outside. */
double gbsi_normal_quantile(double p);

#endif
