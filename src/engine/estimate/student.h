/* SPDX-License-Identifier: Apache-2.0 */
/* Student's t distribution: intervals and tests around estimates whose errors are estimated too. */
#ifndef GBSI_ESTIMATE_STUDENT_H
#define GBSI_ESTIMATE_STUDENT_H

/* P(T <= t) and its inverse for df > 0, not necessarily integral (df above 10^9 counts as 10^9).
 * The absolute error of the probability is below 1e-10. NAN outside the domains; the quantiles of 0
 * and 1 are -inf and +inf. */
double gbsi_student_cdf(double t, double df);
double gbsi_student_quantile(double p, double df);

#endif
