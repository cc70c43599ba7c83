/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tied weights of a log-linear model from data: maximum pseudo-likelihood [M61],
 *
 *   sum over rows of ln PL(x) - l2/2 |w|^2,   PL(x) = product over v of p(x_v | all others),
 *
 * Besag (1975), The Statistician 24:179-195; or maximum likelihood [M66], with ln P of what each
 * row has in place of ln PL. The weights are those of gbs_builder_add_weights();
 * tables, factors without a tie and weights marked as fixed stay as they are.
 *
 *     gbs_data *data = NULL; // see gibbsite/fit.h: a column for each variable
 *     gbs_model *learnt = NULL;
 *     gbs_learn_weights(model, data, NULL, NULL, NULL, &learnt, NULL, &err);
 *
 * Results have the same bits on any machine and any number of threads.
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes it; a built model can be shared by any number of threads.
 * Errors: for an id or index that does not exist, and for NULL in place of an object or output,
 * calls that return a status return GBS_ERR_ARGUMENT. NULL options mean the defaults.
 */
#ifndef GIBBSITE_LEARN_H
#define GIBBSITE_LEARN_H

#include "gibbsite/checkpoint.h"
#include "gibbsite/fit.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most weights of which gbs_learn_weights() makes a matrix of second derivatives, a square of
 * them; of more it takes products of that matrix with vectors, or, sampled, its diagonal. */
#define GBS_MAX_LEARNT_WEIGHTS 4096u

/** The limit with GBS_LEARN_LIKELIHOOD, whose matrix takes two trees for each weight. */
#define GBS_MAX_LIKELIHOOD_WEIGHTS 512u

#define GBS_USUAL_LEARN_PROBES 32u      /**< if there are more weights than fit a matrix */
#define GBS_MAX_LEARN_PROBES   1000000u /**< most probes */

/** Where learning is after some iterations. */
typedef struct gbs_learn_point {
    size_t size;        /**< bytes in this library's struct; fields beyond it must not be read */
    uint64_t iteration; /**< steps done: 0 at the weights that learning starts from */
    double objective;   /**< less the penalty; NAN: sampled */
    double gradient;    /**< Euclidean length of its gradient; sampled: of what the chains say */
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
    double time_s;         /**< end after so many seconds; 0: no limit */
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
    double l1; /**< penalty: l1 times the sum of the absolute weights, which makes many of them 0;
                    not sampled; 0: none */
    uint64_t threads; /**< number of threads, without effect on results; 0: all cores; the
                           likelihood by a junction tree always takes one */
    const gbs_checkpoint_files *checkpoints; /**< sampled: NULL, or where checkpoints are written
                                                  and which one to resume from; borrowed, with the
                                                  strings that it points to */
    double checkpoint_every_s;               /**< seconds from one checkpoint to the next; 0: 300 */
    uint64_t probes; /**< standard errors by so many probes with signs from seed, at most
                          GBS_MAX_LEARN_PROBES, not sampled nor with l1; 0: by a matrix
                          where there is one, else by GBS_USUAL_LEARN_PROBES */
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
    double change;                /**< largest change of a weight in the last step; sampled: in
                                       standard errors, NAN where these are not known */
    double seconds;
    double log_likelihood; /**< sum over rows of weight times ln P; NAN: not maximised, or sampled
                            */
    double rhat;      /**< sampled: the largest split R-hat of a weight's features; NAN where it
                           was stopped */
    double chance;    /**< sampled: the largest part that chance has in a standard error, 0 to 1;
                           NAN as change */
    uint64_t n_scans; /**< sampled: how often an optimised scan was made */
    uint64_t scan_length; /**< sampled: updates of a chain in a sweep, at the last step */
    uint64_t n_unwritten; /**< checkpoints that could not be written, after the first */
    uint64_t probes;      /**< number of probes that standard errors were estimated by; 0: by a
                               matrix */
    double misfit;        /**< sampled, more than GBS_MAX_LEARNT_WEIGHTS weights: the length of the
                               gradient, less what chance adds, in standard errors of that of the
                               rows; NAN: it was stopped, or other learning */
} gbs_learn_report;

/**
 * Learn the tied weights of a model.
 *
 * Newton's method on the objective, with exact second derivatives; steps are halved until they
 * rise. Beyond GBS_MAX_LEARNT_WEIGHTS weights, or GBS_MAX_LIKELIHOOD_WEIGHTS by the likelihood,
 * steps are found by conjugate gradients, whose products of second derivatives with vectors cost
 * about as much as a gradient, and by the likelihood as two. Starts from the model's own weights.
 * The pseudo-likelihood is concave; in every step a row costs, for each variable, its number of
 * states times the number of its factors. With the likelihood a step costs twice as many junction
 * trees as there are weights, each with one propagation and another for each row with missing
 * values; where values are missing it is a local maximum.
 *
 * With l1 the weights are found by OWL-QN (Andrew & Gao 2007), which needs a build with libLBFGS:
 * converged once the gradient, less what l1 holds of it, is at most as long as tolerance times the
 * number of rows, and times |w| where that is above 1. There are no standard errors then.
 *
 * Sampled, the weights follow chains that go on while they move, from the maximum of the
 * pseudo-likelihood if the rows are complete; a last step of Newton's method corrects them by what
 * the chains say at the weights held still [M67]. Converged means R-hat of at most 1.05 and a last
 * step of at most one standard error. That is found out after a quarter, a half and all of the
 * steps, by half as many sweeps, and ends learning where, before the last, report.chance is at most
 * a half as well. With more than GBS_MAX_LEARNT_WEIGHTS weights a diagonal takes the place of the
 * matrix, which costs time and memory in proportion to them: there is no last step and there are no
 * standard errors, and converged, which ends learning as well, means R-hat of at most 1.05 and
 * report.misfit of at most 0.25.
 *
 * An optimised scan is the shortest, within an eighth, whose Dobrushin variation with weight 1 for
 * every variable is at most the accuracy (Mitliagkas & Mackey 2017, section 5.3). The scan is
 * optimised again when a weight has moved by more than 0.01. Restarted chains begin at the rows as
 * long as the weights move, and go on once these are held still.
 *
 * Checkpoints are written before the first step of the chains, between two steps as often as they
 * are due, and before weights are held still, also where steps were stopped. Learning that goes on
 * from one does not repeat those steps, but the sweeps after them, and ends with the same bits as
 * one that was never stopped, on any number of threads; model, rows and options have to be the
 * same, except for limits, threads, point and held_out. Points before it are not told again.
 *
 * Standard errors of the likelihood are those of the inverse of the observed information, for any
 * number of rows; sampled ones, of up to GBS_MAX_LEARNT_WEIGHTS weights, have what chance adds in
 * them. Those of the pseudo-likelihood are those of the sandwich (Godambe 1960; Lindsay 1988,
 * Contemporary Mathematics 80:221-239): rows count as independent draws, a row of weight c as c of
 * them. They are NAN, and has_errors is 0, where there are no more rows than weights, and of either
 * objective where the data leave some weight or sum of weights undetermined, and where learning was
 * stopped.
 *
 * By probes standard errors are estimated [M73], each within a share of 1 / sqrt(2 probes) of what
 * a matrix gives, one standard error at most; those of the likelihood are then those of the
 * sandwich, too, and need more rows than weights. For intervals use quantiles of Student's
 * distribution with `probes` degrees of freedom. A probe costs as much as one or two of Newton's
 * steps without a matrix.
 *
 * @param model    borrowed; has a weight to learn.
 * @param data     of this model, or one with as many variables of as many states, which is still
 *                 there: at least one row, in each, for the pseudo-likelihood, a value of every
 *                 variable with two states or more.
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
 * @param sum  out: sum over rows of weight times ln P(what the row has); minus infinity: a row is
 *             impossible.
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
