/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Derivatives of a posterior probability p = P(X = x | evidence) by every parameter of the model
 * and by every likelihood of the evidence [M55].
 *
 *     gbs_sensitivities s = {.size = sizeof s};
 *     gbs_sensitivity(model, evidence, 3, 1, NULL, NULL, &s, &err); // variable 3, state 1
 *     for (size_t i = 0; i < s.n_parameters; i++) {
 *         printf("factor %zu, entry %zu: dp/dt = %g\n", s.factor[i], s.entry[i], s.derivative[i]);
 *     }
 *     gbs_sensitivities_free(&s);
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes this object; any number of threads can share a built model.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults; NULL evidence means no evidence.
 */
#ifndef GIBBSITE_SENSITIVITY_H
#define GIBBSITE_SENSITIVITY_H

#include "gibbsite/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The kind of a parameter. The numbers never change. */
typedef enum gbs_parameter_kind {
    /** An entry t of a conditional table. The other entries of its column are scaled in proportion,
     * so that the sum of the column does not change: Chan & Darwiche (2002), J. Artif. Intell. Res.
     * 17:265-287. The derivative is one-sided at t = 0, and in a column of two also at t = 1. In
     * longer columns it is undefined (NAN) at t = 1, where the other entries have no proportion. */
    GBS_PARAMETER_PROBABILITY = 0,
    /** An entry of the log-table of a factor that is not a conditional table; NAN if it is minus
     * infinity. */
    GBS_PARAMETER_LOG_WEIGHT = 1,
    /** h, J or w of a factor with a formula; NAN if it is infinite. */
    GBS_PARAMETER_WEIGHT = 2,
    /** The natural logarithm of the likelihood of a state; minus infinity has derivative 0. */
    GBS_PARAMETER_LIKELIHOOD = 3,
    /** The probability that a parent in a given state has no effect, in a noisy factor. */
    GBS_PARAMETER_INHIBITION = 4,
    /** The probability of an effect without any cause, in a noisy factor. */
    GBS_PARAMETER_LEAK = 5,
} gbs_parameter_kind;

/** The answer of gbs_sensitivity(): first the parameters of factor 0, in the order of its table,
 * then the parameters of factor 1, ..., then the likelihoods, variable by variable. */
typedef struct gbs_sensitivities {
    size_t size;         /**< in: sizeof(gbs_sensitivities), set by the caller */
    uint32_t variable;   /**< the variable X */
    uint32_t state;      /**< the state x */
    double p;            /**< P(X = x | evidence) */
    double p_mcse;       /**< Monte Carlo standard error of p; 0 if p is exact */
    size_t n_parameters; /**< length of the arrays */
    uint32_t *kind;      /**< gbs_parameter_kind */
    size_t *factor;      /**< the factor; SIZE_MAX for a likelihood */
    uint32_t *of;        /**< variable of a likelihood, child of a conditional table, parent of an
                            inhibition, child of a leak; for other kinds the last variable of the
                            scope, UINT32_MAX if the scope is empty */
    size_t *entry;       /**< index of the parameter: entry of the factor's table, or state of a
                            likelihood. In a noisy factor, 0 is the leak, and the inhibitions
                            follow, parent after parent and state after state. 0 for a weight */
    double *value;       /**< t, log-weight, weight, ln of a likelihood, inhibition, leak */
    double *derivative;  /**< d p / d value; NAN if undefined */
    double *mcse;        /**< Monte Carlo standard errors of derivative; 0 for exact entries */
    double *log_p;     /**< d ln P(evidence) / d value for a Bayesian network, else d ln Z / d value
                          given the evidence; NAN if undefined */
    int exact;         /**< 1: everything is exact; 0: estimates from samples */
    int converged;     /**< 1 if the run can be trusted or the answer is exact, else 0 */
    char verdict[256]; /**< one sentence that gives the reason */
    double *low;  /**< for a WEIGHT: the smaller of the two values that its formula can take given
                     the evidence; NAN if the formula can take more values, and for other kinds */
    double *high; /**< for a WEIGHT: the larger of these two values; else NAN */
} gbs_sensitivities;

/**
 * Find the derivatives of P(variable = state | evidence) by all parameters.
 *
 * The answer is exact, by one junction tree [M22] of the model given the evidence, without the
 * states that hard zeros rule out. Three propagations in this tree serve all parameters together.
 * If the tree does not fit the limits, the answer comes from covariances over the draws of a run.
 * Standard errors then come from the spread of the covariances over chains, and log_p has no
 * standard error. For an entry of a conditional table that is 0, the derivative is then found from
 * the draws in which the parents have the states of the entry [M55]. Such an entry has no
 * derivative (NAN) if fewer than 8 draws have these states, or if another factor or a likelihood of
 * the child has hard zeros. Inhibitions and leaks have no derivative if they would make an outcome
 * possible that is impossible at their present value.
 *
 * @param options   Method AUTO answers exactly if the junction tree is predicted to stay within
 *         what AUTO allows for a run, and samples otherwise; EXACT answers exactly if the tree fits
 *         memory; SAMPLE samples, without tempering.
 * @param callbacks NULL, or callbacks for progress; the callback for draws is not called.
 * @param answer    out, overwritten without being freed first; free it with
 *                  gbs_sensitivities_free().
 * @return GBS_OK; GBS_STOPPED, with an answer, if a limit of the options ended the run early;
 *         errors of gbs_exact_log_z(), gbs_run_new() and gbs_run_execute(); GBS_ERR_ARGUMENT for a
 *         state that the variable does not have, and for other methods. The answer is untouched on
 *         failure.
 */
GBS_API GBS_MUST_USE gbs_status gbs_sensitivity(const gbs_model *model,
                                                const gbs_evidence *evidence, uint32_t variable,
                                                uint32_t state, const gbs_run_options *options,
                                                const gbs_run_callbacks *callbacks,
                                                gbs_sensitivities *answer, gbs_error *err);
/** Free the arrays of an answer and set all fields except `size` to zero. NULL is allowed. */
GBS_API void gbs_sensitivities_free(gbs_sensitivities *answer);

/**
 * @return the exact value that P(X = x | evidence) would have if one parameter had another value.
 * The probability is a
 *         ratio of two linear functions of t, of the weight exp(log-weight) or of the likelihood
 *         (Chan & Darwiche 2002), or of exp(w (high - low)) for the weight w of a formula with two
 *         values [M55]. The result is NAN for a formula with more values, for a parameter without a
 *         derivative, for a t outside [0, 1], and if the evidence would become impossible. @param
 *         value the other value, in the units of gbs_sensitivities.value.
 */
GBS_API double gbs_sensitivity_at(const gbs_sensitivities *answer, size_t parameter, double value);

/** @return the value of a parameter with which P(X = x | evidence) would be p, the inverse of
 * gbs_sensitivity_at() (Chan & Darwiche 2002); NAN if there is no such value. */
GBS_API double gbs_sensitivity_value_for(const gbs_sensitivities *answer, size_t parameter,
                                         double p);

#ifdef __cplusplus
}
#endif
#endif
