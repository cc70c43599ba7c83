/* SPDX-License-Identifier: Apache-2.0 */
/* A trial of a scan: sixteen separate chains, the number of operations that they took, and a
 * measure of their mixing [M42]. */
#ifndef GBSI_CHOOSE_TRIAL_H
#define GBSI_CHOOSE_TRIAL_H

#include "chains/run.h"

#define GBSI_TRIAL_CHAINS 16u

typedef struct gbsi_trial gbsi_trial;

/* Makes a trial. @param task the task whose model is sampled; the chains and estimates of the run
 * are not changed. @param plan, schedule plan and schedule of the chromatic scan for sixteen
 * chains; borrowed.
 * @param how options, of which only scan, width and splash_size are read. @param number number of
 * the trial in the run, which selects its random numbers. @param pool borrowed; NULL for one
 * thread; results have the same bits with every pool. @param watch borrowed; if it stops, the
 * search for starts and the passes are cut short. @return GBS_STOPPED if the watch stopped the
 * search for starts. */
gbs_status gbsi_trial_new(const gbsi_task *task, const gbsi_plan *plan,
                          const gbsi_schedule *schedule, const gbs_run_options *how,
                          uint32_t number, gbsi_pool *pool, gbsi_watch *watch, gbsi_trial **out,
                          gbs_error *err);
void gbsi_trial_free(gbsi_trial *trial);
/* The largest number of bytes that gbsi_trial_new() takes for a trial, without its splashes. */
uint64_t gbsi_trial_bytes(const gbsi_plan *plan, uint32_t n_threads);

/* Runs a pass. After 2^k passes, the counts of the first quarter of the passes are dropped. */
gbs_status gbsi_trial_pass(gbsi_trial *trial, gbs_error *err);
uint64_t gbsi_trial_n_passes(const gbsi_trial *trial);
/* Returns the number of operations of all passes so far, scaled to the number of chains of the run.
 */
double gbsi_trial_operations(const gbsi_trial *trial);
/* Returns the number of passes of a chain that are worth one independent draw, for the variables
 * that mix worst. The result is from 1 to n_kept. A result of n_kept is only a lower bound. @param
 * n_kept out: number of kept passes. */
double gbsi_trial_passes_each(const gbsi_trial *trial, uint64_t *n_kept);
/* Returns the largest number of variables of a splash; 0 if the scan has no splashes. */
uint32_t gbsi_trial_block_size(const gbsi_trial *trial);
/* Whether the splashes so far show that the trial reaches all states that hard zeros allow. */
bool gbsi_trial_reaches(const gbsi_trial *trial);

/* --scan auto: a pilot decides between the chromatic scan and splashes [M42]. */

/* If engine.undecided is set, runs the pilot, changes the scan if splashes are better, and takes
 * the memory. Writes the choice of the pilot, and the measurements on which the choice rests, to
 * the report. A pilot that the clock or a signal cuts short chooses the chromatic scan. @param
 * drive setting drive->stop ends the pilot. */
gbs_status gbsi_run_choose_scan(gbs_run *run, gbsi_drive *drive, double least_passes,
                                uint64_t *bytes, gbs_error *err);

#endif
