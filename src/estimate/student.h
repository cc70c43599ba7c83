/* SPDX-License-Identifier: Apache-2.0 */
/* Student's t distribution: intervals and tests around estimates whose errors are estimated too. */
#ifndef GBSI_ESTIMATE_STUDENT_H
#define GBSI_ESTIMATE_STUDENT_H

/* P(T <= t) and its inverse, df > 0 (not necessarily integral; above 10^9 taken as 10^9), absolute
 * error of the probability below 1e-10. NAN outside their domains; quantiles of 0 and 1 are -inf
 * and +inf. */
double gbsi_student_cdf(double t, double df);
double gbsi_student_quantile(double p, double df);

#endif
