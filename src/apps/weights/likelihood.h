/* SPDX-License-Identifier: Apache-2.0 */
/* The likelihood of rows, complete or not, as a function of the tied weights, by a junction tree
 * [M66]. */
#ifndef GBSI_WEIGHTS_LIKELIHOOD_H
#define GBSI_WEIGHTS_LIKELIHOOD_H

#include "learn/rows.h"

/* ---- learnt.c ------------------------------------------------------------------------------- */

/* The tied weights that are learnt. A weight is learnt if it is not fixed and some factor is tied
 * to it. */
typedef struct gbsi_learnt {
    gbsi_factors unit; /* the model's factors, in which the weight of a factor that is tied to a
                          learnt weight is its feature; only the array of weights is owned */
    uint32_t n;
    uint32_t *weight; /* [n] numbers of the learnt weights in the model */
    uint32_t *of;     /* [n_factors] learnt weight of the factor, 0 to n - 1, or GBSI_NONE */
} gbsi_learnt;

/* Finds the learnt weights. Zero-initialise the struct, and call gbsi_learnt_free() even after a
 * failure. */
gbs_status gbsi_learnt_find(const gbs_model *model, gbsi_learnt *learnt, gbs_error *err);
void gbsi_learnt_free(gbsi_learnt *learnt);

/* ---- likelihood.c --------------------------------------------------------------------------- */

typedef struct gbsi_likelihood gbsi_likelihood;

/* Borrows all arguments. @param memory_limit bytes. @return GBS_ERR_LIMIT if no junction tree is
 * within the limit, or a factor is too large for a table; GBS_ERR_IMPOSSIBLE if the model gives a
 * complete row weight 0. */
gbs_status gbsi_likelihood_new(const gbs_model *model, const gbsi_learnt *learnt,
                               const gbs_data *data, uint64_t memory_limit, gbsi_watch *watch,
                               gbsi_likelihood **out, gbs_error *err);
void gbsi_likelihood_free(gbsi_likelihood *likelihood);
size_t
gbsi_likelihood_n(const gbsi_likelihood *likelihood); /* @return the number of learnt weights. */

/* Computes the sum over rows of weight times ln P(observed values of the row), and its gradient.
 * @param w [n]. @param gradient [n] out, or NULL. @return GBS_ERR_STOPPED if the watch stopped the
 * computation; GBS_ERR_IMPOSSIBLE for a row of probability 0. */
gbs_status gbsi_likelihood_at(gbsi_likelihood *likelihood, const double *w, double *value,
                              double *gradient, gbs_error *err);
/* Approximates the diagonal of minus the second derivatives of the log-likelihood for complete
 * rows. An entry is the weight of all rows times the variance of the feature, computed as if the
 * variables of each factor were independent. @param diagonal [n] out. */
gbs_status gbsi_likelihood_diagonal(gbsi_likelihood *likelihood, const double *w, double *diagonal,
                                    gbs_error *err);
/* Computes minus the second derivatives of the log-likelihood, by differences of the gradient.
 * @param information [n][n] out, the lower triangle. */
gbs_status gbsi_likelihood_information(gbsi_likelihood *likelihood, const double *w,
                                       double *information, gbs_error *err);
/* Multiplies minus the second derivatives by a vector, by the difference of two gradients along the
 * vector. @param along [n]. @param product [n] out. */
gbs_status gbsi_likelihood_product(gbsi_likelihood *likelihood, const double *w,
                                   const double *along, double *product, gbs_error *err);
/* Computes the sum over rows of `weight`, which may have any sign, times the gradient of ln P of
 * the row. @param weight [n_distinct]. @param sum [n] out. */
gbs_status gbsi_likelihood_scores(gbsi_likelihood *likelihood, const double *w,
                                  const double *weight, double *sum, gbs_error *err);

#endif
