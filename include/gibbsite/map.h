/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Search for the most probable state by annealed Gibbs sampling and, for components that are small
 * enough, exact inference. The state is a state of all variables or, in marginal MAP, a state of
 * some variables with all others summed out.
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes this object; any number of threads can share a built model.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults; NULL evidence means no evidence.
 */
#ifndef GIBBSITE_MAP_H
#define GIBBSITE_MAP_H

#include "gibbsite/checkpoint.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The result of gbs_map(). */
typedef struct gbs_map_report {
    size_t size;               /**< in: sizeof(gbs_map_report), set by the caller */
    double log_density;        /**< ln of the unnormalised probability of the state found */
    double final_log_density;  /**< log density of the best final state of a chain; NAN if no chains
                                  were run */
    uint32_t n_free_variables; /**< number of variables that are neither observed nor implied by
                                  evidence */
    /** number of free variables whose states exact inference proved optimal; if it equals
     * n_free_variables, the state found is optimal */
    uint32_t n_exact_variables;
    uint32_t chains;
    uint64_t rounds;  /**< number of annealing schedules that were run */
    uint64_t sweeps;  /**< number of sweeps of a chain in all rounds */
    uint64_t updates; /**< variable updates over all chains */
    double seconds;
    char stop[32]; /**< why the search ended: "exact", "bound" (the upper bound proves that the
                        state is optimal), "sweeps", "settled" (a round twice as long found no
                        better state), "time", "updates", "signal" */
    gbs_exact_cost exact; /**< predicted cost of exact answers for all components */
    double tau0;          /**< first temperature of annealings; 0 if no chains were run */
    char warning[256];    /**< warnings for the user: why no checkpoint was written, or that fewer
                             chains were run; "" if there is no warning */
    double upper_bound;   /**< no state has a larger log density; equal to log_density for exact
                               answers, +inf if the search was stopped before a bound was known */
    double gap; /**< upper_bound - log_density, in nats; 0 if the state is proved optimal, which is
                     the case if this difference is at most 1e-9 (1 + |upper_bound|) */
} gbs_map_report;

/** Optional callbacks; any function may be NULL. */
typedef struct gbs_map_callbacks {
    size_t size; /**< sizeof(gbs_map_callbacks); 0: the fields of its first version */
    void *context;
    /** Called from time to time. @return nonzero to stop; gbs_map() then returns GBS_STOPPED. */
    int (*progress)(void *context, const gbs_progress *progress);
    /** Called with each state that is better than all states before it. @param state [n_variables].
     *  @return a negative status to make gbs_map() fail with it. */
    gbs_status (*improve)(void *context, double log_density, const uint32_t *state, gbs_error *err);
} gbs_map_callbacks;

/**
 * Search for the most probable state.
 *
 * In an annealing schedule of n sweeps, the temperature falls from options.tau0 to options.tau0 / n
 * as options.schedule says. If options.tau0 is 0, the first temperature is computed from the
 * couplings. The search keeps the best of the states at the ends of all sweeps of all chains. After
 * each schedule, blocks of variables are set to their most probable joint states; a state that is
 * better than the best so far is kept [M27]. With options.sweeps there is one schedule with that
 * number of sweeps. Without this option there are schedules of 64, 128, 256, ... sweeps, each
 * starting where the schedule before it ended. The search ends when a schedule finds no better
 * state or options.time_s is over, or when the upper bound proves the best state optimal. Loopy
 * belief propagation finds a further candidate by decimation [M81]; this begins once the sweeps
 * have taken as long as the decimation takes. The upper bound comes from dual block-coordinate
 * ascent, which gets a quarter of the counted time of the sweeps [M83]. Draws other than random run
 * at temperature 1 throughout. Options of estimators, burn-in and targets have no effect.
 *
 * @param options   NULL for the defaults. options.method AUTO solves components that are small
 *                  enough exactly. EXACT solves all components exactly or fails. SAMPLE solves no
 *                  component exactly.
 * @param callbacks NULL for none.
 * @param state     [n_variables] out, observed variables included.
 * @param report    out or NULL.
 * @return GBS_OK; GBS_STOPPED if the search was ended early, with the best state so far;
 *         GBS_ERR_IMPOSSIBLE if the evidence has probability 0; GBS_ERR_NOT_FOUND if no initial
 *         state of positive probability was found; GBS_ERR_STOPPED, GBS_ERR_LIMIT, GBS_ERR_MEMORY,
 *         GBS_ERR_ARGUMENT. Outputs are untouched on failure.
 */
GBS_API GBS_MUST_USE gbs_status gbs_map(const gbs_model *model, const gbs_evidence *evidence,
                                        const gbs_run_options *options,
                                        const gbs_map_callbacks *callbacks, uint32_t *state,
                                        gbs_map_report *report, gbs_error *err);

/**
 * gbs_map() with checkpoints. Checkpoints can be written after any sweep and any step of block
 * draws; a search that resumes from a checkpoint gives the same result. It must have the same
 * options.sweeps, because the temperatures depend on that number. Without options.sweeps, the end
 * of the resumed search depends on whether the resuming call has options.time_s.
 *
 * @param files NULL for none.
 * @return the values of gbs_map() and gbs_run_resume(); GBS_ERR_IO if the first checkpoint cannot
 * be written.
 */
GBS_API GBS_MUST_USE gbs_status gbs_map_with_checkpoints(
    const gbs_model *model, const gbs_evidence *evidence, const gbs_run_options *options,
    const gbs_checkpoint_files *files, const gbs_map_callbacks *callbacks, uint32_t *state,
    gbs_map_report *report, gbs_error *err);

/** The result of gbs_mmap(). */
typedef struct gbs_mmap_report {
    size_t size;  /**< in: sizeof(gbs_mmap_report), set by the caller */
    double log_p; /**< ln of the unnormalised probability of the state found, summed over the other
                     variables; NAN if the sum is too large to compute */
    double log_bound; /**< upper bound on log_p over all states of the query; equal to log_p if the
                         state found is proved optimal */
    uint64_t n_sums;  /**< number of states of the query whose log_p was computed */
    double seconds;
    char stop[32]; /**< why the search ended: "exact", "bound" (log_p reaches log_bound), "settled"
                      (no change finds a better state), "budget", "time", "signal", "limit" (log_p
                      is NAN) */
} gbs_mmap_report;

/**
 * Find the most probable state of some variables, with all others summed out (marginal MAP).
 * gbs_mmap() uses the method of gbs_exact_mmap() if this method fits the memory limit and takes at
 * most half of options.time_s or of options.budget_s, both by prediction and on the clock.
 * Otherwise it searches from the best state of gbs_map(), with an exact sum over the other
 * variables for each state. The search changes one query variable after the other, and several at
 * once if no single change finds a better state. The upper bound comes from eliminating variables
 * by sums and maxima in the order that takes the least memory. The search ends after options.time_s
 * on the clock. It also ends when the time predicted from counted table entries reaches half of
 * options.time_s or of options.budget_s, or when eight consecutive changes of several variables
 * have found no better state.
 *
 * @param options NULL for the defaults; method must be AUTO. The options of sampling apply to the
 *         call of gbs_map() with which the search begins. @param callbacks NULL for none; only
 *         progress is called.
 * @param query     [n] distinct variable ids; observed variables keep their state.
 * @param state     [n], out, in the order of the query.
 * @param report    out or NULL.
 * @return GBS_OK; GBS_STOPPED if time or a signal ended the search, with the best state so far;
 *         errors of gbs_map() and gbs_exact_mmap(). Outputs are untouched on failure.
 */
GBS_API GBS_MUST_USE gbs_status gbs_mmap(const gbs_model *model, const gbs_evidence *evidence,
                                         const gbs_run_options *options,
                                         const gbs_map_callbacks *callbacks, uint32_t n,
                                         const uint32_t *query, uint32_t *state,
                                         gbs_mmap_report *report, gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
