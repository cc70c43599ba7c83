/* SPDX-License-Identifier: Apache-2.0 */
/* Maximum likelihood by short chains (Mitliagkas & Mackey 2017, section 5.3 and figure 3, after
 * Domke 2015): fields and couplings of a grid of spins are fitted to rows of independent fair
 * spins, and after every gradient step their distance from the exact optimum is measured. */
#ifndef LAB_SPIN_MLE_H
#define LAB_SPIN_MLE_H

#include "lab/lab.h"

enum {
    LAB_MLE_RANDOM,
    LAB_MLE_SYSTEMATIC,
    LAB_MLE_OPTIMISED,
    LAB_MLE_SCANS,
    LAB_MLE_MOST_SIDE = 4,
    LAB_MLE_ROWS = 100,    /* of data */
    LAB_MLE_CHAINS = 1024, /* for a gradient */
    LAB_MLE_STEPS = 96,
    LAB_MLE_REPLICATES = 5, /* the paper's */
};
#define LAB_MLE_ACCURACY 0.01 /* accuracy required of the chains' distribution, as in the paper */

extern const char *const lab_mle_scan_name[LAB_MLE_SCANS];

/* Fits by one scan. */
typedef struct lab_mle_fits {
    double updates[LAB_MLE_REPLICATES][LAB_MLE_STEPS + 1];  /* updates of all chains until each step
                                                             */
    double distance[LAB_MLE_REPLICATES][LAB_MLE_STEPS + 1]; /* Euclidean, from the optimum */
    uint32_t uncertified; /* steps without a scan that meets the bound */
} lab_mle_fits;

typedef struct lab_mle {
    uint32_t side;
    uint32_t n_replicates; /* number of data sets, each with its own rows */
    double slope;          /* largest derivative of the mean log-likelihood at any optimum */
    lab_mle_fits by[LAB_MLE_SCANS];
} lab_mle;

/* @param side of the grid, at most LAB_MLE_MOST_SIDE. @param n_replicates at most
 * LAB_MLE_REPLICATES. */
gbs_status lab_mle_measure(laboratory *lab, uint32_t side, uint32_t n_replicates, lab_mle *out,
                           gbs_error *err);

/* The verdict: whether random scans take twice the updates of optimised scans to come within a
 * quarter of the first distance, in every replicate, and optimised scans end as near the optimum.
 */
void lab_mle_judge(laboratory *lab, const lab_mle *m);

#endif
