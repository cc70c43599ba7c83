/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates from chains of a dense Potts model at fixed weights [M62]: whether they agree with
 * each other and with the rows. */
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
    const uint8_t *state; /* [n_draws][n_chains][n_sites] */
    size_t n_draws;       /* even, 4 or more */
    size_t n_chains;
    const double *data;    /* [potts->n] P(x_i), P(x_i, x_j) of the rows */
    const double *x;       /* [potts->n] the weights */
    double shrink, weight; /* l2 / weight of the rows, and that */
} gbsi_potts_draws;

/* @param rhat out: the largest split R-hat of a state or a pair of states. @param misfit out: how
 * far from zero the slope of the mean log-likelihood is, in standard errors of the rows' own
 * frequencies: root mean squares, minus the expected contribution of chance. Both outputs are
 * undefined if the computation was stopped.
 */
gbs_status gbsi_potts_judge_draws(const gbsi_potts_draws *draws, double *rhat, double *misfit,
                                  gbs_error *err);

#endif
