/* SPDX-License-Identifier: Apache-2.0 */
/* Judges from draws at fixed weights whether the chains of a dense Potts model agree with each
 * other and with the rows [M62]. */
#ifndef GBSI_POTTS_POTTS_DRAWS_H
#define GBSI_POTTS_POTTS_DRAWS_H

#include "potts/potts.h"

#define GBSI_POTTS_FEWEST_DRAWS 8u

/* @return the largest number of draws of each chain that are kept while the weights are held
 * still. */
static inline size_t gbsi_potts_most_draws(uint64_t n_steps)
{
    const uint64_t n = n_steps / 4 * 2;
    return n < GBSI_POTTS_FEWEST_DRAWS ? GBSI_POTTS_FEWEST_DRAWS : n > 256 ? 256 : (size_t)n;
}

typedef struct gbsi_potts_draws {
    gbsi_potts *potts;
    const uint8_t *state; /* [n_draws][n_chains][n_sites] states of the chains in each draw */
    size_t n_draws;       /* number of draws: even, 4 or more */
    size_t n_chains;
    const double *data;    /* [potts->n] frequencies P(x_i) and P(x_i, x_j) in the rows */
    const double *x;       /* [potts->n] the weights */
    double shrink, weight; /* l2 / weight; sum of the weights of the rows */
} gbsi_potts_draws;

/* @param rhat out: the largest split R-hat of a state or a pair of states. @param misfit out: root
 * mean square of the gradient of the mean log-likelihood, in standard errors of the frequencies in
 * the rows. The expected contribution of chance is subtracted from the mean square. Both outputs
 * are undefined if the computation was stopped. */
gbs_status gbsi_potts_judge_draws(const gbsi_potts_draws *draws, double *rhat, double *misfit,
                                  gbs_error *err);

#endif
