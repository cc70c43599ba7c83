/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a model in the order of gbs_sensitivities, and what a change of one does. */
#ifndef GBSI_SENSITIVITY_PARAMETERS_H
#define GBSI_SENSITIVITY_PARAMETERS_H

#include "gibbsite/sensitivity.h"
#include "sensitivity/reduced.h"

/* Fills the answer but for p and derivatives, with room for these.
 * @param first [factors + likelihoods of evidence + 1] out, gbsi_free() it: the first parameter. */
gbs_status gbsi_parameters_list(const gbs_model *model, const gbs_evidence *evidence,
                                gbs_sensitivities *answer, size_t **first, gbs_error *err);

/* How a function changes with each parameter of a factor [M55]: linear in w.
 *
 * Let F(s) be the weight that a sum over states has where the free variables of the factor's scope
 * are in state s. Conditional tables: dF/dt(i|u) = F(i,u) / t(i|u) less what the others lose;
 * tables and weights: dF/dtheta = F(s), sum over s of phi(s) F(s).
 *
 * @param w      [joint states of the free part] F, or with `apart` F / t of a conditional table,
 *               which is the sum without the factor; overwritten.
 * @param out    [parameters of the factor]
 * @param room   [2 * arity of the child] */
void gbsi_parameters_move(const gbsi_reduced *reduced, size_t factor, bool apart, const double *w,
                          double *out, double *room);

#endif
