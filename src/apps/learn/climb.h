/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the minimum of a function that has a gradient: by L-BFGS, or with an L1 penalty by OWL-QN
 * (Andrew & Gao 2007). Both methods come from libLBFGS, and a build without this library lacks
 * them. */
#ifndef GBSI_LEARN_CLIMB_H
#define GBSI_LEARN_CLIMB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GBSI_CLIMB_WINDOW 10 /* the value of gbsi_climb.window that most callers use */
#define GBSI_CLIMB_PADDING \
    16 /* number of values that libLBFGS may read beyond the last parameter */

/* The point that an iteration reached. */
typedef struct gbsi_climb_point {
    const double *x, *gradient; /* [n] parameters, gradient */
    double objective;           /* objective, with the L1 penalty */
    double slope;       /* length of the gradient; for a parameter that is 0, only the part of its
                           derivative beyond l1 counts */
    uint64_t iteration; /* number of the iteration, from 1 */
} gbsi_climb_point;

typedef struct gbsi_climb {
    size_t n;            /* number of parameters */
    uint64_t iterations; /* largest number of iterations */
    /* 0: the method has converged if the slope is at most tolerance * max(|x|, 1). Other values:
     * the method has converged if the objective decreases by less than the share `tolerance` over
     * `window` iterations */
    int window;
    double tolerance;
    double l1;       /* the penalty is l1 times the sum of |x_k| */
    size_t l1_first; /* first parameter with the L1 penalty */
    void *context;
    /* Computes the objective at x and its gradient. */
    double (*evaluate)(void *context, const double *x, double *gradient);
    /* Called after each iteration. @return false to end the method. */
    bool (*advance)(void *context, const gbsi_climb_point *at);
    double objective; /* out: last value of the objective */
    bool converged;   /* out: whether the method converged or advance() ended it */
    bool rounded;     /* out: whether a line search ended because rounding hides any lower value */
} gbsi_climb;

/* @return the bytes that libLBFGS needs for n parameters. */
size_t gbsi_climb_bytes(size_t n);

/* Minimises the objective. The result is the argument of the last call of advance(). @param x [n +
 * GBSI_CLIMB_PADDING] from gbsi_alloc_lanes(): the first parameters; undefined on return. @return
 * false if there is no memory for gbsi_climb_bytes(). */
bool gbsi_climb_run(gbsi_climb *climb, double *x);

#endif
