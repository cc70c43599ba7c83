/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a model in the order of gbs_sensitivities, and the effect of changing one. */
#ifndef GBSI_SENSITIVITY_PARAMETERS_H
#define GBSI_SENSITIVITY_PARAMETERS_H

#include "gibbsite/exact.h"
#include "gibbsite/sensitivity.h"
#include "sensitivity/reduced.h"

/* Fills the answer except for p and the derivatives, for which it allocates room.
 * @param first [factors + likelihoods of evidence + 1] out, gbsi_free() it: the first parameter of
 * each. */
gbs_status gbsi_parameters_list(const gbs_model *model, const gbs_evidence *evidence,
                                gbs_sensitivities *answer, size_t **first, gbs_error *err);

/* The meaning of w for gbsi_parameters_move(): */
typedef enum gbsi_moved {
    GBSI_MOVED_SUM,   /* F(s), the weight that F has where the scope is in state s */
    GBSI_MOVED_MIXED, /* F(s), but where t(s) is 0 the sum without the factor; NAN: not known */
    GBSI_MOVED_APART, /* for a conditional table F(s) / t(s), which is the sum without the factor */
    GBSI_MOVED_BOUND, /* bounds of what MIXED has; then out are bounds, too */
} gbsi_moved;

/* Computes how a sum over states F changes with each parameter of a factor [M55], which is linear
 * in w. Conditional tables: dF/dt(i|u) = F(i,u) / t(i|u) less the loss of the other entries, NAN if
 * t is 0 unless w is apart; tables: dF/dtheta = F(s); weights: sum over s of phi(s) F(s).
 * @param w [joint states of the free variables of the scope]
 * @param out [parameters of the factor]
 * @param room [2 * arity of the child] */
void gbsi_parameters_move(const gbsi_reduced *reduced, size_t factor, gbsi_moved what,
                          const double *w, double *out, double *room);

/* Computes the derivatives for the conditional table of a barren variable, which does not affect
 * the sum. They are 0, or NAN for an entry whose column has no other entry to take what it loses.
 * @param out [parameters of the factor] 0 in. */
void gbsi_parameters_move_nothing(const gbsi_reduced *reduced, size_t factor, double *out,
                                  double *room);

/* Computes the derivatives for the table of a cause in the chain of a noisy factor, over (its n
 * states, s before, s after), by the inhibition in each state; for the leak, over s after alone, by
 * the leak.
 * @param w [n][2][2] apart; of the leak [2].
 * @param out [n]. */
void gbsi_parameters_move_cause(uint32_t n, const double *w, bool is_leak, double *out);

/* Finds the two values that each formula takes given the evidence, if it takes two: `low` and
 * `high` of the answer. */
void gbsi_parameters_ranges(const gbsi_reduced *reduced, const size_t *first,
                            gbs_sensitivities *answer);

/* Sensitivities by a junction tree. */

/* Fills in p, the derivatives and log_p of an answer that gbsi_parameters_list() has begun.
 * @param first offsets of parameters, from gbsi_parameters_list().
 * @return GBS_ERR_LIMIT if no tree fits the options, or weights are too far apart for doubles;
 *         GBS_ERR_STOPPED if the watch has stopped it. */
gbs_status gbsi_sensitivity_exact(const gbs_model *model, const gbs_evidence *evidence,
                                  const gbs_exact_options *options, gbsi_watch *watch,
                                  const size_t *first, gbs_sensitivities *answer, gbs_error *err);

/* Sensitivities from the draws of a run. */

/* Answers as gbsi_sensitivity_exact() does, from a run, with standard errors and the verdict of
 * that run.
 * @param options method SAMPLE. @return GBS_STOPPED with an answer; errors of gbs_run_execute(). */
gbs_status gbsi_sensitivity_sampled(const gbs_model *model, const gbs_evidence *evidence,
                                    const gbs_run_options *options,
                                    const gbs_run_callbacks *callbacks, const size_t *first,
                                    gbs_sensitivities *answer, gbs_error *err);

#endif
