/* SPDX-License-Identifier: Apache-2.0 */
/* Maximises an objective minus l1 times the sum of absolute weights by OWL-QN (Andrew & Gao 2007,
 * ICML, Scalable training of L1-regularized log-linear models), as implemented in libLBFGS. */
#ifndef GBSI_LEARN_ORTHANTWISE_H
#define GBSI_LEARN_ORTHANTWISE_H

#include "base/watch.h"

typedef struct gbsi_orthantwise {
    size_t n;
    double l1;
    double scale;        /* scale of the objective, such as the number of rows; only the test of
                            convergence uses the scale */
    double tolerance;    /* the method has converged if the slope is at most tolerance * scale *
                            max(|w|, 1) */
    uint64_t iterations; /* largest number of iterations */
    gbsi_watch *watch;
    void *context; /* first argument of the two functions below */
    /* Computes the objective without l1, and its gradient. */
    gbs_status (*evaluate)(void *context, const double *w, double *objective, double *gradient,
                           gbs_error *err);
    /* Called after an iteration. @param objective objective minus l1 |w|. @param slope length of
     * the gradient; for a weight that is 0, only the part of its derivative beyond l1 counts.
     * @param change largest change of a weight. */
    gbs_status (*tell)(void *context, uint64_t iteration, const double *w, double objective,
                       double slope, double change, gbs_error *err);
    bool converged; /* out: whether the method converged */
} gbsi_orthantwise;

/* @return the derivative of an objective minus l1 |w| at a weight w, where g is the derivative of
 * the objective. */
static inline double gbsi_orthantwise_left(double w, double g, double l1)
{
    return w > 0.0 ? g - l1 : w < 0.0 ? g + l1 : g > l1 ? g - l1 : g < -l1 ? g + l1 : 0.0;
}

/* @return the slope at w. @param gradient gradient of the objective without l1. */
double gbsi_orthantwise_slope(const gbsi_orthantwise *o, const double *w, const double *gradient);

/* @param w [n] in: the first weights; out: the weights of the last iteration. @return
 * GBS_ERR_UNSUPPORTED in a build without libLBFGS; GBS_ERR_STOPPED if the watch stopped the method;
 * or an error that evaluate() or tell() returned. */
gbs_status gbsi_orthantwise_maximise(gbsi_orthantwise *o, double *w, gbs_error *err);

#endif
