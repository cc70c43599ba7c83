/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The partition function, estimated: annealed importance sampling, and junction trees where they
 * fit.
 *
 * Threads: different objects may be used from different threads at the same time; one object from
 * several threads only where nothing changes it (a built model may be shared by all).
 * Out of range: an id or number that does not exist, and NULL for an object or output, is
 * GBS_ERR_ARGUMENT
 * from calls that return a status; from others 0, NULL or NAN, as stated. NULL options and NULL
 * evidence stand for the defaults and for none.
 */
#ifndef GIBBSITE_LOG_Z_H
#define GIBBSITE_LOG_Z_H

#include "gibbsite/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An estimate of ln Z and how far it can be trusted. Logarithms are natural. */
typedef struct gbs_log_z_report {
    size_t size;        /**< in: sizeof(gbs_log_z_report) */
    double log_z;       /**< ln of the mean weight, plus the components solved exactly; minus
                           infinity if no chain ended in a state of positive weight, NAN if
                           stopped by a signal before the pilot was finished */
    double error;       /**< standard error of log_z; 0 if all is exact, NAN with one chain */
    double low, high;   /**< 95 % interval, Student's t on the logarithm; NAN as error */
    double lower_bound; /**< below ln Z with probability 0.975 or more, whatever the chains did:
                           Markov's inequality; log_z itself if all is exact */
    double ess; /**< effective sample size of the weights, 1 to chains; NAN if all is exact */
    uint32_t n_free_variables;  /**< not observed and not implied */
    uint32_t n_exact_variables; /**< of these, summed exactly */
    uint32_t chains;
    uint64_t temperatures; /**< of the annealing that log_z is from */
    uint64_t rounds;       /**< annealings, the pilot included */
    uint64_t updates;
    double seconds;
    int converged;     /**< see gbs_log_z() */
    char verdict[160]; /**< one sentence */
    char stop[32];     /**< "exact", "target", "sweeps", "time", "updates", "signal" */
} gbs_log_z_report;

/**
 * ln of the partition function given evidence: ln of the sum over all states that agree with it of
 * exp(sum of factors), as gbs_exact_log_z().
 *
 * Chains go from the uniform law to the model by n inverse temperatures, one sweep at each; every
 * chain's weight is an unbiased estimate of Z [M40]. A pilot of 64 places the temperatures; then
 * there are annealings of 256, 1024, 4096, ... until the standard error is at most
 * options.target_error (0.05 if it is 0), or of a quarter of options.sweeps and of options.sweeps.
 * The estimate is of the last one that was finished. Hard zeros are crossed as very unlikely states
 * on the way and count as zero at the end.
 *
 * Weights are unbiased however badly the chains mix, but their spread tells the error only if it
 * shows: `converged` is 1 if the error meets the target, the effective sample size is at least half
 * of at least four chains, and the annealing before (with the same) agrees within three standard
 * errors; or if all is exact.
 *
 * @param options   NULL for the defaults; options.method AUTO sums exactly what a junction tree of
 *                  2^26 entries holds, EXACT all or fails, SAMPLE nothing. Scans of Gibbs sampling
 *                  and the random draw only. Estimators and burn-in have no meaning here.
 * @param callbacks NULL or what is told on the way; draws are not.
 * @return GBS_OK; GBS_STOPPED if ended early, with the last finished annealing;
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
