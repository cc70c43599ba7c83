/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Joint histograms of a few variables: how often each of their joint states was seen, chain by
 * chain, beside its exact probability. Joint states are numbered in mixed radix, the first of the
 * chosen variables slowest.
 *
 *     gbs_joint *joint = NULL;
 *     const uint32_t variable[2] = {0, 1};
 *     gbs_joint_new(model, 2, variable, n_chains, &joint, &err);
 *     gbs_joint_add(joint, chain, state, &err); // in gbs_run_callbacks.draw
 *     gbs_joint_exact(model, NULL, 2, variable, p, &err);
 *     double l1 = gbs_joint_l1(joint, chain, p);
 *
 * Threads: different objects may be used from different threads at the same time; one object from
 * several threads only where nothing changes it (a built model may be shared by all).
 * Out of range: an id or number that does not exist, and NULL for an object or output, is
 * GBS_ERR_ARGUMENT
 * from calls that return a status; from others 0, NULL or NAN, as stated. NULL options and NULL
 * evidence stand for the defaults and for none.
 */
#ifndef GIBBSITE_JOINT_H
#define GIBBSITE_JOINT_H

#include "gibbsite/model.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GBS_JOINT_MAX_CELLS (UINT64_C(1) << 28) /* over all chains */

typedef struct gbs_joint gbs_joint;

/**
 * @param variable [n] distinct; copied. n = 0 stands for all variables, in order.
 * @param n_chains histograms kept apart.
 * @return GBS_ERR_ARGUMENT if a variable is out of range or repeats; GBS_ERR_LIMIT, with the
 *         figure, beyond GBS_JOINT_MAX_CELLS.
 */
GBS_API gbs_status gbs_joint_new(const gbs_model *model, uint32_t n, const uint32_t *variable,
                                 uint32_t n_chains, gbs_joint **joint, gbs_error *err);
GBS_API void gbs_joint_free(gbs_joint *joint); /**< NULL is allowed */
/** @return the number of joint states. */
GBS_API size_t gbs_joint_n_cells(const gbs_joint *joint);
/** Count a draw. @param state [n_variables of the model], the user's numbering.
 *  @return GBS_ERR_ARGUMENT for a chain or a state out of range: nothing is counted. */
GBS_API gbs_status gbs_joint_add(gbs_joint *joint, uint32_t chain, const uint32_t *state,
                                 gbs_error *err);
/** @return [n_cells] counts of a chain, valid while the histogram is; NULL out of range. */
GBS_API const uint64_t *gbs_joint_counts(const gbs_joint *joint, uint32_t chain);
/** @return how many draws of a chain were counted; 0 out of range. */
GBS_API uint64_t gbs_joint_total(const gbs_joint *joint, uint32_t chain);
/** sum |count / total - p|, twice the total variation; NAN before the first draw and out of
 *  range.
 *  @param p [n_cells]. */
GBS_API double gbs_joint_l1(const gbs_joint *joint, uint32_t chain, const double *p);

/**
 * The exact joint distribution of some variables given evidence, by enumeration.
 *
 * @param evidence NULL for none. @param p [product of the arities], out, untouched on failure.
 * @return GBS_ERR_LIMIT if the model has more than 2^22 free states; GBS_ERR_IMPOSSIBLE;
 *         GBS_ERR_ARGUMENT as gbs_joint_new().
 */
GBS_API gbs_status gbs_joint_exact(const gbs_model *model, const gbs_evidence *evidence, uint32_t n,
                                   const uint32_t *variable, double *p, gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
