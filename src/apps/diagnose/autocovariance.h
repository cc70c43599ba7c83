/* SPDX-License-Identifier: Apache-2.0 */
/* Autocovariances of a series, by the fast Fourier transform. */
#ifndef GBSI_DIAGNOSE_AUTOCOVARIANCE_H
#define GBSI_DIAGNOSE_AUTOCOVARIANCE_H

#include <stddef.h>

/* Room for series of one length. */
typedef struct gbsi_autocovariance {
    size_t n;       /* values of a series */
    size_t length;  /* of the transform: a power of two, at least 2 n */
    double *cosine; /* [length / 2] of 2 pi k / length */
    double *sine;
    double *re, *im; /* [length] */
} gbsi_autocovariance;

/* @return 0 where memory is short. Freed by gbsi_autocovariance_end() in any case. */
int gbsi_autocovariance_begin(gbsi_autocovariance *a, size_t n);
void gbsi_autocovariance_end(gbsi_autocovariance *a);

/* Add the autocovariances of one series about its mean, those of lag t divided by n and not by
 * n - t (Geyer 1992): sum[t] += 1/n sum_i (x_i - mean) (x_{i+t} - mean), t = 0 .. n - 1. */
void gbsi_autocovariance_add(gbsi_autocovariance *a, const double *x, double *sum);

#endif
