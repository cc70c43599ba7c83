/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Estimates of the partition function, by annealed importance sampling and, where they fit,
 * junction trees.
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes it; a built model can be shared by any number of threads.
 * Errors: for an id or index that does not exist, and for NULL in place of an object or output,
 * calls that return a status return GBS_ERR_ARGUMENT; the others return 0, NULL or NAN, as stated.
 * NULL options mean the defaults, NULL evidence means no evidence.
 */
#ifndef GIBBSITE_LOG_Z_H
#define GIBBSITE_LOG_Z_H

#include "gibbsite/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An estimate of ln Z and how far it can be trusted. Logarithms are natural. */
typedef struct gbs_log_z_report {
    size_t size;      /**< in: sizeof(gbs_log_z_report), set by the caller */
    double log_z;     /**< ln of the mean weight of the chains, plus ln Z of the components solved
                         exactly; minus infinity if no chain ended in a state of positive weight;
                         NAN if stopped by a signal before the pilot was finished */
    double error;     /**< standard error of log_z; 0 if all is exact, NAN with one chain */
    double low, high; /**< 95 % interval, by Student's t on the logarithm; NAN where error is NAN */
    double lower_bound; /**< below ln Z with probability 0.975 or more however badly the chains mix,
                           by Markov's inequality; equal to log_z if all is exact */
    double ess; /**< effective sample size of the weights, 1 to chains; NAN if all is exact */
    uint32_t n_free_variables;  /**< neither observed nor implied by evidence */
    uint32_t n_exact_variables; /**< free variables that were summed exactly */
    uint32_t chains;
    uint64_t temperatures; /**< in the annealing that gave log_z */
    uint64_t rounds;       /**< number of annealings, the pilot included */
    uint64_t updates;      /**< variable updates over all chains and annealings */
    double seconds;
    int converged;     /**< see gbs_log_z() */
    char verdict[160]; /**< one sentence: whether log_z can be trusted, and why */
    char stop[32]; /**< what ended it: "exact", "target", "sweeps", "time", "updates", "signal" */
    gbs_exact_cost exact; /**< what exact answers for all components take */
} gbs_log_z_report;

/**
 * Estimate ln Z given evidence: the natural logarithm of the sum of exp(sum of factors) over all
 * states that agree with the evidence, as gbs_exact_log_z() computes it.
 *
 * In one annealing, chains move from the uniform distribution to the model through n inverse
 * temperatures, with one sweep at each; the weight of each chain is an unbiased estimate of Z
 * [M40]. A pilot annealing with n = 64 places the temperatures. Annealings with n = 256, 1024,
 * 4096, ... follow until the standard error is at most options.target_error (0.05 if that is 0).
 * With options.sweeps there are two, with n = sweeps / 4 and n = sweeps. The estimate is that of
 * the last finished annealing. Hard zeros count as very unlikely states during the annealing and as
 * zeros at its end.
 *
 * The weights are unbiased however badly the chains mix, but if no chain reached an important state
 * the standard error is too small. Therefore `converged` is 1 only if all is exact, or if the error
 * meets the target, there are at least four chains, the effective sample size is at least half
 * their number, and the previous annealing met the same conditions on chains and effective sample
 * size and agrees within three standard errors.
 *
 * @param options   NULL for the defaults. options.method AUTO sums components exactly as long as
 * that is predicted to take at most half of the time, EXACT sums all components exactly or fails,
 * SAMPLE none.
 * The scan must be one of Gibbs sampling and the draw must be random. Options of estimators and
 * burn-in have no effect.
 * @param callbacks NULL, or callbacks for progress; the callback for draws is not called.
 * @return GBS_OK; GBS_STOPPED if ended early, with the estimate of the last finished annealing;
 *         GBS_ERR_IMPOSSIBLE if the evidence has probability 0; GBS_ERR_LIMIT, GBS_ERR_MEMORY,
 *         GBS_ERR_ARGUMENT. The report is untouched on failure.
 */
GBS_API gbs_status gbs_log_z(const gbs_model *model, const gbs_evidence *evidence,
                             const gbs_run_options *options, const gbs_run_callbacks *callbacks,
                             gbs_log_z_report *report, gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
