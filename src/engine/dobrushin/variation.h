/* SPDX-License-Identifier: Apache-2.0 */
/* Dobrushin variation: how far a scan can be from its target after T updates, from any start [M38].
 * b_i bounds the probability that two coupled chains differ at i. V = sum of d_i b_i bounds the
 * total variation of the variables with d_i = 1. */
#ifndef GBSI_DOBRUSHIN_VARIATION_H
#define GBSI_DOBRUSHIN_VARIATION_H

#include "base/watch.h"
#include "dobrushin/matrix.h"

/* No bound grows beyond this, far above what says anything: products of two stay finite. */
#define GBSI_VARIATION_CEILING 1e140

/* The sum of d_i b_i with the rounding errors of its additions put back (Neumaier 1974).
 * @param d [n], NULL: all 1. */
double gbsi_weigh(const double *d, const double *b, uint32_t n);

/* ---- sequences --------------------------------------------------------------------------- */

/* b = 1 for all: the value before the first update. @param b [n]. */
void gbsi_variation_begin(const gbsi_influences *c, double *b);
/* Applies n updates to b: b_i = sum_j C_ij b_j for each i of the sequence in order. Time
 * O(sum of degrees).
 * @param watch may be NULL. @return false if the watch stopped it: b is then undefined. */
bool gbsi_variation_follow(const gbsi_influences *c, const uint32_t *sequence, size_t n, double *b,
                           gbsi_watch *watch);

/* ---- uniform.c: every update of a variable drawn uniformly ------------------------------- */

typedef struct gbsi_uniform gbsi_uniform;

/* @param d [n_targets] weights each, NULL: all 1; borrowed.
 * @param watch borrowed, NULL: never stops. */
gbs_status gbsi_uniform_new(const gbsi_influences *c, size_t n_targets, const double *const *d,
                            gbsi_watch *watch, gbsi_uniform **out, gbs_error *err);
void gbsi_uniform_free(gbsi_uniform *u);
/* V after T updates, in closed form. Products with C made for one T serve every shorter one.
 * @param value [n_targets] out. Time O(T / n) products more than so far.
 * @return GBS_ERR_STOPPED where the watch stopped it: then it can only be freed. */
gbs_status gbsi_uniform_at(gbsi_uniform *u, uint64_t n_updates, double *value, gbs_error *err);

#endif
