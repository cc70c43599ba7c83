/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Learning of the tied weights of a log-linear model from data, by maximum pseudo-likelihood [M61],
 *
 *   sum over rows of ln PL(x) - l2/2 |w|^2,   PL(x) = product over v of p(x_v | all others),
 *
 * Besag (1975), The Statistician 24:179-195; or by maximum likelihood [M66], where ln P of the
 * observed values of each row takes the place of ln PL. The weights are declared with
 * gbs_builder_add_weights(). Tables, factors without a tie and weights marked as fixed are not
 * changed.
 *
 *     gbs_data *data = NULL; // see gibbsite/fit.h: a column for each variable
 *     gbs_model *learnt = NULL;
 *     gbs_learn_weights(model, data, NULL, NULL, NULL, &learnt, NULL, &err);
 *
 * Results have the same bits on any machine and any number of threads.
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes this object; any number of threads can share a built model.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT. NULL options mean the defaults.
 */
#ifndef GIBBSITE_LEARN_H
#define GIBBSITE_LEARN_H

#include "gibbsite/checkpoint.h"
#include "gibbsite/fit.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Largest number of weights for which gbs_learn_weights() keeps the matrix of second derivatives.
 * If there are more weights, it computes products of that matrix with vectors or, if the objective
 * is sampled, its diagonal. */
#define GBS_MAX_LEARNT_WEIGHTS 4096u

/** The same limit for objective GBS_LEARN_LIKELIHOOD, whose matrix needs two junction trees for
 *  each weight. */
#define GBS_MAX_LIKELIHOOD_WEIGHTS 512u

/** Default number of probes if there are more weights than fit a matrix */
#define GBS_USUAL_LEARN_PROBES 32u
#define GBS_MAX_LEARN_PROBES   1000000u /**< largest number of probes */

/** The state of learning after some iterations. */
typedef struct gbs_learn_point {
    size_t size; /**< size of the library's struct in bytes; fields beyond this size must not be
                    read */
    uint64_t iteration; /**< number of steps done; 0 at the weights from which learning starts */
    double
        objective; /**< value of the objective minus the penalty; NAN if the objective is sampled */
    double gradient; /**< Euclidean length of the gradient of the objective; if the objective is
                        sampled, of the gradient that the chains estimate */
    double held_out; /**< sum over the rows of options.held_out of the row's weight times ln P
                        (objective likelihood) or ln PL (other objectives); minus infinity: a row is
                        impossible; NAN: there are no held-out rows */
} gbs_learn_point;

/** A struct that is set to zero means the defaults. Options for objective "sampled" must be 0 or
 * the default with other objectives; `accuracy` must be 0 or the default with scans other than
 * optimised. */
typedef struct gbs_learn_options {
    size_t size;           /**< sizeof(gbs_learn_options) */
    double l2;             /**< penalty: l2/2 times the sum of the squared weights; 0: none */
    double tolerance;      /**< learning has converged once no weight changes by more than tolerance
                                in a step; 0: 1e-6 */
    uint64_t iterations;   /**< largest number of iterations; 0: 1000 */
    double time_s;         /**< end after this many seconds; 0: no limit */
    uint64_t memory_limit; /**< memory limit in bytes, program and model included; 0: half of the
                                machine's memory */
    uint64_t objective;    /**< a
gbs_learn_objective */
    uint64_t chains; /**< sampled: number of chains, 2 or more; 0: 100. Each row with missing values
                        has a further chain */
    uint64_t steps;  /**< sampled: largest number of steps of the weights; before each step every
                        chain makes sweeps; 0: 1000 */
    uint64_t seed;   /**< seed of the random numbers for sampling and for probes */
    uint64_t scan;   /**< sampled: a gbs_learn_scan */
    uint64_t method; /**< sampled: a gbs_learn_method */
    uint64_t sweeps; /**< sampled: number of sweeps of every chain in a step, at most 2^20; 0: 1 */
    double accuracy; /**< sampled, scan optimised: bound, below 1, on the total variation distance
                        from the model after one sweep from any start; 0: 0.01 */
    /** NULL, or called on the calling thread at the start and after each iteration (sampled: before
     *  each step). @param point valid during the call. */
    void (*point)(void *context, const gbs_learn_point *point);
    void *point_context; /**< first argument of point */
    const gbs_data
        *held_out; /**< held-out rows whose likelihood every call of `point` reports, or NULL;
                      borrowed. The rows must be complete unless the objective is the likelihood */
    double l1; /**< penalty of l1 times the sum of the absolute weights, which makes many weights
                  exactly 0; not allowed if the objective is sampled; 0: no penalty */
    uint64_t threads; /**< number of threads, without effect on results; 0: all cores. The
                           likelihood by a junction tree always takes one thread */
    /** sampled: NULL, or the files for writing checkpoints and for resuming; the struct and its
     *  strings are borrowed */
    const gbs_checkpoint_files *checkpoints;
    double checkpoint_every_s; /**< seconds from one checkpoint to the next; 0: 300 */
    uint64_t
        probes; /**< number of probes that estimate standard errors, at most GBS_MAX_LEARN_PROBES.
                   Probes have random signs from `seed`. They are not allowed with l1 or if the
                   objective is sampled. 0: standard errors come from the matrix of second
                   derivatives if it is kept, else from GBS_USUAL_LEARN_PROBES probes */
} gbs_learn_options;

/** The results of learning. Logarithms are natural. */
typedef struct gbs_learn_report {
    size_t size;         /**< sizeof(gbs_learn_report) */
    uint64_t n_rows;     /**< number of rows of the data */
    uint64_t n_learnt;   /**< number of weights that are not fixed and have a tied factor */
    uint64_t iterations; /**< number of steps of Newton's method */
    uint64_t converged;  /**< 1 if learning converged, else 0 */
    uint64_t has_errors; /**< 1: standard errors are known; 0: they are not, for one of the reasons
                              under gbs_learn_weights() */
    double pseudo_log_likelihood; /**< sum over rows of weight times ln PL; NAN if another objective
                                       was maximised */
    double objective;             /**< the logarithm that was maximised, minus the penalty */
    double change; /**< largest change of a weight in the last step; sampled: in units of standard
                      errors, NAN if standard errors are not known */
    double seconds;
    double log_likelihood; /**< sum over rows of weight times ln P; NAN if another objective was
                                maximised, or if the objective is sampled
                            */
    double rhat;   /**< sampled: the largest split R-hat of a weight's features; NAN if learning was
                        stopped */
    double chance; /**< sampled: for the weight where this is largest, the share, 0 to 1, of the
                      standard error that comes from sampling; NAN if `change` is NAN */
    uint64_t n_scans;     /**< sampled: number of times that a scan was optimised */
    uint64_t scan_length; /**< sampled: number of updates that a chain makes in a sweep of the last
                             step */
    uint64_t n_unwritten; /**< number of checkpoints, after the first, that could not be written */
    uint64_t probes; /**< number of probes that estimated the standard errors; 0: the errors come
                          from a matrix */
    double misfit;   /**< sampled, more than GBS_MAX_LEARNT_WEIGHTS weights: length of the gradient,
                        without the part that chance adds, divided by the standard error that the
                        rows give the gradient; else NAN, also if learning was stopped */
} gbs_learn_report;

/**
 * Learn the tied weights of a model.
 *
 * The weights are found by Newton's method with exact second derivatives; a step is halved until
 * the objective rises. With more than GBS_MAX_LEARNT_WEIGHTS weights (likelihood:
 * GBS_MAX_LIKELIHOOD_WEIGHTS), steps are found by conjugate gradients. A product of the matrix of
 * second derivatives with a vector costs about as much as one gradient or, with the likelihood, as
 * two gradients. Learning starts from the model's own weights. The pseudo-likelihood is concave.
 * The time of a step for one row is proportional to the sum, over all variables, of the number of
 * states times the number of factors. With the likelihood a step needs two junction trees for each
 * weight. In each tree there is one propagation, and a further propagation for each row with
 * missing values. If values are missing, the result is a local maximum.
 *
 * With l1 the weights are found by OWL-QN (Andrew & Gao 2007), which needs a build with libLBFGS.
 * OWL-QN has converged once the gradient, without the part that l1 balances, is short enough: its
 * length must be at most tolerance times the number of rows times max(1, |w|). Standard errors are
 * not computed with l1.
 *
 * If the objective is sampled, chains are drawn from the model while its weights change. The
 * weights start at the maximum of the pseudo-likelihood if the rows are complete. Then the weights
 * are held still, and the chains give the gradient and the matrix for a last step of Newton's
 * method [M67]. Learning has converged if R-hat is at most 1.05 and the last step is at most one
 * standard error. Convergence is tested after a quarter, a half and all of the steps. Each test
 * makes half as many sweeps as there were steps. At the tests after a quarter and a half of the
 * steps, learning ends only if report.chance is also at most a half. With more than
 * GBS_MAX_LEARNT_WEIGHTS weights, only the diagonal of the matrix is used, so that time and memory
 * are proportional to the number of weights. Learning then has no last step and no standard errors.
 * Such learning has converged if R-hat is at most 1.05 and report.misfit is at most 0.25.
 *
 * An optimised scan is a scan whose Dobrushin variation, with weight 1 for every variable, is at
 * most options.accuracy (Mitliagkas & Mackey 2017, section 5.3). It is at most an eighth longer
 * than the shortest scan found with such a variation. The search begins with the random scan if the
 * number of free variables, times the number of these variables and of their influences, is at most
 * 2^20, and otherwise with the systematic scan. The scan is optimised again when a weight has moved
 * by more than 0.01. Restarted chains begin each step at the rows as long as the weights
 * change. Once the weights are held still, the chains go on from their last states.
 *
 * Checkpoints are written before the first step of the chains, then every checkpoint_every_s
 * between two steps, and before weights are held still, even if the steps were stopped. Learning
 * that resumes from a checkpoint does not repeat the steps before it. Learning from a checkpoint
 * repeats the sweeps at weights that are held still. Its results have the same bits as if learning
 * had never been stopped, on any number of threads. Model, rows and options must be the same,
 * except for limits, threads, point and held_out. Points before the checkpoint are not reported
 * again.
 *
 * Standard errors of the likelihood come from the inverse of the observed information, for any
 * number of rows. If the objective is sampled, up to GBS_MAX_LEARNT_WEIGHTS weights have standard
 * errors, which include the error of the sampling. Standard errors of the pseudo-likelihood come
 * from the sandwich matrix (Godambe 1960; Lindsay 1988, Contemporary Mathematics 80:221-239): rows
 * count as independent draws, and a row of weight c counts as c draws. Standard errors are NAN, and
 * has_errors is 0, if learning was stopped or if the data do not determine some weight or some sum
 * of weights. With the pseudo-likelihood they are also NAN if there are not more rows than weights.
 *
 * Probes estimate standard errors [M73]. The relative standard error of such an estimate, compared
 * with the value from a matrix, is at most 1 / sqrt(2 probes). With the likelihood, probes use the
 * sandwich matrix, too. Probes therefore always need more rows than weights. For intervals use
 * quantiles of Student's distribution with `probes` degrees of freedom. A probe costs as much as
 * one or two of Newton's steps without a matrix.
 *
 * @param model borrowed; must have a weight that is not fixed.
 * @param data     rows of this model, or of a model with equal numbers of variables and states that
 *                 still exists; at least one row. For the pseudo-likelihood, each row has a value
 *                 for every variable of two states or more.
 * @param callbacks NULL; progress is called with pass = steps done.
 * @param error    out or NULL: [gbs_model_n_weights()] standard errors of the weights; 0 for
 * weights that are not learnt.
 * @param learnt   out, caller frees: the model with the new weights.
 * @param report   out or NULL.
 * @return GBS_OK; GBS_STOPPED if time_s or the callback ended learning, with the weights of the
 *         last step or, if the objective is sampled, their mean over the second half of the steps
 *         up to the next test; GBS_ERR_STOPPED if learning ended before the first step; GBS_ERR_IO
 *         and GBS_ERR_FORMAT for a checkpoint that cannot be read or written, or is damaged;
 *         GBS_ERR_IMPOSSIBLE for a row that has weight 0 for all tied weights; GBS_ERR_NOT_FOUND if
 *         chains find no state of positive weight for a row; GBS_ERR_LIMIT for too little memory,
 *         or a likelihood whose junction tree does not fit; GBS_ERR_UNSUPPORTED for an optimised
 *         scan if Dobrushin's condition fails (the spectral radius of the influences is not below
 *         1) or no scan is accurate enough, and for l1 in a build without libLBFGS;
 *         GBS_ERR_ARGUMENT for anything else.
 */
GBS_API GBS_MUST_USE gbs_status gbs_learn_weights(const gbs_model *model, const gbs_data *data,
                                                  const gbs_learn_options *options,
                                                  const gbs_run_callbacks *callbacks, double *error,
                                                  gbs_model **learnt, gbs_learn_report *report,
                                                  gbs_error *err);

/**
 * Compute the pseudo-likelihood of rows, such as held-out rows, under a model of any kind.
 *
 * @param data rows as for gbs_learn_weights(); they may be rows for the model whose weights were
 * learnt.
 * @param sum  out: sum over rows of weight times ln PL; minus infinity: a row is impossible.
 */
GBS_API GBS_MUST_USE gbs_status gbs_pseudo_log_likelihood(const gbs_model *model,
                                                          const gbs_data *data, double *sum,
                                                          gbs_error *err);

/**
 * Compute the likelihood of complete or incomplete rows by a junction tree.
 *
 * @param data see gbs_learn_weights().
 * @param sum  out: sum over rows of weight times ln P(observed values of the row); minus infinity
 *             if a row is impossible.
 * @return GBS_ERR_LIMIT if the junction tree does not fit memory.
 */
GBS_API GBS_MUST_USE gbs_status gbs_log_likelihood(const gbs_model *model, const gbs_data *data,
                                                   double *sum, gbs_error *err);

/**
 * Copy a model and replace its tied weights.
 *
 * @param value [gbs_model_n_weights()] the new weights. A weight, and a weight times any of its
 *         features, must be finite and at most GBS_MAX_LOG_WEIGHT in size.
 * @param copy  out, caller frees.
 */
GBS_API GBS_MUST_USE gbs_status gbs_model_with_weights(const gbs_model *model, const double *value,
                                                       gbs_model **copy, gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
