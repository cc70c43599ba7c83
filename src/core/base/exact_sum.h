/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of doubles whose bits do not depend on the order in which threads or processes add the
 * terms.
 *
 * Every term is split into a multiple of 2^g, a multiple of 2^h and a rest below 2^h, which is
 * dropped. The units 2^g and 2^h are chosen to keep sums of n terms below 2^53 units; such sums are
 * exact (Demmel & Nguyen (2013), Fast reproducible floating-point summation, ARITH 21, section IV).
 * The error of a sum of n terms below M is at most n 2^h / 2 <= n^3 M 2^-102. This is less than the
 * error of adding the terms one by one. */
#ifndef GBSI_BASE_EXACT_SUM_H
#define GBSI_BASE_EXACT_SUM_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* For each of the two units u, the number 1.5 2^52 u. To add this number to a term and to subtract
 * it again rounds the term to a multiple of u. */
typedef struct gbsi_sum_units {
    double high, low;
} gbsi_sum_units;

/* Returns the least power of two above x; 0 < x < 2^1000. */
static inline double gbsi_power_above(double x)
{
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    bits = ((bits >> 52) + 1) << 52;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Returns the units for sums of n terms. No finite term may exceed `most` in absolute value. */
static inline gbsi_sum_units gbsi_sum_units_of(double most, uint64_t n)
{
    const double terms = gbsi_power_above((double)n + 1);
    const double high = gbsi_power_above(most > 0x1p-500 ? most : 0x1p-500) * terms * 0x1p-52;
    /* the dropped rest of a term is at most half of the high unit */
    const double low = high * terms * 0x1p-53;
    return (gbsi_sum_units){0x1.8p52 * high, 0x1.8p52 * low};
}

/* Adds one term to the sums *high and *low; minus infinity stays in *high. The compiler option
 * -ffp-contract=off is required. */
static inline void gbsi_sum_term(const gbsi_sum_units *units, double term, double *high,
                                 double *low)
{
    const double large = (term + units->high) - units->high;
    const double rest = term > -INFINITY ? term - large : 0.0;
    *high += large;
    *low += (rest + units->low) - units->low;
}

#endif
