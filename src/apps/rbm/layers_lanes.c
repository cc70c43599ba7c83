/* SPDX-License-Identifier: Apache-2.0 */
/* Layers of restricted Boltzmann machines, eight units at a time [M63]. */
#include "rbm/rbm.h"

#include "learn/eights.h"
#include "simd/lanes.h"
#include "simd/math.h"

#define AT_ONCE   4u   /* number of vectors that stay in registers while rows are added */
#define MOST_PROD 512u /* number of factors of at most 2 whose product cannot overflow */

INLINE void sum_part(const double *matrix, size_t width, const uint32_t *list, size_t n, double *to,
                     const uint32_t n_eights)
{
    eight sum[AT_ONCE];
    memcpy(sum, to, n_eights * sizeof sum[0]);
    for (size_t r = 0; r < n; ++r) {
        const double *row = matrix + list[r] * width;
        for (uint32_t k = 0; k < n_eights; ++k) {
            sum[k] += *(const eight *)(const void *)(row + k * EIGHT);
        }
    }
    memcpy(to, sum, n_eights * sizeof sum[0]);
}

static void sum_rows(const double *matrix, size_t width, const uint32_t *list, size_t n,
                     double *sum)
{
    size_t k = 0;
    for (; k + AT_ONCE * EIGHT <= width; k += AT_ONCE * EIGHT) {
        sum_part(matrix + k, width, list, n, sum + k, AT_ONCE);
    }
    for (; k < width; k += EIGHT) {
        sum_part(matrix + k, width, list, n, sum + k, 1);
    }
}

/* Computes e^-|x|, and the logistic function as 1 / (1 + e^-x) for x >= 0 and e^x / (1 + e^x) for
 * x < 0. */
static void logistic(double *x, size_t width)
{
    for (size_t k = 0; k < width; k += EIGHT) {
        double e[EIGHT];
        for (uint32_t a = 0; a < EIGHT; ++a) {
            e[a] = x[k + a] < 0.0 ? x[k + a] : -x[k + a];
        }
        exp_eight(e);
        for (uint32_t a = 0; a < EIGHT; ++a) {
            x[k + a] = (x[k + a] < 0.0 ? e[a] : 1.0) / (1.0 + e[a]);
        }
    }
}

/* Sums max(z, 0) + ln(1 + exp(-|z|)). The logarithm is taken of products of many terms. */
static double softplus(const double *x, const double *y, double step, size_t width)
{
    double above[EIGHT] = {0.0};
    double factor[EIGHT] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    double sum = 0.0;
    for (size_t k = 0; k < width; k += EIGHT) {
        double e[EIGHT];
        for (uint32_t a = 0; a < EIGHT; ++a) {
            const double z = x[k + a] + step * y[k + a];
            above[a] += z > 0.0 ? z : 0.0;
            e[a] = z < 0.0 ? z : -z;
        }
        exp_eight(e);
        for (uint32_t a = 0; a < EIGHT; ++a) {
            factor[a] *= 1.0 + e[a];
        }
        if (k / EIGHT % MOST_PROD == MOST_PROD - 1 || k + EIGHT == width) {
            gbsi_log_many(factor, EIGHT);
            for (uint32_t a = 0; a < EIGHT; ++a) {
                sum += factor[a];
                factor[a] = 1.0;
            }
        }
    }
    for (uint32_t a = 0; a < EIGHT; ++a) {
        sum += above[a];
    }
    return sum;
}

const gbsi_layers GBSI_V(gbsi_layers) = {sum_rows, logistic, softplus};
