/* SPDX-License-Identifier: Apache-2.0 */
/* The larger and the smaller of two numbers: fmax() and fmin() are calls into the C library. */
#ifndef GBSI_BASE_EXTREMES_H
#define GBSI_BASE_EXTREMES_H

static inline double gbsi_larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double gbsi_smaller(double a, double b)
{
    return a < b ? a : b;
}

#endif
