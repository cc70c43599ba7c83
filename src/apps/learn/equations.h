/* SPDX-License-Identifier: Apache-2.0 */
/* Linear equations of a symmetric matrix that is positive definite, or found not to be. */
#ifndef GBSI_LEARN_EQUATIONS_H
#define GBSI_LEARN_EQUATIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/watch.h"

/* root root^T = a + more * unit matrix. @param a [n][n], of which the lower triangle is read.
 * @param root [n][n] out, the lower triangle. @param watch NULL: nobody waits.
 * @return whether the matrix is positive definite, with each pivot above a share of its diagonal
 * entry; false also if the watch stopped the factorisation. */
bool gbsi_cholesky(const double *a, size_t n, double more, double pivot, double *root,
                   gbsi_watch *watch);
/* Solves root root^T y = x; x becomes the solution y. */
void gbsi_cholesky_solve(const double *root, size_t n, double *x);

/* ---- conjugate.c ---------------------------------------------------------------------------- */

/* Linear equations of a symmetric positive definite matrix that is known by its products alone. */
typedef struct gbsi_conjugate {
    size_t n;
    double *y;              /* [n] out */
    double *r;              /* [n] in: the right side; out: the residual */
    double *d, *product;    /* [n] scratch */
    const double *diagonal; /* [n] above 0, near that of the matrix: Jacobi's preconditioner, which
                               takes lengths to be those of x_k / sqrt(diagonal_k); NULL: a diagonal
                               of ones */
    double left;            /* share of its length that may be left of the right side */
    double flat; /* relative to the largest curvature so far: a direction of smaller curvature
                    counts as flat */
    bool (*multiply)(void *context, const double *d, double *product); /* false: stopped */
    void *context;
} gbsi_conjugate;

#define GBSI_CONJUGATE_LEFT 1e-4 /* for standard errors */

/* Solves H y = r. Sums are computed by one thread.
 * @return false if it was stopped, did not converge after 2000 products, or met a direction without
 * curvature. y is then the last iterate or, if the first direction has no curvature, that direction
 * (Nocedal & Wright 2006, Numerical Optimization, algorithm 7.1). */
bool gbsi_conjugate_solve(const gbsi_conjugate *c);

#endif
