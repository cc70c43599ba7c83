/* SPDX-License-Identifier: Apache-2.0 */
/* Standard errors of any number of parameters, by random vectors [M73]. */
#ifndef GBSI_LEARN_PROBES_H
#define GBSI_LEARN_PROBES_H

#include "learn/work.h"

typedef struct gbsi_probes {
    size_t n;        /* parameters */
    uint64_t count;  /* of probes */
    gbsi_work *work; /* its progress counts probes */
    void *context;
    /* A random vector whose covariance is that of the parameters. @param y [n] out. @return false
     * if it was stopped, or equations were not solved. */
    bool (*solve)(void *context, uint64_t probe, double *y);
} gbsi_probes;

/* The root mean square of the results of the probes, which differs from the standard errors by a
 * share of at most 1 / sqrt(2 count) (one standard error). @param error [n] out. @return
 * GBS_ERR_UNSUPPORTED where equations were not solved; GBS_ERR_STOPPED. */
gbs_status gbsi_probe_errors(const gbsi_probes *probes, double *error, gbs_error *err);

/* Signs -1 and +1 of a probe. @param part number of the part of the signs: part 0 is for rows. */
void gbsi_probe_signs(uint64_t seed, uint64_t probe, uint64_t part, size_t n, double *sign);

/* Factors of rows, random with mean 0: the sum of their gradients times these has the covariance of
 * their weighted sum, W / (W - lost) times what the rows tell. @param weight [n] of sum W > lost:
 * how many draws a row counts for. @param factor [n] out. */
void gbsi_probe_rows(uint64_t seed, uint64_t probe, const double *weight, size_t n, double lost,
                     double *factor);

#endif
