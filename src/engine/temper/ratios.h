/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates the partition function from a ladder, as a product of ratios between neighbouring
 * levels.
 *
 * With u = (b_(t+1) - b_t) U(x), f(y) = 1 / (1 + exp(-y)) and any constant c,
 *     Z_(t+1) / Z_t = exp(c) E_t[f(u - c)] / E_(t+1)[f(c - u)]                            [M47]
 * (Bennett 1976, equation 8). The variance is least for c = ln(Z_(t+1) / Z_t). During burn-in,
 * Bennett's acceptance ratio finds this c with an error of a few tenths. After burn-in c is fixed,
 * so that the two means are ordinary averages. */
#ifndef GBSI_TEMPER_RATIOS_H
#define GBSI_TEMPER_RATIOS_H

#include <stddef.h>

#include "temper/exchange.h"
#include "temper/means.h"

enum { GBSI_RATIOS_ROWS = 64 };

typedef struct gbsi_ratios {
    uint32_t n_levels, n_ladders;
    double *c;      /* [n_levels - 1] constant c of each pair of levels */
    double *weight; /* [cells] scratch */
    double *row; /* [GBSI_RATIOS_ROWS][lanes] log density U of each lane in the last iterations of
                    burn-in */
    uint64_t n_rows;
} gbsi_ratios;

gbs_status gbsi_ratios_new(const gbsi_exchange *exchange, gbsi_ratios **ratios, gbs_error *err);
void gbsi_ratios_free(gbsi_ratios *ratios);
uint64_t gbsi_ratios_bytes(uint32_t n_levels, uint32_t n_ladders);

/* Records the density U of all lanes; called during burn-in, before swaps. */
void gbsi_ratios_learn(gbsi_ratios *ratios, const double *density);
/* Fixes the constants c; called at the end of burn-in, after gbsi_ratios_learn() was called at
 * least once. */
gbs_status gbsi_ratios_fix(gbsi_ratios *ratios, const gbsi_exchange *exchange, gbs_error *err);

/* Save and load the constants and densities from burn-in. The caller must load into an object with
 * equal numbers of levels and ladders. */
gbs_status gbsi_ratios_save(const gbsi_ratios *ratios, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_ratios_load(gbsi_ratios *ratios, const gbsi_source *source, gbs_error *err);

/* Number of quantities that are averaged for each ladder: two for each pair of neighbouring levels,
 * and one that is 1 if the cold state violates no hard zero and else 0. */
size_t gbsi_ratios_cells(const gbsi_exchange *exchange);
/* Adds one iteration of one ladder to the means; called before swaps. */
void gbsi_ratios_add(const gbsi_ratios *ratios, const gbsi_exchange *exchange, uint32_t ladder,
                     const double *density, bool valid, gbsi_means *means);

typedef struct gbsi_log_ratio {
    double value; /* ln(Z of the valid states at the cold end / Z of the hot end) */
    double error; /* standard error of `value`; NAN if there are too few batches */
} gbsi_log_ratio;

/* @return the estimate from the kept iterations; its value is -infinity if no cold state was
 *   valid. */
gbsi_log_ratio gbsi_ratios_total(const gbsi_ratios *ratios, const gbsi_means *means);

/* Estimate of the ratio of two partition functions from draws of the two laws: Bennett's acceptance
 * ratio (Bennett 1976, Journal of Computational Physics 22:245-268, equation 12; Meng & Wong 1996).
 * [M47] */

/* ln(Z_1 / Z_0) of laws pi_i = exp(f_i) / Z_i.
 * @param u0 [n0] f_1(x) - f_0(x) for draws x of pi_0; n0 >= 1.
 * @param u1 [n1] f_1(x) - f_0(x) for draws x of pi_1; n1 >= 1. */
double gbsi_bar(const double *u0, size_t n0, const double *u1, size_t n1);

#endif
