/* SPDX-License-Identifier: Apache-2.0 */
/* The likelihood of rows, complete or not, as a function of the tied weights, by a junction tree
 * [M66]. */
#ifndef GBSI_WEIGHTS_LIKELIHOOD_H
#define GBSI_WEIGHTS_LIKELIHOOD_H

#include "learn/rows.h"

/* ---- learnt.c ------------------------------------------------------------------------------- */

/* Finds the tied weights that are learnt: those that are not fixed and that a factor is tied to. */
typedef struct gbsi_learnt {
    gbsi_factors unit; /* the model's, but the weight of a factor tied to a learnt weight is its
                          feature; only the array of weights is ours */
    uint32_t n;
    uint32_t *weight; /* [n] their numbers in the model */
    uint32_t *of;     /* [n_factors] 0 to n - 1: the learnt weight of a factor, or GBSI_NONE */
} gbsi_learnt;

/* Zero-initialise; free in any case. */
gbs_status gbsi_learnt_find(const gbs_model *model, gbsi_learnt *learnt, gbs_error *err);
void gbsi_learnt_free(gbsi_learnt *learnt);

/* ---- likelihood.c --------------------------------------------------------------------------- */

typedef struct gbsi_likelihood gbsi_likelihood;

/* All is borrowed. @param memory_limit bytes.
 * @return GBS_ERR_LIMIT if no junction tree holds, or a factor is too long for a table;
 *         GBS_ERR_IMPOSSIBLE for a complete row of weight 0. */
gbs_status gbsi_likelihood_new(const gbs_model *model, const gbsi_learnt *learnt,
                               const gbs_data *data, uint64_t memory_limit, gbsi_watch *watch,
                               gbsi_likelihood **out, gbs_error *err);
void gbsi_likelihood_free(gbsi_likelihood *likelihood);
size_t gbsi_likelihood_n(const gbsi_likelihood *likelihood); /* weights that are learnt */

/* Computes the sum over rows of weight times ln P(observed values of the row), and its gradient.
 * @param w [n].
 * @param gradient [n] out, or NULL.
 * @return GBS_ERR_STOPPED by the watch; GBS_ERR_IMPOSSIBLE for a row of probability 0. */
gbs_status gbsi_likelihood_at(gbsi_likelihood *likelihood, const double *w, double *value,
                              double *gradient, gbs_error *err);
/* Approximates the diagonal of minus its second derivatives for complete rows: the weight of all
 * rows times the variances of the features, with the variables of each factor taken as independent.
 * @param diagonal [n] out. */
gbs_status gbsi_likelihood_diagonal(gbsi_likelihood *likelihood, const double *w, double *diagonal,
                                    gbs_error *err);
/* Computes minus its second derivatives, by differences of the gradient.
 * @param information [n][n] out, the lower triangle. */
gbs_status gbsi_likelihood_information(gbsi_likelihood *likelihood, const double *w,
                                       double *information, gbs_error *err);
/* Computes the same times a vector, by the difference of two gradients along it.
 * @param along [n].
 * @param product [n] out. */
gbs_status gbsi_likelihood_product(gbsi_likelihood *likelihood, const double *w,
                                   const double *along, double *product, gbs_error *err);
/* Computes the sum over rows of these weights, of any sign, times the gradient of ln P of each.
 * @param weight [n_distinct].
 * @param sum [n] out. */
gbs_status gbsi_likelihood_scores(gbsi_likelihood *likelihood, const double *w,
                                  const double *weight, double *sum, gbs_error *err);

#endif
