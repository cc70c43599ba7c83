/* SPDX-License-Identifier: Apache-2.0 */
/* The beta distribution, for posteriors of probabilities. */
#ifndef GBSI_ESTIMATE_BETA_H
#define GBSI_ESTIMATE_BETA_H

/* The continued fraction K in I_x(a, b) = x^a (1-x)^b / (a B(a, b)) * K. It converges fast for x <
 * (a + 1) / (a + b + 2). */
double gbsi_beta_fraction(double a, double b, double x);

/* Distribution function P(X <= x) of the beta distribution, and its inverse, for a, b > 0. The
 * relative error is below 1e-10 if a + b < 10^9. Arguments outside the domains give NAN. */
double gbsi_beta_cdf(double x, double a, double b);
double gbsi_beta_quantile(double p, double a, double b);

/* Student's t distribution, for confidence intervals and tests whose standard errors are estimates.
 */

/* Distribution function P(T <= t) of Student's t, and its inverse, for any real df > 0; df above
 * 10^9 counts as 10^9. The absolute error of the probability is below 1e-10. Arguments outside the
 * domains give NAN; the quantiles of 0 and 1 are -inf and +inf. */
double gbsi_student_cdf(double t, double df);
double gbsi_student_quantile(double p, double df);

#endif
