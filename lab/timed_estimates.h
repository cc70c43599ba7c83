/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates of one probability, by processor time (Mitliagkas & Mackey 2017, figure 2, left). Two
 * scans make runs with increasing numbers of draws. */
#ifndef LAB_TIMED_ESTIMATES_H
#define LAB_TIMED_ESTIMATES_H

#include "lab/lab.h"

#define LAB_MOST_TIMED_RUNS 8
/* number of draws that the systematic scan has made at the time when the verdict compares the
 * scans */
#define LAB_COMPARED_DRAWS 2048.0

/* Runs of one scan, by number of draws. */
typedef struct lab_timed_runs {
    size_t n;
    size_t n_estimates; /* number of runs, counted from the first, that have an estimate */
    double draws[LAB_MOST_TIMED_RUNS];
    double seconds[LAB_MOST_TIMED_RUNS]; /* processor time, including all preparation */
    double p[LAB_MOST_TIMED_RUNS];
    /* standard error of p; NaN if there are too few draws for an error */
    double mcse[LAB_MOST_TIMED_RUNS];
} lab_timed_runs;

/* Seconds for a number of draws, on the line through the first and the last run. */
double lab_seconds_for(const lab_timed_runs *t, double draws);

/* Two standard errors of the estimate of a run. The value is scaled by the number of draws from the
 * standard error of the longest run that has one. */
double lab_estimate_band(const lab_timed_runs *t, size_t run);

/* Judges the estimates. The verdict holds if the longest run of each scan agrees with the truth;
 * the optimised scan may deviate by its bound. Unless the laboratory is quick, the optimised scan
 * must also be twice as near to the truth at the time when the systematic scan has made
 * LAB_COMPARED_DRAWS draws.
 * @param truth lower and upper bound. @param bound bound on the bias of the optimised scan. */
void lab_estimates_judge(laboratory *lab, const lab_timed_runs *systematic,
                         const lab_timed_runs *optimised, const double truth[2], double bound);

#endif
