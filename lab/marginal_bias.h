/* SPDX-License-Identifier: Apache-2.0 */
/* How far one marginal is from the truth after a number of updates, beside the proven bound
 * (Mitliagkas & Mackey 2017, figure 5). */
#ifndef LAB_MARGINAL_BIAS_H
#define LAB_MARGINAL_BIAS_H

#include "lab/spin_grid_scans.h"

enum {
    LAB_BIAS_RANDOM,
    LAB_BIAS_SYSTEMATIC,
    LAB_BIAS_OPTIMISED,
    LAB_BIAS_SCANS,
    LAB_BIAS_TIMES = 10, /* after 1, 2, ..., 10 updates a variable */
};

typedef struct lab_marginal_bias {
    double steps[LAB_BIAS_TIMES];
    double bound[LAB_BIAS_SCANS][LAB_BIAS_TIMES]; /* bound on |P(X_0 = 1) - 1/2| */
    double bias[LAB_BIAS_SCANS][LAB_BIAS_TIMES];  /* P(X_0 = 1) - 1/2, measured */
    double error[LAB_BIAS_SCANS][LAB_BIAS_TIMES]; /* its standard error */
    size_t n_runs;                                /* number of runs that each mean is taken over */
} lab_marginal_bias;

/* Spins on a torus, couplings 0.25, from all spins up: by symmetry the truth is 1/2.
 * @param side of the torus. @param n_groups at least 2, of 16 runs each; the random scan of each
 * group is another one. */
gbs_status lab_marginal_bias_measure(laboratory *lab, uint32_t side, uint32_t n_groups,
                                     lab_marginal_bias *out, gbs_error *err);

/* The verdict holds if every measured bias is within its bound and four standard errors, and if the
 * optimised scan is guaranteed half of what the others are at the end and is off by less than half
 * of them after one update a variable. @param side as above. */
void lab_marginal_bias_judge(laboratory *lab, const lab_marginal_bias *bias);

#endif
