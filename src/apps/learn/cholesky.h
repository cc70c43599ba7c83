/* SPDX-License-Identifier: Apache-2.0 */
/* Linear equations of a symmetric matrix that is positive definite, or found not to be. */
#ifndef GBSI_LEARN_CHOLESKY_H
#define GBSI_LEARN_CHOLESKY_H

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

#endif
