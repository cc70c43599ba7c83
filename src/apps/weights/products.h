/* SPDX-License-Identifier: Apache-2.0 */
/* Tied weights without a matrix of second derivatives: Newton's steps and standard errors by
 * products of it with vectors [M73]. */
#ifndef GBSI_WEIGHTS_PRODUCTS_H
#define GBSI_WEIGHTS_PRODUCTS_H

#include "learn/work.h"
#include "weights/likelihood.h"
#include "weights/pseudo.h"

/* All pointers are borrowed except for those that gbsi_products_init() allocates. */
typedef struct gbsi_products {
    const gbsi_pseudo *pseudo;
    gbsi_likelihood *likelihood; /* NULL: the pseudo-likelihood */
    const gbs_data *data;
    gbsi_work *work;
    double l2;
    const double *w; /* [n] weights at which second derivatives are taken; set before use */
    size_t n;
    double *room;     /* [5][n] of conjugate gradients */
    double *diagonal; /* [n] of the matrix, in room, or NULL: not known */
    uint64_t seed;
    double *factor; /* [rows] of a probe */
    gbs_status status;
    gbs_error *err;
} gbsi_products;

/* Set the struct to zero except for the borrowed members; call the free function even after a
 * failure. */
gbs_status gbsi_products_init(gbsi_products *products, gbs_error *err);
void gbsi_products_free(gbsi_products *products);

/* Computes Newton's step to within a hundredth, or as far as directions have curvature.
 * @param gradient, step [n]. */
gbs_status gbsi_products_step(gbsi_products *products, const double *gradient, double *step,
                              gbs_error *err);

/* Estimates standard errors by probes with signs from seed.
 * @param known out: whether the data and the penalty determine every weight and sum of weights;
 * otherwise error is of no use.
 * @param error [n] out. */
gbs_status gbsi_products_errors(gbsi_products *products, uint64_t count, double *error, bool *known,
                                gbs_error *err);

#endif
