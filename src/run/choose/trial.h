/* SPDX-License-Identifier: Apache-2.0 */
/* A trial of a scan: sixteen separate chains, the work they took and how well they mixed [M42]. */
#ifndef GBSI_CHOOSE_TRIAL_H
#define GBSI_CHOOSE_TRIAL_H

#include "chains/run.h"

#define GBSI_TRIAL_CHAINS 16u

typedef struct gbsi_trial gbsi_trial;

/* @param run    whose model is sampled; its chains and estimates are left alone.
 * @param plan, schedule  of the chromatic scan, for sixteen chains; borrowed.
 * @param how    scan, width and splash_size are looked at.
 * @param number number of the trial in the run, which selects its random numbers.
 * @param pool   borrowed, NULL: one thread; bits do not depend on it.
 * @param watch  borrowed; where it stops, starts and passes are cut short: GBS_STOPPED. */
gbs_status gbsi_trial_new(const gbsi_task *task, const gbsi_plan *plan,
                          const gbsi_schedule *schedule, const gbs_run_options *how,
                          uint32_t number, gbsi_pool *pool, gbsi_watch *watch, gbsi_trial **out,
                          gbs_error *err);
void gbsi_trial_free(gbsi_trial *trial);
/* The bytes that gbsi_trial_new() takes at most, without splashes. */
uint64_t gbsi_trial_bytes(const gbsi_plan *plan, uint32_t n_threads);

/* Runs a pass. After 2^k passes the counts of the first quarter are dropped. */
gbs_status gbsi_trial_pass(gbsi_trial *trial, gbs_error *err);
uint64_t gbsi_trial_n_passes(const gbsi_trial *trial);
/* The operations of all passes so far, as they would be with the chains of the run. */
double gbsi_trial_operations(const gbsi_trial *trial);
/* Passes of a chain that are worth one independent draw, of the variables that are worst: at least
 * one, and at most those kept, when they may be many more.
 * @param n_kept out. */
double gbsi_trial_passes_each(const gbsi_trial *trial, uint64_t *n_kept);
/* Whether splashes were seen to reach all that hard zeros allow. */
bool gbsi_trial_reaches(const gbsi_trial *trial);

/* --scan auto: a pilot decides between the chromatic scan and splashes [M42]. */

/* If run->sampling.engine.undecided: makes the pilot, changes the scan if splashes are better, and
 * takes the memory. The choice and the measurements behind it are written to the report. A pilot
 * that is cut short by the clock or a signal chooses the chromatic scan. @param drive drive->stop
 * ends the pilot. */
gbs_status gbsi_run_choose_scan(gbs_run *run, gbsi_drive *drive, double least_passes,
                                uint64_t *bytes, gbs_error *err);

#endif
