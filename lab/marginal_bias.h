/* SPDX-License-Identifier: Apache-2.0 */
/* Bias of one marginal after a number of updates, compared with the proven bound (Mitliagkas &
 * Mackey 2017, figure 5). */
#ifndef LAB_MARGINAL_BIAS_H
#define LAB_MARGINAL_BIAS_H

#include "lab/spin_grid_scans.h"

enum {
    LAB_BIAS_RANDOM,
    LAB_BIAS_SYSTEMATIC,
    LAB_BIAS_OPTIMISED,
    LAB_BIAS_SCANS,
    LAB_BIAS_TIMES = 10, /* measurements after 1, 2, ..., 10 updates per variable */
};

typedef struct lab_marginal_bias {
    double steps[LAB_BIAS_TIMES];
    double bound[LAB_BIAS_SCANS][LAB_BIAS_TIMES]; /* bound on |P(X_0 = 1) - 1/2| */
    double bias[LAB_BIAS_SCANS][LAB_BIAS_TIMES];  /* measured P(X_0 = 1) - 1/2 */
    double error[LAB_BIAS_SCANS][LAB_BIAS_TIMES]; /* standard error of the bias */
    /* number of runs from which each mean is computed */
    size_t n_runs;
} lab_marginal_bias;

/* Measures the bias of spins on a torus with couplings 0.25 that start with all spins up. By
 * symmetry the true probability is 1/2.
 * @param side side of the torus. @param n_groups number of groups of 16 runs, at least 2; each
 * group has its own random scan. */
gbs_status lab_marginal_bias_measure(laboratory *lab, uint32_t side, uint32_t n_groups,
                                     lab_marginal_bias *out, gbs_error *err);

/* Judges the bias. The verdict holds if every measured bias is at most its bound plus four standard
 * errors. After the last number of updates, the bound of the optimised scan must also be at most
 * half of each other scan's bound. After one update per variable, the bias of the optimised scan
 * must be less than half of each other scan's bias. */
void lab_marginal_bias_judge(laboratory *lab, const lab_marginal_bias *bias);

#endif
