/* SPDX-License-Identifier: Apache-2.0 */
/* Conjugate gradients (Hestenes & Stiefel 1952, J. Res. Natl. Bur. Stand. 49:409-436). */
#include "learn/conjugate.h"

#include <string.h>

#define LEFT 1e-4
#define MOST 2000

static double product_of(const double *a, const double *b, size_t n)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; ++k) {
        sum += a[k] * b[k];
    }
    return sum;
}

bool gbsi_conjugate_solve(const gbsi_conjugate *c)
{
    memset(c->y, 0, c->n * sizeof *c->y);
    memcpy(c->d, c->r, c->n * sizeof *c->d);
    double square = product_of(c->r, c->r, c->n);
    const double goal = LEFT * LEFT * square;
    for (int n = 0; square > goal; ++n) {
        if (n == MOST || !c->multiply(c->context, c->d, c->product)) {
            return false;
        }
        const double step = square / product_of(c->d, c->product, c->n);
        for (size_t k = 0; k < c->n; ++k) {
            c->y[k] += step * c->d[k];
            c->r[k] -= step * c->product[k];
        }
        const double before = square;
        square = product_of(c->r, c->r, c->n);
        for (size_t k = 0; k < c->n; ++k) {
            c->d[k] = c->r[k] + square / before * c->d[k];
        }
    }
    return true;
}
