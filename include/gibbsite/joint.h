/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Joint distributions of a few variables, estimated from draws of all chains, with standard errors.
 * Joint states are numbered in mixed radix; the first chosen variable varies slowest.
 *
 *     gbs_joint_estimate *joint = NULL;
 *     const uint32_t variable[2] = {0, 1};
 *     gbs_joint_estimate_new(model, NULL, 2, variable, n_chains, 1, &joint, &err);
 *     gbs_joint_estimate_add(joint, chain, state, &err); // in gbs_run_callbacks.draw
 *     gbs_joint_estimate_read(joint, p, mcse, NULL, NULL, &err);
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes this object; any number of threads can share a built model.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults; NULL evidence means no evidence.
 */
#ifndef GIBBSITE_JOINT_H
#define GIBBSITE_JOINT_H

#include "gibbsite/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An estimate of the joint distribution of some variables, from draws of all chains. */
typedef struct gbs_joint_estimate gbs_joint_estimate;

/**
 * Make an empty estimate. If the joint table fits the memory limit, gbs_exact_joint() gives the
 * exact answer.
 *
 * @param model, evidence borrowed, the model outlives the estimate; evidence may be NULL.
 * @param variable [n] distinct variable ids; copied.
 * @param n_chains number of chains of the run whose draws will be added.
 * @param average_last 1: a draw adds p(last variable | all others) to the cells with the draw's
 *         states of the other variables (Rao-Blackwellisation, [M7]). Errors are then smaller, but
 *         the draws must leave the model's distribution invariant, as GBS_DRAW_RANDOM does. 0: a
 *         draw adds 1 to its cell.
 * @return GBS_ERR_ARGUMENT if n or n_chains is 0, or an id is out of range or occurs twice;
 *         GBS_ERR_LIMIT if joint states times chains are more than 2^18.
 */
GBS_API GBS_MUST_USE gbs_status gbs_joint_estimate_new(
    const gbs_model *model, const gbs_evidence *evidence, uint32_t n, const uint32_t *variable,
    uint32_t n_chains, int average_last, gbs_joint_estimate **estimate, gbs_error *err);
GBS_API void gbs_joint_estimate_free(gbs_joint_estimate *estimate); /**< NULL is allowed */
/**
 * List the variables whose states gbs_joint_estimate_add() reads: the variables of the table and,
 * with average_last, the variables that share a factor with the last variable. A caller of
 * gbs_run_keep_draws() only needs to keep the states of these variables.
 *
 * @param model, n, variable, average_last as for gbs_joint_estimate_new().
 * @param needed   [gbs_model_n_variables()] out: ids, ascending; untouched on failure.
 * @param n_needed out: number of ids.
 */
GBS_API GBS_MUST_USE gbs_status gbs_joint_estimate_needs(const gbs_model *model, uint32_t n,
                                                         const uint32_t *variable, int average_last,
                                                         uint32_t *needed, uint32_t *n_needed,
                                                         gbs_error *err);
/** Add a draw, in the order of gbs_run_callbacks.draw: chain 0, chain 1, ..., then chain 0 again.
 * @return GBS_ERR_ARGUMENT, with nothing added, for a chain out of order or a state out of
 * range. */
GBS_API GBS_MUST_USE gbs_status gbs_joint_estimate_add(gbs_joint_estimate *estimate, uint32_t chain,
                                                       const uint32_t *state, gbs_error *err);
/**
 * Read the estimate.
 *
 * @param p    [product of the arities] out: probabilities, the last variable fastest.
 * @param mcse out or NULL, same shape: Monte Carlo standard error from batch means [M8], at least
 *         the error of a state that no draw had; NAN after too few passes.
 * @param ess out or NULL, same shape as p: effective sample size p(1-p)/mcse^2.
 * @param rhat out or NULL, same shape as p: split R-hat of the means of batches; NAN if undefined.
 * @return GBS_ERR_STATE if a chain has no draw yet; all outputs are then untouched.
 */
GBS_API GBS_MUST_USE gbs_status gbs_joint_estimate_read(const gbs_joint_estimate *estimate,
                                                        double *p, double *mcse, double *ess,
                                                        double *rhat, gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
