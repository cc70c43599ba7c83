/* SPDX-License-Identifier: Apache-2.0 */
/* Conjugate gradients (Hestenes & Stiefel 1952, J. Res. Natl. Bur. Stand. 49:409-436). */
#include "learn/equations.h"

#include <string.h>

#define MOST 2000

static double product_of(const double *a, const double *b, size_t n)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; ++k) {
        sum += a[k] * b[k];
    }
    return sum;
}

static double scale_of(const gbsi_conjugate *c, size_t k)
{
    return c->diagonal == NULL ? 1.0 : c->diagonal[k];
}

/* @return r^T diagonal^-1 r. */
static double square_of_rest(const gbsi_conjugate *c)
{
    double sum = 0.0;
    for (size_t k = 0; k < c->n; ++k) {
        sum += c->r[k] * c->r[k] / scale_of(c, k);
    }
    return sum;
}

/* @return d^T H d / (d^T diagonal d), the curvature along d.
 * @param product d^T H d. */
static double curvature_of(const gbsi_conjugate *c, double product)
{
    double square = 0.0;
    for (size_t k = 0; k < c->n; ++k) {
        square += c->d[k] * c->d[k] * scale_of(c, k);
    }
    return product / square;
}

bool gbsi_conjugate_solve(const gbsi_conjugate *c)
{
    double most = 0.0;
    memset(c->y, 0, c->n * sizeof *c->y);
    for (size_t k = 0; k < c->n; ++k) {
        c->d[k] = c->r[k] / scale_of(c, k);
    }
    double square = square_of_rest(c);
    const double goal = c->left * c->left * square;
    for (int n = 0; square > goal; ++n) {
        if (n == MOST || !c->multiply(c->context, c->d, c->product)) {
            return false;
        }
        const double product = product_of(c->d, c->product, c->n);
        const double curvature = curvature_of(c, product);
        if (!(curvature > c->flat * most)) {
            if (n == 0) {
                memcpy(c->y, c->d, c->n * sizeof *c->y);
            }
            return false;
        }
        most = curvature > most ? curvature : most;
        const double step = square / product;
        for (size_t k = 0; k < c->n; ++k) {
            c->y[k] += step * c->d[k];
            c->r[k] -= step * c->product[k];
        }
        const double before = square;
        square = square_of_rest(c);
        for (size_t k = 0; k < c->n; ++k) {
            c->d[k] = c->r[k] / scale_of(c, k) + square / before * c->d[k];
        }
    }
    return true;
}
