/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The most probable state found: annealed Gibbs sampling, and enumeration of the components that
 * are small enough.
 *
 * Threads: different objects may be used from different threads at the same time; one object from
 * several threads only where nothing changes it (a built model may be shared by all).
 * Out of range: an id or number that does not exist, and NULL for an object or output, is
 * GBS_ERR_ARGUMENT
 * from calls that return a status; from others 0, NULL or NAN, as stated. NULL options and NULL
 * evidence stand for the defaults and for none.
 */
#ifndef GIBBSITE_MAP_H
#define GIBBSITE_MAP_H

#include "gibbsite/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a search was. */
typedef struct gbs_map_report {
    size_t size;               /**< in: sizeof(gbs_map_report) */
    double log_density;        /**< of the state found, ln, unnormalised */
    double final_log_density;  /**< of the best that a chain ended in; NAN without chains */
    uint32_t n_free_variables; /**< not observed and not implied */
    uint32_t
        n_exact_variables; /**< of these, proved by exact inference; all: the state is optimal */
    uint32_t chains;
    uint64_t rounds; /**< schedules from tau0 down */
    uint64_t sweeps; /**< over all rounds, per chain */
    uint64_t updates;
    double seconds;
    char stop[32]; /**< "exact", "sweeps", "settled" (a round four times as long found nothing
                        better), "time", "updates", "signal" */
} gbs_map_report;

typedef struct gbs_map_callbacks {
    size_t size; /**< sizeof(gbs_map_callbacks), or 0: only the fields of version 0.2 are read */
    void *context;
    /** Every so often by the clock. @return nonzero to stop (the call returns GBS_STOPPED). */
    int (*progress)(void *context, const gbs_progress *progress);
    /** A better state than all before, [n_variables], the user's. @return a negative status to
     * fail.
     */
    gbs_status (*improve)(void *context, double log_density, const uint32_t *state, gbs_error *err);
} gbs_map_callbacks;

/**
 * Search for the most probable state.
 *
 * Chains run at temperatures tau_t, t = 1 .. n, from options.tau0 down to tau0 / n by
 * options.schedule, and the best state at the end of any sweep of any chain is kept; [M27]. With
 * options.sweeps it is one schedule of so many; without, schedules of 64, 256, 1024, ... sweeps,
 * each from where the last ended, until one finds nothing better, or until options.time_s is over.
 * Draws other than random are not annealed: they run at temperature 1. Options of estimators,
 * burn-in and targets have no meaning here.
 *
 * @param options   NULL for the defaults; options.method AUTO solves what is small enough for
 *                  exact inference, EXACT all or fails, SAMPLE none.
 * @param callbacks NULL, or members NULL where not wanted.
 * @param state     [n_variables] out, the user's numbering, observed ones included.
 * @param report    out or NULL.
 * @return GBS_OK; GBS_STOPPED if ended early, with the best state so far; GBS_ERR_IMPOSSIBLE if the
 *         evidence has probability 0 or no start was found; GBS_ERR_LIMIT, GBS_ERR_MEMORY,
 *         GBS_ERR_ARGUMENT. Outputs are untouched on failure.
 */
GBS_API gbs_status gbs_map(const gbs_model *model, const gbs_evidence *evidence,
                           const gbs_run_options *options, const gbs_map_callbacks *callbacks,
                           uint32_t *state, gbs_map_report *report, gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
