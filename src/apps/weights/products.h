/* SPDX-License-Identifier: Apache-2.0 */
/* Newton's steps and standard errors of tied weights without a matrix of second derivatives, by
 * products of these derivatives with vectors [M73]. */
#ifndef GBSI_WEIGHTS_PRODUCTS_H
#define GBSI_WEIGHTS_PRODUCTS_H

#include "learn/work.h"
#include "weights/likelihood.h"
#include "weights/pseudo.h"

/* The struct borrows all pointers except the arrays that gbsi_products_init() allocates. */
typedef struct gbsi_products {
    const gbsi_pseudo *pseudo;
    gbsi_likelihood *likelihood; /* likelihood; NULL if H belongs to the pseudo-likelihood */
    const gbs_data *data;
    gbsi_work *work;
    double l2;
    const double *w; /* [n] weights at which second derivatives are taken; the caller sets this
                        member before each use */
    size_t n;
    double *room;     /* [5][n] vectors of conjugate gradients */
    double *diagonal; /* [n] diagonal of H, in `room`; NULL: not known */
    uint64_t seed;
    double *factor; /* [rows] factors of the rows in a probe */
    gbs_status status;
    gbs_error *err;
} gbsi_products;

/* Set the struct to zero except for the borrowed members, and call gbsi_products_free() even after
 * a failure. */
gbs_status gbsi_products_init(gbsi_products *products, gbs_error *err);
void gbsi_products_free(gbsi_products *products);

/* Computes Newton's step with a relative residual of 0.01, or until a direction has no curvature.
 * @param gradient, step [n]. */
gbs_status gbsi_products_step(gbsi_products *products, const double *gradient, double *step,
                              gbs_error *err);

/* Estimates standard errors by probes with signs from seed. @param known out: whether the data and
 * the penalty determine every weight and sum of weights; otherwise `error` is undefined. @param
 * error [n] out. */
gbs_status gbsi_products_errors(gbsi_products *products, uint64_t count, double *error, bool *known,
                                gbs_error *err);

#endif
