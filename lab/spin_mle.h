/* SPDX-License-Identifier: Apache-2.0 */
/* Maximum likelihood by short chains (Mitliagkas & Mackey 2017, section 5.3 and figure 3, after
 * Domke 2015): fields and couplings of a grid of spins are fitted to rows of independent fair
 * spins. The distance of the parameters from the exact optimum is measured after every gradient
 * step. */
#ifndef LAB_SPIN_MLE_H
#define LAB_SPIN_MLE_H

#include "lab/lab.h"

enum {
    LAB_MLE_RANDOM,
    LAB_MLE_SYSTEMATIC,
    LAB_MLE_OPTIMISED,
    LAB_MLE_SCANS,
    LAB_MLE_MOST_SIDE = 4,
    LAB_MLE_ROWS = 100,    /* number of rows of data */
    LAB_MLE_CHAINS = 1024, /* number of chains for a gradient */
    LAB_MLE_STEPS = 96,
    LAB_MLE_REPLICATES = 5, /* as many replicates as in the paper */
};
/* largest bound on the total variation of the chains, as in the paper */
#define LAB_MLE_ACCURACY 0.01

extern const char *const lab_mle_scan_name[LAB_MLE_SCANS];

/* Results of the fits with one kind of scan. */
typedef struct lab_mle_fits {
    /* number of updates of all chains until each step */
    double updates[LAB_MLE_REPLICATES][LAB_MLE_STEPS + 1];
    /* Euclidean distance from the optimum */
    double distance[LAB_MLE_REPLICATES][LAB_MLE_STEPS + 1];
    uint32_t uncertified; /* number of steps without a scan that meets the bound */
} lab_mle_fits;

typedef struct lab_mle {
    uint32_t side;
    uint32_t n_replicates; /* number of data sets, each with its own rows */
    /* largest derivative of the mean log-likelihood at any of the optima found */
    double slope;
    lab_mle_fits by[LAB_MLE_SCANS];
} lab_mle;

/* Fits the replicates with all scans. @param side side of the grid, at most LAB_MLE_MOST_SIDE.
 * @param n_replicates at most LAB_MLE_REPLICATES. */
gbs_status lab_mle_measure(laboratory *lab, uint32_t side, uint32_t n_replicates, lab_mle *out,
                           gbs_error *err);

/* Judges the fits. In every replicate, random scans must take at least twice the updates of
 * optimised scans until the distance is a quarter of the initial distance. Fits with optimised
 * scans must end as near the optimum as fits with random scans. */
void lab_mle_judge(laboratory *lab, const lab_mle *m);

#endif
