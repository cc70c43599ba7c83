/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Estimates of the partition function, by junction trees where they fit, ladders of temperatures or
 * annealed importance sampling.
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes it; a built model can be shared by any number of threads.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults, NULL evidence means no evidence.
 */
#ifndef GIBBSITE_LOG_Z_H
#define GIBBSITE_LOG_Z_H

#include "gibbsite/checkpoint.h"
#include "gibbsite/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An estimate of ln Z and how far it can be trusted. Logarithms are natural. */
typedef struct gbs_log_z_report {
    size_t size;  /**< in: sizeof(gbs_log_z_report), set by the caller */
    double log_z; /**< the estimate, components solved exactly included; NAN if no chain met
                     a state of positive weight, since there may be one, or if stopped before
                     burn-in or the pilot was finished */
    double error; /**< standard error of log_z; 0 if log_z is exact, NAN if the error is unknown */
    double low, high;   /**< 95 % interval, by Student's t on the logarithm; NAN if error is NAN */
    double lower_bound; /**< annealing: below ln Z with probability 0.975 or more however badly the
                           chains mix, by Markov's inequality; equal to log_z if all is exact;
                           ladders: NAN */
    double ess; /**< annealing: effective sample size of the weights, 1 to chains; else NAN */
    uint32_t n_free_variables;  /**< neither observed nor implied by evidence */
    uint32_t n_exact_variables; /**< free variables that were summed exactly */
    uint32_t chains;
    uint64_t temperatures; /**< temperatures of a ladder, or of the annealing that gave log_z */
    uint64_t rounds;       /**< number of annealings, the pilot included; ladders: 0 */
    uint64_t updates;      /**< variable updates over all chains, temperatures and annealings */
    double seconds;
    int converged;     /**< see gbs_log_z() */
    char verdict[160]; /**< one sentence: whether log_z can be trusted, and why */
    char stop[32]; /**< reason of the end: "exact", "target", "sweeps", "time", "updates", "signal"
                    */
    gbs_exact_cost exact; /**< cost of exact answers for all components */
    int tempered;         /**< 1: log_z comes from ladders of temperatures, of which there are
                               `chains`; the fields below are not set otherwise */
    uint64_t sweeps;      /**< kept iterations of all levels */
    uint64_t burn_in;     /**< iterations of burn-in before them */
    uint64_t round_trips; /**< fewest round trips that a ladder's states made from the coldest level
                               to the hottest and back */
    double barrier;       /**< sum of the rejection rates of swaps between neighbours */
    double valid_share;   /**< share of cold states that violate no hard zero */
    char warning[256];    /**< warnings for the user: why no checkpoint was written, or that fewer
                               chains were run; "" for nothing */
} gbs_log_z_report;

/**
 * Estimate ln Z given evidence: the natural logarithm of the sum of exp(sum of factors) over all
 * states that agree with the evidence, as gbs_exact_log_z() computes it.
 *
 * options.temper AUTO and N: chains are run at a ladder of inverse temperatures b from 0, where Z
 * is the number of states, to 1, with swaps of neighbours [M50], and ln Z is the sum of the log
 * ratios of the Z of neighbours [M47]. Hard zeros are soft at all b; the share of states at b = 1
 * that violate none corrects for that. It goes on until the standard error is at most
 * options.target_error (0.05 if that is 0), or for options.sweeps iterations. `converged` is 1 only
 * if all is exact, or if the error meets the target, there are at least two ladders, each with at
 * least 20 round trips, and at least half of the states at b = 1 violate no zero. low and high have
 * at most as many degrees of freedom as there were round trips.
 *
 * options.temper OFF, and AUTO with a scan other than chromatic or with more than 4096 variables
 * left: in one annealing, chains move from the uniform distribution to the model through n inverse
 * temperatures, with one sweep at each; the weight of each chain is an unbiased estimate of Z
 * [M40]. A pilot annealing with n = 64 places the temperatures. Annealings with n = 256, 1024,
 * 4096, ... follow until the standard error is at most the target. With options.sweeps there are
 * two, with n = sweeps / 4 and n = sweeps. The estimate is that of the last finished annealing.
 * Hard zeros count as very unlikely states during the annealing and as zeros at its end. The
 * weights are unbiased however badly the chains mix, but if no chain reached an important state the
 * standard error is too small. Therefore `converged` is 1 only if the error meets the target, there
 * are at least four chains, the effective sample size is at least half their number, and the
 * previous annealing met the same conditions on chains and effective sample size and agrees within
 * three standard errors.
 *
 * @param options   NULL for the defaults. options.method AUTO sums components exactly as long as
 * that is predicted to take at most half of the time, EXACT sums all components exactly or fails,
 * SAMPLE none.
 * The scan must be one of Gibbs sampling and the draw must be random. Options of estimators have no
 * effect, nor has burn_in on annealing.
 * @param callbacks NULL, or callbacks for progress; the callback for draws is not called.
 * @return GBS_OK; GBS_STOPPED if ended early, with the estimate so far;
 *         GBS_ERR_IMPOSSIBLE if the evidence has probability 0; GBS_ERR_STOPPED, GBS_ERR_LIMIT,
 *         GBS_ERR_MEMORY, GBS_ERR_ARGUMENT. The report is untouched on failure.
 */
GBS_API GBS_MUST_USE gbs_status gbs_log_z(const gbs_model *model, const gbs_evidence *evidence,
                                          const gbs_run_options *options,
                                          const gbs_run_callbacks *callbacks,
                                          gbs_log_z_report *report, gbs_error *err);

/**
 * gbs_log_z() with checkpoints, on several ranks, or both.
 *
 * Checkpoints can be written after any iteration of ladders and after any temperature of an
 * annealing. An estimate that resumes from a checkpoint gives the same result. options.sweeps of an
 * annealing must be the same, because temperatures follow from it; ladders may go on for more.
 *
 * All ranks call it together, and every rank gets the report that one process would get, with the
 * same bits except for `seconds` and `warning`. Each rank has the whole model, and moves some of
 * the chains of an annealing, or some lanes of the ladders, whose states all ranks have. Every rank
 * computes the exact components itself. Checkpoints are those of one process, written by rank 0 and
 * read by all ranks.
 *
 * @param ranks borrowed; NULL: this process is alone. @param files NULL for none.
 * @param callbacks of this rank: what stops one rank stops all.
 * @return as gbs_log_z() and gbs_run_resume(); GBS_ERR_IO if the first checkpoint cannot be
 * written. All ranks return the same value: the failure of the first rank that failed, which the
 * message names; GBS_ERR_STATE where model, evidence, options or version differ between ranks.
 */
GBS_API GBS_MUST_USE gbs_status gbs_log_z_with(const gbs_ranks *ranks, const gbs_model *model,
                                               const gbs_evidence *evidence,
                                               const gbs_run_options *options,
                                               const gbs_checkpoint_files *files,
                                               const gbs_run_callbacks *callbacks,
                                               gbs_log_z_report *report, gbs_error *err);

/**
 * Bound ln Z given evidence from below by mean field [M26]: a few iterations are quick on any
 * model, and every iteration raises the bound.
 *
 * @param options   NULL for the defaults. Only iterations, mean_field_schedule, damping, time_s and
 *                  memory_limit are used.
 * @param callbacks NULL, or callbacks for progress.
 * @param bound     out: at most ln Z; minus infinity where no product distribution avoids the hard
 *                  zeros that were found.
 * @return GBS_OK, however it ended; GBS_ERR_IMPOSSIBLE, GBS_ERR_LIMIT, GBS_ERR_MEMORY,
 *         GBS_ERR_ARGUMENT. *bound is untouched on failure.
 */
GBS_API GBS_MUST_USE gbs_status gbs_log_z_bound(const gbs_model *model,
                                                const gbs_evidence *evidence,
                                                const gbs_run_options *options,
                                                const gbs_run_callbacks *callbacks, double *bound,
                                                gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
