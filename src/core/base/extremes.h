/* SPDX-License-Identifier: Apache-2.0 */
/* Minimum and maximum of numbers, inlined because fmax() and fmin() are calls into the C
 * library. */
#ifndef GBSI_BASE_EXTREMES_H
#define GBSI_BASE_EXTREMES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

static inline double gbsi_larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double gbsi_smaller(double a, double b)
{
    return a < b ? a : b;
}

/* Returns the largest of n numbers, or 0 if n is 0. */
static inline uint32_t gbsi_largest(const uint32_t *number, size_t n)
{
    uint32_t most = 0;
    for (size_t i = 0; i < n; ++i) {
        most = number[i] > most ? number[i] : most;
    }
    return most;
}

/* Returns the largest of n numbers, or minus infinity if n is 0. */
static inline double gbsi_largest_real(const double *number, size_t n)
{
    double most = -INFINITY;
    for (size_t i = 0; i < n; ++i) {
        most = number[i] > most ? number[i] : most;
    }
    return most;
}

#endif
