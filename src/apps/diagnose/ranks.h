/* SPDX-License-Identifier: Apache-2.0 */
/* Order statistics of draws. */
#ifndef GBSI_DIAGNOSE_RANKS_H
#define GBSI_DIAGNOSE_RANKS_H

#include <stddef.h>
#include <stdint.h>

typedef struct gbsi_ranked {
    double value;
    size_t place;
} gbsi_ranked;

/* Sorts by value, equal values by place. */
void gbsi_rank(gbsi_ranked *order, size_t n);

/* Quantile p of ranked values, interpolated: type 7 of Hyndman & Fan (1996). */
double gbsi_ranked_quantile(const gbsi_ranked *order, size_t n, double p);

/* Normal scores, Vehtari et al. (2021), eq. 14: z_i = Phi^-1((r_i - 3/8) / (n + 1/4)) for the rank
 * r of x_i from 1; equal values share the mean of their ranks. @param z out, by place. */
void gbsi_normal_scores(const gbsi_ranked *order, size_t n, double *z);

#endif
