/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Answers in one call: distributions of variables that are given by name, given evidence as text.
 *
 *     gbs_answer answer = {.size = sizeof answer};
 *     gbs_query(model, "fever=yes, cough=yes", "cold,influenza", NULL, &answer, &err);
 *     for (uint32_t i = 0; i < answer.n_variables; i++) {
 *         for (size_t a = answer.offset[i]; a < answer.offset[i + 1]; a++) {
 *             printf("%s, state %zu: %.4f +- %.4f\n",
 *                    gbs_model_variable_name(model, answer.variable[i]), a - answer.offset[i],
 *                    answer.p[a], answer.mcse[a]);
 *         }
 *     }
 *     puts(answer.verdict);
 *     gbs_answer_free(&answer);
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes this object; any number of threads can share a built model.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults; NULL evidence means no evidence.
 */
#ifndef GIBBSITE_QUERY_H
#define GIBBSITE_QUERY_H

#include "gibbsite/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The answer of gbs_query(). State a of variable[i] has index offset[i] + a in the arrays. */
typedef struct gbs_answer {
    size_t size;          /**< in: sizeof(gbs_answer), set by the caller */
    uint32_t n_variables; /**< number of variables that were asked for */
    int exact;            /**< 1: all probabilities are exact; 0: some are estimates */
    uint32_t *variable;   /**< [n_variables] ids of the variables that were asked for, in the order
                               of `names` */
    size_t *offset;       /**< [n_variables + 1] */
    double *p;            /**< [offset[n_variables]] probabilities; NAN for variables that the
                               options leave without an estimate */
    double *mcse; /**< same shape as p: Monte Carlo standard errors, in units of probability; 0 for
                     exact entries, NAN if no error could be estimated */
    double *ess;  /**< same shape as p: effective sample sizes; NAN for exact entries */
    double *rhat; /**< same shape as p: R-hat; NAN if undefined */
    double log_evidence; /**< ln P(evidence); NAN if it is not known, see gbs_report.log_z */
    int converged;       /**< 1 or 0: whether the probabilities can be trusted */
    int reserved;        /**< 0 */
    char verdict[256];   /**< one sentence that gives the reason */
} gbs_answer;

/**
 * Find P(X = x | evidence) for every state x of some variables X: reads the evidence, makes and
 * executes a run, and collects the marginals.
 *
 * @param evidence NULL or "" for none, else text for gbs_evidence_add(), such as "smoke=yes,
 *         age!=old".
 * @param names    NULL for all variables, else names as gbs_model_find_variable() takes them, with
 *                 ',' between; names that contain commas are found too.
 * @param options  NULL for the defaults: the answer is exact if exact inference is cheap; otherwise
 *         it is sampled until every standard error is at most 0.005.
 * @param answer   out, overwritten without being freed first; free it with gbs_answer_free().
 * @return GBS_OK; GBS_STOPPED, with an answer, if a limit of the options ended the run early;
 * errors of gbs_evidence_add(), gbs_model_find_variable(), gbs_run_new() and gbs_run_execute(), and
 * GBS_ERR_ARGUMENT for a variable that is named twice. The answer is untouched on failure.
 */
GBS_API GBS_MUST_USE gbs_status gbs_query(const gbs_model *model, const char *evidence,
                                          const char *names, const gbs_run_options *options,
                                          gbs_answer *answer, gbs_error *err);
/** Free the arrays of an answer and set all fields except `size` to zero. NULL is allowed. */
GBS_API void gbs_answer_free(gbs_answer *answer);

#ifdef __cplusplus
}
#endif
#endif
