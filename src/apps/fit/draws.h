/* SPDX-License-Identifier: Apache-2.0 */
/* EM [M54] for networks whose junction tree is too large. Each row with missing values is the
 * condition of a set of draws, and expected counts are means over these draws. The spread of the
 * means over chains is their error. */
#ifndef GBSI_FIT_DRAWS_H
#define GBSI_FIT_DRAWS_H

#include "fit/families.h"

typedef struct gbsi_draws gbsi_draws;

/* @param asked [n_variables] 1: the child's table is counted; NULL: only ln P is computed. @param
 * complete [n_distinct] 1: the row has no missing value, and is left out. @param options checked
 * options, with defaults filled in. All arguments except `asked` are borrowed. */
gbs_status gbsi_draws_new(const gbsi_families *families, const gbs_data *data, const uint8_t *asked,
                          const uint8_t *complete, const gbs_fit_options *options,
                          gbsi_watch *watch, gbsi_draws **out, gbs_error *err);
void gbsi_draws_free(gbsi_draws *draws);

/* Monte Carlo EM from theta.
 *
 * @param base [entries] counts of the tables that are not in `asked`. @param theta [entries] in and
 * out: the parameters where EM begins and ends.
 * @param count [entries] out: base and the expected counts that gave the last theta.
 * @param report iterations, change, error, sweeps, doubtful rows and converged are written. @return
 * GBS_STOPPED if the watch stopped EM: theta is the result of the last complete iteration.
 * GBS_ERR_STOPPED if no iteration was complete. */
gbs_status gbsi_draws_maximise(gbsi_draws *draws, const double *base, double *theta, double *count,
                               gbs_fit_report *report, gbs_error *err);

/* Estimates ln P of the rows at theta. @param log_p,variance in and out: ln P of the possible rows
 * and the variance of its estimate are added. @param n_impossible,weight in and out: the number of
 * impossible rows, and the sum of their weights, are added. NULL: impossible rows are an error,
 * GBS_ERR_IMPOSSIBLE. @return GBS_STOPPED if the watch stopped the computation; the results are
 * then undefined. */
gbs_status gbsi_draws_log_p(gbsi_draws *draws, const double *theta, double *log_p, double *variance,
                            uint64_t *n_impossible, double *weight, gbs_error *err);

#endif
