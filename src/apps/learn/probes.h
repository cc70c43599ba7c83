/* SPDX-License-Identifier: Apache-2.0 */
/* Standard errors of any number of parameters, by random vectors [M73]. */
#ifndef GBSI_LEARN_PROBES_H
#define GBSI_LEARN_PROBES_H

#include "learn/work.h"

typedef struct gbsi_probes {
    size_t n;        /* number of parameters */
    uint64_t count;  /* number of probes */
    gbsi_work *work; /* threads, limits and watch; its progress counts probes */
    void *context;
    /* Computes a random vector whose covariance is the covariance of the parameters. @param y [n]
     * out. @return false if the computation was stopped, or the equations were not solved. */
    bool (*solve)(void *context, uint64_t probe, double *y);
} gbsi_probes;

/* Estimates standard errors by root mean squares over the probes. An estimate has a relative
 * standard error of 1 / sqrt(2 count). @param error [n] out. @return GBS_ERR_UNSUPPORTED if
 * equations were not solved; GBS_ERR_STOPPED if the call was stopped. */
gbs_status gbsi_probe_errors(const gbsi_probes *probes, double *error, gbs_error *err);

/* Draws the random signs -1 and +1 of a probe. @param part number of the stream of signs; stream 0
 * is for rows. */
void gbsi_probe_signs(uint64_t seed, uint64_t probe, uint64_t part, size_t n, double *sign);

/* Draws random factors of rows with mean 0. The sum over rows of factor times gradient has a
 * covariance that is W / (W - lost) times the covariance of the weighted sum of the gradients.
 * @param weight [n] number of draws that each row stands for; the sum W of these numbers is above
 * `lost`. @param lost number of fitted parameters. @param factor [n] out. */
void gbsi_probe_rows(uint64_t seed, uint64_t probe, const double *weight, size_t n, double lost,
                     double *factor);

#endif
