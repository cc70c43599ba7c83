/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tied weights of a log-linear model from data: maximum pseudo-likelihood [M61],
 *
 *   sum over rows of ln PL(x) - l2/2 |w|^2,   PL(x) = product over v of p(x_v | all others),
 *
 * Besag (1975), The Statistician 24:179-195; or maximum likelihood [M66], where ln P of the
 * observed values of each row takes the place of ln PL. The weights are declared with
 * gbs_builder_add_weights(). Tables, factors without a tie and weights marked as fixed stay as they
 * are.
 *
 *     gbs_data *data = NULL; // see gibbsite/fit.h: a column for each variable
 *     gbs_model *learnt = NULL;
 *     gbs_learn_weights(model, data, NULL, NULL, NULL, &learnt, NULL, &err);
 *
 * Results have the same bits on any machine and any number of threads.
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes it; a built model can be shared by any number of threads.
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

/** The limit with GBS_LEARN_LIKELIHOOD, whose matrix needs two junction trees for each weight. */
#define GBS_MAX_LIKELIHOOD_WEIGHTS 512u

#define GBS_USUAL_LEARN_PROBES 32u      /**< if there are more weights than fit a matrix */
#define GBS_MAX_LEARN_PROBES   1000000u /**< most probes */

/** The state of learning after some iterations. */
typedef struct gbs_learn_point {
    size_t size;        /**< bytes in this library's struct; fields beyond it must not be read */
    uint64_t iteration; /**< steps done: 0 at the weights that learning starts from */
    double objective;   /**< less the penalty; NAN: sampled */
    double gradient;    /**< Euclidean length of the gradient of the objective; sampled: of the
                           gradient as the chains estimate it */
    double held_out;    /**< sum over options.held_out of weight times ln P by the likelihood,
                             else ln PL; minus infinity: a row is impossible; NAN: none */
} gbs_learn_point;

/** Zero-initialised means the defaults. Options for objective "sampled" are refused with other
 *  objectives, and an accuracy with other scans, unless they are 0 or the default. */
typedef struct gbs_learn_options {
    size_t size;           /**< sizeof(gbs_learn_options) */
    double l2;             /**< penalty: l2/2 times the sum of the squared weights; 0: none */
    double tolerance;      /**< converged once no weight moves by more in a step; 0: 1e-6 */
    uint64_t iterations;   /**< at most; 0: 1000 */
    double time_s;         /**< end after this many seconds; 0: no limit */
    uint64_t memory_limit; /**< bytes, program and model included; 0: half of the machine's */
    uint64_t objective;    /**< a gbs_learn_objective */
    uint64_t chains;       /**< sampled: 2 or more; 0: 100. Each row with missing values has one */
    uint64_t steps;  /**< sampled: moves of the weights at most, each after a sweep of every chain;
                          0: 1000 */
    uint64_t seed;   /**< seed of the random numbers for sampling and for probes */
    uint64_t scan;   /**< sampled: a gbs_learn_scan */
    uint64_t method; /**< sampled: a gbs_learn_method */
    uint64_t sweeps; /**< sampled: of every chain in a step, at most 2^20; 0: 1 */
    double accuracy; /**< sampled, scan optimised: one sweep of a chain, from any start, comes as
                          near to the model as this, in total variation; below 1; 0: 0.01 */
    /** NULL, or called on the calling thread at the start and after each iteration (sampled: before
     *  each step). @param point valid during the call. */
    void (*point)(void *context, const gbs_learn_point *point);
    void *point_context;      /**< first argument of point */
    const gbs_data *held_out; /**< held-out rows whose likelihood is reported at every point, or
                                   NULL; borrowed; only with `point`; must be complete unless the
                                   objective is the likelihood */
    double l1; /**< penalty of l1 times the sum of the absolute weights, which makes many weights
                  exactly 0; not allowed if the objective is sampled; 0: no penalty */
    uint64_t threads; /**< number of threads, without effect on results; 0: all cores; the
                           likelihood by a junction tree always takes one */
    const gbs_checkpoint_files *checkpoints; /**< sampled: NULL, or where checkpoints are written
                                                  and which one to resume from; borrowed, with the
                                                  strings that it points to */
    double checkpoint_every_s;               /**< seconds from one checkpoint to the next; 0: 300 */
    uint64_t probes; /**< number of probes that estimate standard errors, with random signs from
                        seed; at most GBS_MAX_LEARN_PROBES; not allowed with l1 or if the objective
                        is sampled; 0: errors come from the matrix if one is kept, else from
                        GBS_USUAL_LEARN_PROBES probes */
} gbs_learn_options;

/** The results of learning. Logarithms are natural. */
typedef struct gbs_learn_report {
    size_t size;                  /**< sizeof(gbs_learn_report) */
    uint64_t n_rows;              /**< of the data */
    uint64_t n_learnt;            /**< weights that are not fixed and that a factor is tied to */
    uint64_t iterations;          /**< steps of Newton's method */
    uint64_t converged;           /**< 1 or 0 */
    uint64_t has_errors;          /**< 1: standard errors are known; 0: see gbs_learn_weights() */
    double pseudo_log_likelihood; /**< sum over rows of weight times ln PL; NAN: not maximised */
    double objective;             /**< this less the penalty */
    double change; /**< largest change of a weight in the last step; sampled: in standard errors,
                      NAN if these are not known */
    double seconds;
    double log_likelihood; /**< sum over rows of weight times ln P; NAN: not maximised, or sampled
                            */
    double rhat;   /**< sampled: the largest split R-hat of a weight's features; NAN if stopped */
    double chance; /**< sampled: the largest part that chance has in a standard error, 0 to 1;
                        NAN as change */
    uint64_t n_scans;     /**< sampled: how often an optimised scan was made */
    uint64_t scan_length; /**< sampled: updates of a chain in a sweep, at the last step */
    uint64_t n_unwritten; /**< checkpoints that could not be written, after the first */
    uint64_t probes;      /**< number of probes that standard errors were estimated by; 0: by a
                               matrix */
    double misfit; /**< sampled, with more than GBS_MAX_LEARNT_WEIGHTS weights: the length of the
                      gradient, minus the part that chance adds, in standard errors of the gradient
                      of the rows; NAN if learning was stopped, and for all other learning */
} gbs_learn_report;

/**
 * Learn the tied weights of a model.
 *
 * Newton's method on the objective, with exact second derivatives; steps are halved until they
 * rise. Beyond GBS_MAX_LEARNT_WEIGHTS weights, or GBS_MAX_LIKELIHOOD_WEIGHTS by the likelihood,
 * steps are found by conjugate gradients. A product of second derivatives with a vector costs about
 * as much as one gradient, or two with the likelihood. Learning starts from the model's own
 * weights. The pseudo-likelihood is concave; in every step a row costs, for each variable, its
 * number of states times the number of its factors. With the likelihood a step costs twice as many
 * junction trees as there are weights, each with one propagation and one more for each row with
 * missing values. If values are missing, the result is a local maximum.
 *
 * With l1 the weights are found by OWL-QN (Andrew & Gao 2007), which needs a build with libLBFGS.
 * It has converged once the length of the gradient, without the part that l1 balances, is at most
 * tolerance times the number of rows times max(1, |w|). Standard errors are not computed with l1.
 *
 * If the objective is sampled, chains are drawn from the model while its weights change. The
 * weights start at the maximum of the pseudo-likelihood if the rows are complete. Then the weights
 * are held still, and the chains give the gradient and the matrix for a last step of Newton's
 * method [M67]. Converged means that R-hat is at most 1.05 and that the last step is at most one
 * standard error. Convergence is tested after a quarter, a half and all of the steps, each time
 * with half as many sweeps as there were steps; learning ends at an earlier test only if
 * report.chance is at most a half as well. With more than GBS_MAX_LEARNT_WEIGHTS weights a diagonal
 * takes the place of the matrix, so that time and memory are proportional to the number of weights.
 * Learning then has no last step and no standard errors, and converged means that R-hat is at most
 * 1.05 and report.misfit at most 0.25.
 *
 * An optimised scan is a scan, at most an eighth longer than the shortest one, whose Dobrushin
 * variation with weight 1 for every variable is at most the accuracy (Mitliagkas & Mackey 2017,
 * section 5.3). The scan is optimised again when a weight has moved by more than 0.01. Restarted
 * chains begin at the rows in each step while the weights change; once the weights are held still,
 * the chains go on from their last states.
 *
 * Checkpoints are written before the first step of the chains, then every checkpoint_every_s
 * between two steps, and before weights are held still, also if the steps were stopped. Learning
 * that resumes from a checkpoint does not repeat the steps before it. Learning from a checkpoint
 * repeats the sweeps at weights that are held still, and ends with the same bits as learning that
 * was never stopped, on any number of threads. Model, rows and options must be the same, except for
 * limits, threads, point and held_out. Points before the checkpoint are not reported again.
 *
 * Standard errors of the likelihood come from the inverse of the observed information, for any
 * number of rows. If the objective is sampled, up to GBS_MAX_LEARNT_WEIGHTS weights have standard
 * errors, which include the error of the sampling. Standard errors of the pseudo-likelihood come
 * from the sandwich matrix (Godambe 1960; Lindsay 1988, Contemporary Mathematics 80:221-239): rows
 * count as independent draws, and a row of weight c counts as c draws. Standard errors are NAN, and
 * has_errors is 0, if learning was stopped or the data leave some weight or sum of weights
 * undetermined; for the pseudo-likelihood, also if the number of rows does not exceed the number of
 * weights.
 *
 * Probes estimate standard errors [M73]. Such an estimate has itself a relative standard error of
 * at most 1 / sqrt(2 probes) around the value that a matrix gives. Probes use the sandwich matrix
 * for the likelihood, too, and so need more rows than weights. For intervals use quantiles of
 * Student's distribution with `probes` degrees of freedom. A probe costs as much as one or two of
 * Newton's steps without a matrix.
 *
 * @param model    borrowed; has a weight to learn.
 * @param data     rows of this model, or of a model with equal numbers of variables and states that
 *                 still exists; at least one row. For the pseudo-likelihood, each row has a value
 *                 for every variable of two states or more.
 * @param callbacks NULL; progress is called with pass = steps done.
 * @param error    out or NULL: [gbs_model_n_weights()] standard errors, 0 of weights not learnt.
 * @param learnt   out, caller frees: the model with the new weights.
 * @param report   out or NULL.
 * @return GBS_OK; GBS_STOPPED if it was ended by time_s or the callback, with the weights of the
 *         last step, sampled their mean since half of the steps up to the next look at them;
 *         GBS_ERR_STOPPED before there was one; GBS_ERR_IO and GBS_ERR_FORMAT for a checkpoint that
 *         cannot be read or written, or is damaged; GBS_ERR_IMPOSSIBLE for a row that has
 *         weight 0 whatever the tied weights are; GBS_ERR_NOT_FOUND if chains find no state of
 *         positive weight for one; GBS_ERR_LIMIT for too little
 *         memory, or a likelihood whose junction tree does not fit; GBS_ERR_UNSUPPORTED for an
 *         optimised scan where Dobrushin's condition fails (the spectral radius of the influences
 *         is not below 1) or no scan is accurate enough, and for l1 in a build without libLBFGS;
 *         GBS_ERR_ARGUMENT for anything else.
 */
GBS_API GBS_MUST_USE gbs_status gbs_learn_weights(const gbs_model *model, const gbs_data *data,
                                                  const gbs_learn_options *options,
                                                  const gbs_run_callbacks *callbacks, double *error,
                                                  gbs_model **learnt, gbs_learn_report *report,
                                                  gbs_error *err);

/**
 * The pseudo-likelihood of rows, held-out ones say, under a model of any kind.
 *
 * @param data as for gbs_learn_weights(), such as rows of the model that this one was learnt from.
 * @param sum  out: sum over rows of weight times ln PL; minus infinity: a row is impossible.
 */
GBS_API GBS_MUST_USE gbs_status gbs_pseudo_log_likelihood(const gbs_model *model,
                                                          const gbs_data *data, double *sum,
                                                          gbs_error *err);

/**
 * The likelihood of rows, complete or not, by a junction tree.
 *
 * @param data see gbs_learn_weights().
 * @param sum  out: sum over rows of weight times ln P(observed values of the row); minus infinity
 *             if a row is impossible.
 * @return GBS_ERR_LIMIT where the tree does not fit.
 */
GBS_API GBS_MUST_USE gbs_status gbs_log_likelihood(const gbs_model *model, const gbs_data *data,
                                                   double *sum, gbs_error *err);

/**
 * A copy of a model with other tied weights.
 *
 * @param value [gbs_model_n_weights()] finite, and so times each feature, GBS_MAX_LOG_WEIGHT.
 * @param copy  out, caller frees.
 */
GBS_API GBS_MUST_USE gbs_status gbs_model_with_weights(const gbs_model *model, const double *value,
                                                       gbs_model **copy, gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
