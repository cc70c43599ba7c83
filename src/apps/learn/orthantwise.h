/* SPDX-License-Identifier: Apache-2.0 */
/* Maximum of an objective less l1 times the sum of absolute weights, by OWL-QN (Andrew & Gao 2007,
 * ICML, Scalable training of L1-regularized log-linear models), which libLBFGS has. */
#ifndef GBSI_LEARN_ORTHANTWISE_H
#define GBSI_LEARN_ORTHANTWISE_H

#include "base/watch.h"

typedef struct gbsi_orthantwise {
    size_t n;
    double l1;
    double scale; /* scale of the objective, such as the number of rows; it only affects when the
                     method counts as converged */
    double tolerance;    /* converged: the slope is at most this many scales, times |w| above 1 */
    uint64_t iterations; /* at most */
    gbsi_watch *watch;
    void *context; /* of these two: */
    /* The objective without l1, and its gradient. */
    gbs_status (*evaluate)(void *context, const double *w, double *objective, double *gradient,
                           gbs_error *err);
    /* After an iteration. @param objective less l1 |w|. @param slope the length of the gradient;
     * for weights that are 0, of its part beyond l1. @param change largest change of a weight. */
    gbs_status (*tell)(void *context, uint64_t iteration, const double *w, double objective,
                       double slope, double change, gbs_error *err);
    bool converged; /* out */
} gbsi_orthantwise;

/* @return the slope at a weight w of an objective that is maximised and has the slope g, once l1
 * is subtracted from it. */
static inline double gbsi_orthantwise_left(double w, double g, double l1)
{
    return w > 0.0 ? g - l1 : w < 0.0 ? g + l1 : g > l1 ? g - l1 : g < -l1 ? g + l1 : 0.0;
}

/* The slope at w, of this gradient without l1. */
double gbsi_orthantwise_slope(const gbsi_orthantwise *o, const double *w, const double *gradient);

/* @param w [n] from there, and out, those of the last iteration.
 * @return GBS_ERR_UNSUPPORTED in a build without libLBFGS; GBS_ERR_STOPPED by the watch; what
 *         evaluate and tell return. */
gbs_status gbsi_orthantwise_maximise(gbsi_orthantwise *o, double *w, gbs_error *err);

#endif
