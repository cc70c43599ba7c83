/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the minimum of a function that has a gradient: by L-BFGS, or with an L1 penalty by OWL-QN
 * (Andrew & Gao 2007). Both come from libLBFGS, and a build without that library has neither. */
#ifndef GBSI_LEARN_CLIMB_H
#define GBSI_LEARN_CLIMB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GBSI_CLIMB_WINDOW  10 /* iterations over which the objective usually has to fall */
#define GBSI_CLIMB_PADDING 16 /* parameters that libLBFGS may read beyond the last one */

/* The point that an iteration reached. */
typedef struct gbsi_climb_point {
    const double *x, *gradient; /* [n] */
    double objective;           /* with the L1 penalty */
    double slope; /* length of the gradient; for parameters that are 0, of its part beyond l1 */
    uint64_t iteration; /* from 1 */
} gbsi_climb_point;

typedef struct gbsi_climb {
    size_t n;            /* parameters */
    uint64_t iterations; /* at most */
    int window;          /* 0: converged where the slope is at most tolerance times |x| above 1 */
    double tolerance; /* it also stops if the objective falls by less than this share over this many
                         iterations */
    double l1;        /* the penalty is l1 times the sum of |x_k| */
    size_t l1_first;  /* first parameter with that penalty */
    void *context;
    double (*evaluate)(void *context, const double *x, double *gradient); /* the objective at x */
    bool (*advance)(void *context, const gbsi_climb_point *at);           /* false: it ends here */
    double objective;                                                     /* out: the last one */
    bool converged; /* out: or ended by advance() */
    bool rounded;   /* out: rounding ended a line search, which has nothing lower to find */
} gbsi_climb;

/* @return the bytes that libLBFGS needs for n parameters. */
size_t gbsi_climb_bytes(size_t n);

/* @param x [n + GBSI_CLIMB_PADDING] from gbsi_alloc_lanes(): the start. On return its content is of
 * no use: the result is the argument of the last call of advance(). @return false: no memory for
 * gbsi_climb_bytes(). */
bool gbsi_climb_run(gbsi_climb *climb, double *x);

#endif
