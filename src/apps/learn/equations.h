/* SPDX-License-Identifier: Apache-2.0 */
/* Solves linear equations with a symmetric matrix, by its Cholesky factor. The factorisation tells
 * whether the matrix is positive definite. */
#ifndef GBSI_LEARN_EQUATIONS_H
#define GBSI_LEARN_EQUATIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/watch.h"

/* Computes the factor `root` of root root^T = a + more * unit matrix. @param a [n][n], of which the
 * lower triangle is read.
 * @param root [n][n] out, the lower triangle. @param watch NULL: the factorisation cannot be
 * stopped. @return whether the matrix is positive definite and each pivot is above the share
 * `pivot` of its diagonal entry; false also if the watch stopped the factorisation. */
bool gbsi_cholesky(const double *a, size_t n, double more, double pivot, double *root,
                   gbsi_watch *watch);
/* Solves root root^T y = x; x becomes the solution y. */
void gbsi_cholesky_solve(const double *root, size_t n, double *x);

/* ---- conjugate.c ---------------------------------------------------------------------------- */

/* Linear equations with a symmetric positive definite matrix of which only products with vectors
 * are known. */
typedef struct gbsi_conjugate {
    size_t n;
    double *y;              /* [n] out: the solution */
    double *r;              /* [n] in: the right side; out: the residual */
    double *d, *product;    /* [n] scratch */
    const double *diagonal; /* [n] positive numbers near the diagonal of the matrix, for Jacobi's
                               preconditioner; the length of a vector x is the length of x_k /
                               sqrt(diagonal_k). NULL: all entries are 1 */
    double left; /* the solver has converged if the length of the residual is at most this share of
                    the length of the right side */
    double flat; /* a direction whose curvature is below this share of the largest curvature so far
                    counts as flat */
    bool (*multiply)(void *context, const double *d,
                     double *product); /* computes the product of the matrix and a vector; returns
                                          false if it was stopped */
    void *context;
} gbsi_conjugate;

#define GBSI_CONJUGATE_LEFT 1e-4 /* the value of gbsi_conjugate.left for standard errors */

/* Solves H y = r. Sums are computed by one thread. @return false if the solver was stopped, did not
 * converge after 2000 products, or met a direction without curvature. y is then the last iterate
 * or, if the first direction has no curvature, the first direction (Nocedal & Wright 2006,
 * Numerical Optimization, algorithm 7.1). */
bool gbsi_conjugate_solve(const gbsi_conjugate *c);

#endif
