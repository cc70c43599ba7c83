/* SPDX-License-Identifier: Apache-2.0 */
/* Integrated autocorrelation times of series with one value per pass and chain, in constant memory:
 * for every block length b = 1, 2, 4, ... the sums of products of block sums are kept (Flyvbjerg &
 * Petersen (1989), Error estimates on averages of correlated data, J. Chem. Phys. 91:461). [M92] */
#ifndef GBSI_ESTIMATE_BLOCKING_H
#define GBSI_ESTIMATE_BLOCKING_H

#include <stddef.h>
#include <stdint.h>

#include "base/saved.h"

typedef struct gbsi_blocking gbsi_blocking;

/* Upper bound of the bytes that gbsi_blocking_new() takes. */
uint64_t gbsi_blocking_bytes(uint32_t n_chains, uint32_t n_series);
gbs_status gbsi_blocking_new(uint32_t n_chains, uint32_t n_series, gbsi_blocking **out,
                             gbs_error *err);
void gbsi_blocking_free(gbsi_blocking *blocking);

/* Adds the values of one chain in this pass. @param value [n_series]. */
void gbsi_blocking_put(gbsi_blocking *blocking, uint32_t chain, const double *value);
/* Ends the pass, after the values of every chain. */
void gbsi_blocking_end_pass(gbsi_blocking *blocking);

typedef struct gbsi_tau {
    double tau;  /* 1/2 + sum of autocorrelations, in passes; NAN if the run is too short */
    double mcse; /* standard error of tau */
} gbsi_tau;

/* The integrated autocorrelation time of a function of the means of the series.
 * @param gradient [n_series] derivatives of the function (Wolff (2004), Monte Carlo errors with
 * less errors, Comput. Phys. Commun. 156:143, eq. 33). */
gbsi_tau gbsi_blocking_tau(const gbsi_blocking *blocking, const double *gradient);

/* Variance of the values of one series; 0 for fewer than two values. */
double gbsi_blocking_variance(const gbsi_blocking *blocking, uint32_t series);

/* Save and load between two passes, as gbsi_trace_save() and gbsi_trace_load() do. */
gbs_status gbsi_blocking_save(const gbsi_blocking *blocking, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_blocking_load(gbsi_blocking *blocking, const gbsi_source *source, gbs_error *err);

#endif
