/* SPDX-License-Identifier: Apache-2.0 */
/* The estimate of one probability by the clock (Mitliagkas & Mackey 2017, figure 2, left): runs of
 * two scans with ever more draws. */
#ifndef LAB_TIMED_ESTIMATES_H
#define LAB_TIMED_ESTIMATES_H

#include "lab/lab.h"

#define LAB_MOST_TIMED_RUNS 8
#define LAB_COMPARED_DRAWS  2048.0 /* draws of the systematic scan at the time of the verdict */

/* Runs of one scan, by their number of draws. */
typedef struct lab_timed_runs {
    size_t n;
    size_t n_estimates; /* number of the first runs that have an estimate */
    double draws[LAB_MOST_TIMED_RUNS];
    double seconds[LAB_MOST_TIMED_RUNS]; /* of processor time, all preparation included */
    double p[LAB_MOST_TIMED_RUNS];
    double mcse[LAB_MOST_TIMED_RUNS]; /* NaN: too few draws to tell */
} lab_timed_runs;

/* Seconds for a number of draws, on the line through the first and the last run. */
double lab_seconds_for(const lab_timed_runs *t, double draws);

/* Two standard errors of an estimate, by that of the longest run that has one and the number of
 * draws. */
double lab_estimate_band(const lab_timed_runs *t, size_t run);

/* The verdict holds if the longest run of each scan agrees with the truth, that of the optimised
 * scan within its bound. Unless the laboratory is quick, the optimised scan must also be twice as
 * near when the systematic scan has LAB_COMPARED_DRAWS.
 * @param truth lower and upper bound. @param bound on the bias of the optimised scan. */
void lab_estimates_judge(laboratory *lab, const lab_timed_runs *systematic,
                         const lab_timed_runs *optimised, const double truth[2], double bound);

#endif
