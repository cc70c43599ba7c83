/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Estimates of the partition function by junction trees (if they fit memory), ladders of
 * temperatures or annealed importance sampling.
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes this object; any number of threads can share a built model.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults; NULL evidence means no evidence.
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
    double log_z; /**< the estimate, components solved exactly included; NAN if no chain met a state
                     of positive weight, although one may exist, or if the work was stopped during
                     burn-in or the pilot */
    double error; /**< standard error of log_z; 0 if log_z is exact, NAN if the error is unknown */
    double low, high;   /**< 95 % interval, by Student's t on the logarithm; NAN if error is NAN */
    double lower_bound; /**< annealing: a number that is below ln Z with probability 0.975 or more,
                             by Markov's inequality, however badly the chains mix; equal to log_z if
                             all components are exact; ladders: NAN */
    double ess; /**< annealing: effective sample size of the weights, 1 to chains; else NAN */
    uint32_t n_free_variables;  /**< number of variables that are neither observed nor implied by
                                   evidence */
    uint32_t n_exact_variables; /**< number of free variables that were summed out exactly */
    uint32_t chains;
    uint64_t temperatures; /**< number of temperatures of a ladder, or of the annealing that gave
                              log_z */
    uint64_t rounds;       /**< number of annealings, the pilot included; ladders: 0 */
    uint64_t updates;      /**< variable updates over all chains, temperatures and annealings */
    double seconds;
    int converged; /**< 1: log_z has converged, by the conditions under gbs_log_z(); 0: it has not
                    */
    char verdict[160]; /**< one sentence: whether log_z can be trusted, and why */
    char stop[32]; /**< why the work ended: "exact", "target", "sweeps", "time", "updates", "signal"
                    */
    gbs_exact_cost exact; /**< predicted cost of exact answers for all components */
    int tempered;     /**< 1: log_z comes from options.chains ladders of temperatures; 0: the fields
                         from sweeps to valid_share are not set */
    uint64_t sweeps;  /**< number of kept iterations; an iteration updates the chains at all
                         temperatures */
    uint64_t burn_in; /**< number of iterations of burn-in */
    uint64_t round_trips; /**< number of round trips of states from the coldest temperature to the
                             hottest and back, in the ladder where this number is smallest */
    double barrier;     /**< sum, over all pairs of neighbouring temperatures, of the rate at which
                           swaps are rejected */
    double valid_share; /**< share of the states at the coldest temperature that violate no hard
                           zero */
    char warning[256];  /**< warnings for the user: why no checkpoint was written, or that fewer
                           chains were run; "" if there is no warning */
} gbs_log_z_report;

/**
 * Estimate ln Z given evidence: the natural logarithm of the sum of exp(sum of factors) over all
 * states that agree with the evidence, as gbs_exact_log_z() computes it.
 *
 * options.temper AUTO and N: chains are run at a ladder of inverse temperatures b from 0 (where Z
 * is the number of states) to 1, and neighbouring levels swap states [M50]. ln Z is the sum of the
 * log ratios of Z between neighbouring levels [M47]. The chains may enter states that violate hard
 * zeros, also at b = 1. The estimate is corrected by the share of the states at b = 1 that violate
 * no hard zero. Iterations go on until the standard error is at most options.target_error (0.05 if
 * target_error is 0), or for options.sweeps iterations. `converged` is 1 if all components are
 * exact. Otherwise `converged` is 1 only if the error meets the target, there are at least two
 * ladders, each ladder has at least 20 round trips, and at least half of the states at b = 1
 * violate no hard zero. The t distribution of low and high has at most as many degrees of freedom
 * as there were round trips.
 *
 * options.temper OFF, and AUTO with a scan other than chromatic or with more than 4096 variables
 * left: in one annealing, chains move from the uniform distribution to the model through n inverse
 * temperatures, with one sweep at each; the weight of each chain is an unbiased estimate of Z
 * [M40]. A pilot annealing with n = 64 places the temperatures. Annealings with n = 256, 1024,
 * 4096, ... follow until the standard error is at most the target. With options.sweeps there are
 * two such annealings, with n = sweeps / 4 and n = sweeps. The last finished annealing gives the
 * estimate. Hard zeros count as very unlikely states during the annealing and as zeros at its end.
 * The weights are unbiased however badly the chains mix, but if no chain reached an important state
 * the standard error is too small. Therefore `converged` is 1 only if the error meets the target,
 * there are at least four chains, and the effective sample size is at least half the number of
 * chains. In addition, the previous annealing must have met these conditions on chains and
 * effective sample size, and its estimate must agree within three standard errors.
 *
 * @param options   NULL for the defaults. options.method AUTO sums components exactly if the sums
 * are predicted to take at most half of the time. EXACT sums all components exactly or fails.
 * SAMPLE sums no component exactly. The scan must be one of Gibbs sampling and the draw must be
 * random. Options of estimators have no effect, and burn_in has no effect on annealing.
 * @param callbacks NULL, or callbacks for progress; the callback for draws is not called.
 * @return GBS_OK; GBS_STOPPED if the work was ended early, with the estimate so far;
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
 * annealing. An estimate that resumes from a checkpoint gives the same result. An annealing must
 * resume with the same options.sweeps, because the temperatures depend on it; ladders may resume
 * with more sweeps.
 *
 * All ranks call gbs_log_z_with() together. Every rank gets the report that one process would get,
 * with the same bits except in `seconds` and `warning`. Each rank has the whole model. A rank
 * updates some of the chains of an annealing, or some lanes of the ladders; all ranks have the
 * states of all lanes. Every rank computes the components that are summed exactly itself.
 * Checkpoint files are the same as for one process; rank 0 writes them and all ranks read them.
 *
 * @param ranks borrowed; NULL: this process is alone. @param files NULL for none.
 * @param callbacks callbacks of this rank; a callback that stops one rank stops all ranks. @return
 * the values of gbs_log_z() and gbs_run_resume(); GBS_ERR_IO if the first checkpoint cannot be
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
 * Compute a lower bound on ln Z given evidence by mean field [M26]. A few iterations are quick on
 * any model, and every iteration raises the bound.
 *
 * @param options   NULL for the defaults. Only iterations, mean_field_schedule, damping, time_s and
 *                  memory_limit are used.
 * @param callbacks NULL, or callbacks for progress.
 * @param bound     out: lower bound on ln Z; minus infinity if every product distribution violates
 *         a hard zero.
 * @return GBS_OK, no matter how the iterations end; GBS_ERR_IMPOSSIBLE, GBS_ERR_LIMIT,
 *         GBS_ERR_MEMORY, GBS_ERR_ARGUMENT. *bound is untouched on failure.
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
