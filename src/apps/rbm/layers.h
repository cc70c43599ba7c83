/* SPDX-License-Identifier: Apache-2.0 */
/* The innermost loops of restricted Boltzmann machines: sums over one layer for the units of the
 * other, and functions of these sums. Widths are multiples of eight. */
#ifndef GBSI_RBM_LAYERS_H
#define GBSI_RBM_LAYERS_H

#include <stddef.h>
#include <stdint.h>

typedef struct gbsi_layers {
    /* sum[k] += matrix[list[r]][k], the rows of the list in their order. @param matrix [][width]
     * @param sum [width] */
    void (*sum_rows)(const double *matrix, size_t width, const uint32_t *list, size_t n,
                     double *sum);
    /* x[k] = 1 / (1 + exp(-x[k])). @param x [width] */
    void (*logistic)(double *x, size_t width);
    /* Sum over k of ln(1 + exp(x[k] + step y[k])). @param x, y [width] */
    double (*softplus)(const double *x, const double *y, double step, size_t width);
} gbsi_layers;

static inline size_t gbsi_layer_width(size_t n)
{
    return (n + 7) / 8 * 8;
}

/* The functions of the instruction set in use. */
const gbsi_layers *gbsi_layers_here(void);

#endif
