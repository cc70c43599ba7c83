/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Exact answers about a model given evidence: ln Z, the most probable state, and that of some
 * variables with the others summed out.
 *
 * Connected components (of what evidence and hard zeros leave free) are answered one by one, by
 * enumeration of up to GBS_EXACT_MAX_STATES states each. That is how, not what: a component too
 * large for it is GBS_ERR_LIMIT today and may be answered by a junction tree tomorrow, with the
 * same calls.
 */
#ifndef GIBBSITE_EXACT_H
#define GIBBSITE_EXACT_H

#include "gibbsite/model.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GBS_EXACT_MAX_STATES (UINT64_C(1) << 20) /* of a component */

/**
 * ln of the partition function, restricted to the evidence: ln of the sum over all states that
 * agree with it of exp(sum of factors), likelihoods of virtual evidence multiplied in.
 *
 * @param evidence NULL for none. @param log_z out, natural logarithm.
 * @return GBS_ERR_IMPOSSIBLE if no state has positive weight (ln Z would be minus infinity);
 *         GBS_ERR_LIMIT, with the figure, if a component is too large; GBS_ERR_MEMORY.
 */
GBS_API gbs_status gbs_exact_log_z(const gbs_model *model, const gbs_evidence *evidence,
                                   double *log_z, gbs_error *err);

/**
 * The most probable state of all variables; among equals the first in the order of the variables,
 * per component.
 *
 * @param incumbent   NULL, or [n_variables] a state of positive probability: components that are
 *                    too large then keep it instead of being GBS_ERR_LIMIT.
 * @param state       [n_variables], out, observed ones included; may be incumbent itself.
 * @param log_density out or NULL: ln of its unnormalised probability, as in gbs_run_callbacks.draw.
 * @param n_kept      out or NULL: variables whose state was taken from incumbent.
 * @return as gbs_exact_log_z(); GBS_ERR_ARGUMENT if incumbent has probability zero. Outputs are
 *         untouched on failure.
 */
GBS_API gbs_status gbs_exact_map(const gbs_model *model, const gbs_evidence *evidence,
                                 const uint32_t *incumbent, uint32_t *state, double *log_density,
                                 uint32_t *n_kept, gbs_error *err);

/**
 * The most probable state of some variables, all others summed out (marginal MAP).
 *
 * @param query  [n] distinct variables; observed ones keep their state.
 * @param state  [n], out, in the order of the query.
 * @param log_p  out or NULL: ln of the sum over the other variables, unnormalised.
 * @return as gbs_exact_log_z(); GBS_ERR_ARGUMENT if query is out of range or repeats.
 */
GBS_API gbs_status gbs_exact_mmap(const gbs_model *model, const gbs_evidence *evidence, uint32_t n,
                                  const uint32_t *query, uint32_t *state, double *log_p,
                                  gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
