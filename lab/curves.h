/* SPDX-License-Identifier: Apache-2.0 */
/* Decrease of an error with the number of sweeps: a statistic of each chain's joint histogram after
 * 1, 2, 4, ... sweeps, for many chains of a small model. */
#ifndef LAB_CURVES_H
#define LAB_CURVES_H

#include "lab/lab.h"
#include "reference/joint.h"

#define LAB_MAX_CHECKPOINTS 40

typedef struct lab_curves {
    size_t n;                           /* number of checkpoints */
    double sweeps[LAB_MAX_CHECKPOINTS]; /* [n] 1, 2, 4, ..., and the number of the last sweep */
    uint32_t n_runs;
    double *value; /* [n][n_runs] */
} lab_curves;

/* A statistic of one chain's histogram, such as its error. */
typedef double lab_statistic(const gbsi_joint *joint, uint32_t chain, const void *context);
/* L1 distance between the frequencies and the probabilities to which `context` points. */
double lab_statistic_l1(const gbsi_joint *joint, uint32_t chain, const void *context);

/* What is kept of a run at each checkpoint: a statistic, or its largest value since the checkpoint
 * before. */
typedef struct lab_measure {
    lab_statistic *statistic;
    const void *context;
    bool largest;
} lab_measure;

#define LAB_MAX_MEASURES 4

/* Takes n measures of one run. @param measure [n] 1 to LAB_MAX_MEASURES. @param out [n] curves; the
 * caller frees each with lab_curves_free(). The last checkpoint is the end of the run. */
gbs_status lab_curves_run_all(laboratory *lab, const char *what, const gbs_model *model,
                              const gbs_run_options *options, size_t n, const lab_measure *measure,
                              lab_curves *const *out, gbs_error *err);
/* Takes one statistic. */
gbs_status lab_curves_run(laboratory *lab, const char *what, const gbs_model *model,
                          const gbs_run_options *options, lab_statistic *statistic,
                          const void *context, lab_curves *out, gbs_error *err);
void lab_curves_free(lab_curves *curves);

/* Quantile q over the runs at each checkpoint, for q in [0, 1], interpolated linearly between order
 * statistics. Sorts the values. @param out [n]. */
void lab_curves_quantile(lab_curves *curves, double q, double *out);
/* A mean and its standard error. */
typedef struct lab_mean {
    double mean, error;
} lab_mean;
lab_mean lab_mean_of(const double *value, uint32_t n);
/* Quantile q of a sorted array of n numbers. */
double lab_quantile(const double *sorted, size_t n, double q);
void lab_sort(double *value, size_t n);

/* Least-squares slope of log y against log x over the last `last` of n points. */
double lab_log_slope(const double *x, const double *y, size_t n, size_t last);
/* Standard error of the slope of lab_log_slope() over all n points. @param error [n] standard
 * errors of y. */
double lab_log_slope_error(const double *x, const double *y, const double *error, size_t n);

#endif
