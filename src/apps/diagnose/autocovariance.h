/* SPDX-License-Identifier: Apache-2.0 */
/* Autocovariances of a series, by the fast Fourier transform. */
#ifndef GBSI_DIAGNOSE_AUTOCOVARIANCE_H
#define GBSI_DIAGNOSE_AUTOCOVARIANCE_H

#include <stddef.h>
#include <stdint.h>

/* Memory for series of one length. */
typedef struct gbsi_autocovariance {
    size_t n;       /* number of values of a series */
    size_t length;  /* length of the transform: a power of two, at least 2 n */
    double *cosine; /* [length / 2] cosines and sines of 2 pi k / length */
    double *sine;
    double *re, *im; /* [length] real and imaginary parts */
} gbsi_autocovariance;

/* @return 0 if memory is short. Call gbsi_autocovariance_end() even after a failure. */
int gbsi_autocovariance_begin(gbsi_autocovariance *a, size_t n);
void gbsi_autocovariance_end(gbsi_autocovariance *a);

/* Adds the autocovariances of one series about its mean. The sum of lag t is divided by n, not by n
 * - t (Geyer 1992): sum[t] += 1/n sum_i (x_i - mean) (x_{i+t} - mean), t = 0 .. n - 1. */
void gbsi_autocovariance_add(gbsi_autocovariance *a, const double *x, double *sum);

/* ---- ranks.c -------------------------------------------------------------------------------- */

/* Order statistics of draws. */
typedef struct gbsi_ranked {
    double value;
    size_t place;
} gbsi_ranked;

/* Sorts draws by value, and draws of equal value by place. */
void gbsi_rank(gbsi_ranked *order, size_t n);

/* @return the interpolated quantile p of ranked values: type 7 of Hyndman & Fan (1996). */
double gbsi_ranked_quantile(const gbsi_ranked *order, size_t n, double p);

/* Computes normal scores, Vehtari et al. (2021), eq. 14: z_i = Phi^-1((r_i - 3/8) / (n + 1/4)) for
 * the rank r of x_i from 1; equal values share the mean of their ranks. @param z out: the score of
 * the draw at each place. */
void gbsi_normal_scores(const gbsi_ranked *order, size_t n, double *z);

#endif
