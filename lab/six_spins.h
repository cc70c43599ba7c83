/* SPDX-License-Identifier: Apache-2.0 */
/* Two rows of three spins. The model is so small that laws over all 64 states can be followed step
 * by step. */
#ifndef LAB_SIX_SPINS_H
#define LAB_SIX_SPINS_H

#include <math.h>
#include <stdbool.h>

#define LAB_N_SPINS  6u
#define LAB_N_STATES 64u /* spin v, counted row by row, is bit LAB_N_SPINS - 1 - v of a state */
/* smallest distance between a law and its limit that charts show, as in figures.c */
#define LAB_LEAST_SHOWN 1e-6

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

/* L1 distance of two laws, which is twice their total variation. */
static inline double lab_law_distance(const double *a, const double *b, unsigned n)
{
    double sum = 0.0;
    for (unsigned x = 0; x < n; x++) {
        sum += a[x] > b[x] ? a[x] - b[x] : b[x] - a[x];
    }
    return sum;
}

/* A distance for a chart; NaN if the distance is too small. */
static inline double lab_law_shown(double distance)
{
    return distance >= LAB_LEAST_SHOWN ? distance : (double)NAN;
}

#endif
