/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the parameters of a model in the order of gbs_sensitivities, and computes the effect of a
 * change of one parameter. */
#ifndef GBSI_SENSITIVITY_PARAMETERS_H
#define GBSI_SENSITIVITY_PARAMETERS_H

#include "gibbsite/exact.h"
#include "gibbsite/sensitivity.h"
#include "sensitivity/reduced.h"

/* Fills the answer except for p and the derivatives, for which the function only allocates memory.
 * @param first [factors + likelihoods of evidence + 1] out: number of the first parameter of each
 * factor and likelihood. The caller frees the array by gbsi_free(). */
gbs_status gbsi_parameters_list(const gbs_model *model, const gbs_evidence *evidence,
                                gbs_sensitivities *answer, size_t **first, gbs_error *err);

/* The meaning of w for gbsi_parameters_move(): */
typedef enum gbsi_moved {
    GBSI_MOVED_SUM,   /* F(s): the part of the sum F in which the scope is in state s */
    GBSI_MOVED_MIXED, /* F(s) or, if t(s) is 0, the sum without the factor; NAN: not known */
    GBSI_MOVED_APART, /* F(s) / t(s) of a conditional table, which is the sum without the factor */
    GBSI_MOVED_BOUND, /* bounds of the values of GBSI_MOVED_MIXED; the results are then bounds, too
                       */
} gbsi_moved;

/* Computes the derivatives of F, a sum over states, by each parameter of a factor [M55]. The
 * derivatives are linear in w. For a conditional table, dF/dt(i|u) is F(i,u) / t(i|u) minus the
 * loss of the other entries, or NAN if t is 0 and `what` is not GBSI_MOVED_APART. For a table,
 * dF/dtheta is F(s). For a weight, the derivative is the sum over s of phi(s) F(s). @param w [joint
 * states of the free variables of the scope] @param out [parameters of the factor] @param room [2 *
 * arity of the child] */
void gbsi_parameters_move(const gbsi_reduced *reduced, size_t factor, gbsi_moved what,
                          const double *w, double *out, double *room);

/* Computes the derivatives for the conditional table of a barren variable, which does not affect
 * the sum. A derivative is 0, or NAN for an entry in a column without other positive entries.
 * @param out [parameters of the factor] 0 in. */
void gbsi_parameters_move_nothing(const gbsi_reduced *reduced, size_t factor, double *out,
                                  double *room);

/* Computes derivatives for the table of a cause in the chain of a noisy factor. The table of a
 * parent is over (the parent's n states, s before, s after), and the derivatives are by the
 * inhibition in each state. The table of the leak is over s after, and the derivative is by the
 * leak. @param w [n][2][2] sums without the factor; [2] for the leak. @param out [n]. */
void gbsi_parameters_move_cause(uint32_t n, const double *w, bool is_leak, double *out);

/* Sets `low` and `high` of the answer for each formula that takes exactly two values given the
 * evidence: these are the two values. */
void gbsi_parameters_ranges(const gbsi_reduced *reduced, const size_t *first,
                            gbs_sensitivities *answer);

/* Sensitivities by a junction tree. */

/* Fills in p, the derivatives and log_p of an answer that gbsi_parameters_list() has begun. @param
 * first offsets of parameters, from gbsi_parameters_list(). @return GBS_ERR_LIMIT if no tree is
 * within the limits of the options, or weights are too far apart for doubles; GBS_ERR_STOPPED if
 * the watch stopped the computation. */
gbs_status gbsi_sensitivity_exact(const gbs_model *model, const gbs_evidence *evidence,
                                  const gbs_exact_options *options, gbsi_watch *watch,
                                  const size_t *first, gbs_sensitivities *answer, gbs_error *err);

/* Sensitivities from the draws of a run. */

/* Fills in the same members as gbsi_sensitivity_exact(), from a sampling run, with standard errors
 * and the verdict of the run. @param options options with the method SAMPLE. @return GBS_STOPPED
 * with an answer, or an error of gbs_run_execute(). */
gbs_status gbsi_sensitivity_sampled(const gbs_model *model, const gbs_evidence *evidence,
                                    const gbs_run_options *options,
                                    const gbs_run_callbacks *callbacks, const size_t *first,
                                    gbs_sensitivities *answer, gbs_error *err);

#endif
