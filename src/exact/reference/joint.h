/* SPDX-License-Identifier: Apache-2.0 */
/* Joint histograms of a few variables, for the laboratory and for tests. A histogram counts the
 * draws of each joint state in a chain; exact probabilities are computed for comparison. Joint
 * states are numbered in mixed radix; the first chosen variable varies slowest.
 *
 * If an id or index does not exist, functions that return a status return GBS_ERR_ARGUMENT. Other
 * functions return 0, NULL or NAN, as their comments state. */
#ifndef GBSI_REFERENCE_JOINT_H
#define GBSI_REFERENCE_JOINT_H

#include "gibbsite/model.h"

#define GBSI_JOINT_MAX_CELLS (UINT64_C(1) << 28) /* limit on the cells of all chains together */

typedef struct gbsi_joint gbsi_joint;

/*
 * Make empty histograms, one for each chain.
 *
 * @param variable [n] distinct variable ids; copied. n = 0 stands for all variables, in order.
 * @param n_chains number of histograms.
 * @return GBS_ERR_ARGUMENT if an id is out of range or occurs twice; GBS_ERR_LIMIT, with the number
 *         of cells, beyond GBSI_JOINT_MAX_CELLS.
 */
gbs_status gbsi_joint_new(const gbs_model *model, uint32_t n, const uint32_t *variable,
                          uint32_t n_chains, gbsi_joint **out, gbs_error *err);
void gbsi_joint_free(gbsi_joint *joint); /* NULL is allowed */
/* @return the number of joint states. */
size_t gbsi_joint_n_cells(const gbsi_joint *joint);
/* Count a draw. @param state [number of variables of the model], as in gbs_run_callbacks.draw.
 *  @return GBS_ERR_ARGUMENT for a chain or a state out of range; the draw is then not counted. */
gbs_status gbsi_joint_add(gbsi_joint *joint, uint32_t chain, const uint32_t *state, gbs_error *err);
/* @return [n_cells] counts of a chain, valid until the histogram is freed; NULL for a chain out of
 *  range. */
const uint64_t *gbsi_joint_counts(const gbsi_joint *joint, uint32_t chain);
/* @return the number of counted draws of a chain; 0 for a chain out of range. */
uint64_t gbsi_joint_total(const gbsi_joint *joint, uint32_t chain);
/* @return the sum over cells of |count / total - p|, which is twice the total variation distance;
 * NAN before the first draw and for a chain out of range. @param p [n_cells], probabilities. */
double gbsi_joint_l1(const gbsi_joint *joint, uint32_t chain, const double *p);

/*
 * Compute the exact joint distribution of some variables given evidence, by enumeration.
 *
 * @param evidence NULL for none. @param p [product of the arities], out, untouched on failure.
 * @return GBS_ERR_LIMIT if the model has more than 2^22 free states; GBS_ERR_IMPOSSIBLE;
 *         GBS_ERR_ARGUMENT if an id is out of range or occurs twice.
 */
gbs_status gbsi_joint_exact(const gbs_model *model, const gbs_evidence *evidence, uint32_t n,
                            const uint32_t *variable, double *p, gbs_error *err);

#endif
