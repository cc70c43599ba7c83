/* SPDX-License-Identifier: Apache-2.0 */
/* Linear equations of a symmetric positive definite matrix that is known by its products alone. */
#ifndef GBSI_LEARN_CONJUGATE_H
#define GBSI_LEARN_CONJUGATE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gbsi_conjugate {
    size_t n;
    double *y;              /* [n] out */
    double *r;              /* [n] in: the right side; out: the residual */
    double *d, *product;    /* [n] scratch */
    const double *diagonal; /* [n] above 0, near that of the matrix: Jacobi's preconditioner, which
                               takes lengths to be those of x_k / sqrt(diagonal_k); NULL: ones */
    double left;            /* share of its length that may be left of the right side */
    double flat; /* relative to the largest curvature so far: a direction of smaller curvature
                    counts as flat */
    bool (*multiply)(void *context, const double *d, double *product); /* false: stopped */
    void *context;
} gbsi_conjugate;

#define GBSI_CONJUGATE_LEFT 1e-4 /* for standard errors */

/* Solves H y = r. Sums are computed by one thread.
 * @return false if it was stopped, did not converge after 2000 products, or met a direction without
 * curvature; y is then as far as it came, or, if the first direction has no curvature, that
 * direction (Nocedal & Wright 2006, Numerical Optimization, algorithm 7.1). */
bool gbsi_conjugate_solve(const gbsi_conjugate *c);

#endif
