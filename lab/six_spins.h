/* SPDX-License-Identifier: Apache-2.0 */
/* Two rows of three spins, small enough to follow laws over all 64 states step by step. */
#ifndef LAB_SIX_SPINS_H
#define LAB_SIX_SPINS_H

#include <math.h>
#include <stdbool.h>

#define LAB_N_SPINS     6u
#define LAB_N_STATES    64u  /* bit LAB_N_SPINS - 1 - v of a state is spin v, row by row */
#define LAB_LEAST_SHOWN 1e-6 /* distance of a law from its limit in charts, as in figures.c */

static inline unsigned lab_bit_of(unsigned v)
{
    return 1u << (LAB_N_SPINS - 1 - v);
}

static inline bool lab_adjoin(unsigned u, unsigned v)
{
    const unsigned low = u < v ? u : v;
    const unsigned high = u < v ? v : u;
    return high - low == 3 || (high - low == 1 && high != 3);
}

/* L1 distance of two laws, twice their total variation. */
static inline double lab_law_distance(const double *a, const double *b, unsigned n)
{
    double sum = 0.0;
    for (unsigned x = 0; x < n; x++) {
        sum += a[x] > b[x] ? a[x] - b[x] : b[x] - a[x];
    }
    return sum;
}

/* The value as charts show it: NaN if it is too small. */
static inline double lab_law_shown(double distance)
{
    return distance >= LAB_LEAST_SHOWN ? distance : (double)NAN;
}

#endif
