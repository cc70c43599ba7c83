/* SPDX-License-Identifier: Apache-2.0 */
/* Split R-hat of a frequency (Gelman et al. 2013, Bayesian Data Analysis, section 11.4), computed
 * from whole numbers. */
#ifndef GBSI_LEARN_SPLIT_RHAT_H
#define GBSI_LEARN_SPLIT_RHAT_H

#include <math.h>
#include <stdint.h>

#include "simd/math.h"

/* Largest R-hat at which chains are said to agree. */
#define GBSI_MOST_RHAT 1.05
/* Largest misfit at which chains are said to agree with the rows. The misfit is the length of a
 * gradient, in standard errors of the rows. */
#define GBSI_MOST_MISFIT 0.25
/* Number of rounds of steps. A round ends after a quarter, a half and all of the steps; weights are
 * then held still.
 */
#define GBSI_ROUNDS 3u

/* @return R-hat. @param within, between mean variance in halves of n draws, and variance of the
 * means of the halves. */
static inline double gbsi_rhat(double within, double between, double n)
{
    return within > 0.0    ? gbsi_sqrt((n - 1.0) / n + between / within)
           : between > 0.0 ? (double)INFINITY
                           : 1.0;
}

/* @return split R-hat. @param sum, square sums over the halves of all chains: of the counts in n
 * draws, and of the squares of these counts. @param between NULL, or out: the variance of the mean
 * of a half. */
static inline double gbsi_split_rhat(uint64_t sum, uint64_t square, double n, double n_halves,
                                     double *between)
{
    const double mean = (double)sum / (n * n_halves);
    const double mean_square = (double)square / (n * n * n_halves);
    const double within = (mean - mean_square) * n / (n - 1.0);
    const double away = mean_square - mean * mean;
    const double apart = (away > 0.0 ? away : 0.0) * n_halves / (n_halves - 1.0);
    if (between != NULL) {
        *between = apart;
    }
    return gbsi_rhat(within, apart, n);
}

#endif
