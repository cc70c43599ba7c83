/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Many cases of one model. All cases share a list of variables that may be observed and a list of
 * variables whose marginals are asked for.
 *
 *     gbs_cases *cases = NULL;
 *     const uint32_t observed[2] = {0, 3}, query[1] = {5};
 *     const uint32_t state[2][2] = {{1, 0}, {1, GBS_UNOBSERVED}}; // two cases
 *     gbs_cases_new(model, NULL, NULL, 2, observed, 1, query, &cases, &err);
 *     gbs_case_answers answers = {.size = sizeof answers, .p = p};
 *     gbs_cases_answer(cases, 2, &state[0][0], NULL, &answers, NULL, &err);
 *     double p1 = p[gbs_cases_n_states(cases)]; // of the first state of query[0] in case 1
 *
 * If junction trees of the model fit memory, they are made once, and each case takes one
 * propagation in these trees [M22]. Otherwise every case is a run (run.h) with the same options and
 * seed. Cases are answered on all threads. The answer to a case does not depend on the other cases
 * or on the threads.
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes this object; any number of threads can share a built model.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults; NULL evidence means no evidence.
 */
#ifndef GIBBSITE_CASES_H
#define GIBBSITE_CASES_H

#include "gibbsite/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Value in place of a state for a variable that is not observed in a case. */
#define GBS_UNOBSERVED UINT32_MAX

typedef struct gbs_cases gbs_cases;

/** Arrays of the caller that receive the answers. An array that is NULL is not filled. */
typedef struct gbs_case_answers {
    size_t size; /**< sizeof(gbs_case_answers) */
    /** [n][gbs_cases_n_states()] out: for each case, the probability of each state of each query
     *  variable, variable by variable; NAN in a case of probability 0. */
    double *p;
    double *mcse;   /**< same shape as p, out: Monte Carlo standard error; 0 for exact entries */
    double *log_p;  /**< [n] out: ln P(case | evidence); minus infinity for a case of probability 0,
                         NAN for a case that was sampled */
    int *converged; /**< [n] out: 1 if the answer has converged (gbs_report.converged) or is exact,
                       else 0 */
} gbs_case_answers;

/**
 * Prepare to answer cases.
 *
 * @param model    borrowed, outlives the cases.
 * @param evidence the observations that all cases share; copied.
 * @param options  options of the run, copied; the objects that its pointers refer to must outlive
 * the cases. Method AUTO makes junction trees if the predicted time and memory of a case are within
 * the limits of AUTO for a run. EXACT makes junction trees if they fit memory. time_s counts from
 * this call on, over all cases; if the trees are not finished after 0.4 times time_s, AUTO gives
 * them up and samples.
 * @param column [n_columns] distinct ids of all variables that a case may observe; copied.
 * @param query    [n_query] distinct ids of the variables whose marginals are asked for; copied.
 * @return the values of gbs_run_new(); GBS_ERR_ARGUMENT if an id is out of range or occurs twice.
 */
GBS_API GBS_MUST_USE gbs_status gbs_cases_new(const gbs_model *model, const gbs_evidence *evidence,
                                              const gbs_run_options *options, uint32_t n_columns,
                                              const uint32_t *column, uint32_t n_query,
                                              const uint32_t *query, gbs_cases **cases,
                                              gbs_error *err);
GBS_API void gbs_cases_free(gbs_cases *cases); /**< NULL is allowed */
/** @return the sum of the numbers of states of the query's variables. */
GBS_API size_t gbs_cases_n_states(const gbs_cases *cases);
/** @return 1 if junction trees answer the cases; 0 if each case is a run. */
GBS_API int gbs_cases_is_exact(const gbs_cases *cases);
/** @return the number of cases that are best answered in one call. A call with this number takes a
 *         fraction of a second and gives some MiB of answers. Any other number gives the same
 *         answers, except where time_s ends runs: the cases of a call share the time that is
 * left. */
GBS_API size_t gbs_cases_at_once(const gbs_cases *cases);

/**
 * Answer some cases. Work for equal cases is done only once.
 *
 * @param state     [n][n_columns] for each case, a state of the variable of each column, or
 *         GBS_UNOBSERVED. A state that contradicts the evidence makes the case impossible.
 * @param callbacks NULL, or callbacks for progress; the callback for draws is not called.
 * @param n_done    out or NULL: number of cases, from the first, that were answered. If a case's
 *         share of time_s ended its run, its answers are the estimates so far, or NAN, and
 *         `converged` is 0.
 * @return GBS_OK; GBS_STOPPED if time_s or the callback ended the call; GBS_ERR_ARGUMENT for a
 *         state out of range (no case is then answered); errors of gbs_run_execute(), with two
 *         exceptions: a case that is impossible has probability 0 as its answer, and all numbers
 *         are NAN for a case in which no state of positive probability was found.
 */
GBS_API GBS_MUST_USE gbs_status gbs_cases_answer(gbs_cases *cases, size_t n, const uint32_t *state,
                                                 const gbs_run_callbacks *callbacks,
                                                 gbs_case_answers *answers, size_t *n_done,
                                                 gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
