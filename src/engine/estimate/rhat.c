/* SPDX-License-Identifier: Apache-2.0 */
/* Split R-hat of real traces, such as log densities (Gelman et al. (2013), BDA3, section 11.4, eqs
 * 11.1-11.4). The sequences are the two halves of every chain; the middle value of a trace of odd
 * length is left out. */
#include <math.h>

#include "estimate/estimate.h"
#include "simd/math.h"

typedef struct moments {
    double mean, variance;
} moments;

/* Computes the mean and the variance of a sequence from differences to its first value. A constant
 * sequence thus has a variance of exactly 0. */
static moments moments_of(const double *x, size_t n)
{
    double shift = 0;
    for (size_t i = 0; i < n; i++) {
        shift += x[i] - x[0];
    }
    shift /= (double)n;
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        const double d = (x[i] - x[0]) - shift;
        squares += d * d;
    }
    return (moments){x[0] + shift, squares / (double)(n - 1)};
}

double gbsi_split_rhat(const double *trace, uint32_t n_chains, size_t n, size_t stride)
{
    const size_t half = n / 2;
    if (n_chains == 0 || half < 2) {
        return NAN;
    }
    const double length = (double)half;
    const double n_sequences = 2.0 * n_chains;
    double within = 0;
    double first = 0;
    double shift = 0;
    double shift_square = 0;
    for (uint32_t c = 0; c < n_chains; c++) {
        for (size_t side = 0; side < 2; side++) {
            const double *x = trace + c * stride + side * (n - half);
            const moments m = moments_of(x, half);
            if (c == 0 && side == 0) {
                first = m.mean;
            }
            const double d = m.mean - first;
            within += m.variance;
            shift += d;
            shift_square += d * d;
        }
    }
    within /= n_sequences;
    /* B / n in the book, which is the variance of the means of the sequences */
    double between = (shift_square - shift * shift / n_sequences) / (n_sequences - 1);
    if (isnan(within) || isnan(between)) {
        return NAN;
    }
    if (within <= 0) {
        return between > 0 ? (double)INFINITY : 1.0;
    }
    between = between > 0 ? between : 0; /* only rounding can make a variance negative */
    return gbsi_sqrt(((length - 1) / length * within + between) / within);
}
