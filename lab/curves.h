/* SPDX-License-Identifier: Apache-2.0 */
/* How an error falls with the number of sweeps: many chains of a small model, a statistic of each
 * chain's joint histogram after 1, 2, 4, ... sweeps. */
#ifndef GBSI_LAB_CURVES_H
#define GBSI_LAB_CURVES_H

#include "gibbsite/joint.h"
#include "lab/lab.h"

#define GBSI_MAX_CHECKPOINTS 40

typedef struct gbsi_curves {
    size_t n;                            /* checkpoints */
    double sweeps[GBSI_MAX_CHECKPOINTS]; /* [n] 1, 2, 4, ... */
    uint32_t n_runs;
    double *value; /* [n][n_runs] */
} gbsi_curves;

/* An error of the histogram of one chain. */
typedef double gbsi_statistic(const gbs_joint *joint, uint32_t chain, const void *context);
/* L1 distance from the probabilities that context points to. */
double gbsi_statistic_l1(const gbs_joint *joint, uint32_t chain, const void *context);

/* @param out free its value with gbsi_curves_free(). options->sweeps is a power of 2. */
gbs_status gbsi_lab_curves(gbsi_lab *lab, const char *what, const gbs_model *model,
                           const gbs_run_options *options, gbsi_statistic *statistic,
                           const void *context, gbsi_curves *out, gbs_error *err);
void gbsi_curves_free(gbsi_curves *curves);

/* A quantile over the runs at each checkpoint, q in [0, 1], linear between order statistics; sorts
 * the values. @param out [n]. */
void gbsi_curves_quantile(gbsi_curves *curves, double q, double *out);
/* The mean over the runs. @param out [n]. */
void gbsi_curves_mean(const gbsi_curves *curves, double *out);
/* One of a sorted array. */
double gbsi_quantile(const double *sorted, size_t n, double q);
void gbsi_sort(double *value, size_t n);

/* Least-squares slope of log y against log x over the last `last` of n points. */
double gbsi_log_slope(const double *x, const double *y, size_t n, size_t last);

#endif
