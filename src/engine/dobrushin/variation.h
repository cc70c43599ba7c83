/* SPDX-License-Identifier: Apache-2.0 */
/* Dobrushin variation [M38]: a bound on the distance between a chain's distribution after T
 * updates, from any start, and the target distribution. b_i bounds the probability that two coupled
 * chains differ at variable i. V = sum of d_i b_i bounds the total variation of the variables with
 * d_i = 1. */
#ifndef GBSI_DOBRUSHIN_VARIATION_H
#define GBSI_DOBRUSHIN_VARIATION_H

#include "base/watch.h"
#include "dobrushin/matrix.h"

/* Every bound b_i is cut off at this value, which is far above all useful bounds. Products of two
 * bounds therefore stay finite. */
#define GBSI_VARIATION_CEILING 1e140

/* Returns the compensated sum of d_i b_i (Neumaier 1974). @param d [n]; NULL: all d_i are 1. */
double gbsi_weigh(const double *d, const double *b, uint32_t n);

/* ---- sequences --------------------------------------------------------------------------- */

/* Sets all b_i to 1, the value before the first update. @param b [n]. */
void gbsi_variation_begin(const gbsi_influences *c, double *b);
/* Applies n updates to b, in order. An entry i of the sequence is the degenerate vector q_t = e_i:
 * b_i = sum_j C_ij b_j, in time O(degree). The entry GBSI_NONE is the uniform vector q_t, whose
 * update takes a variable drawn uniformly: b = (1 - 1/n) b + C b / n, in time O(entries of C + n).
 * @param b [n]; with an entry GBSI_NONE [2 n], of which the second half is scratch.
 * @param watch borrowed or NULL. @return false if the watch stopped; b is then undefined. */
bool gbsi_variation_follow(const gbsi_influences *c, const uint32_t *sequence, size_t n, double *b,
                           gbsi_watch *watch);

/* ---- uniform.c: each update takes a variable drawn uniformly -------------------------------- */

typedef struct gbsi_uniform gbsi_uniform;

/* @param d [n_targets] for each target the weights d_i of its variables, borrowed; NULL: all
 * weights are 1. @param watch borrowed or NULL; may stop calls. */
gbs_status gbsi_uniform_new(const gbsi_influences *c, size_t n_targets, const double *const *d,
                            gbsi_watch *watch, gbsi_uniform **out, gbs_error *err);
void gbsi_uniform_free(gbsi_uniform *u);
/* Computes V after T = n_updates updates, in closed form. Products with C are kept and reused in
 * later calls. All calls together make O(T / n) products, where T is the largest number of updates
 * so far. @param value [n_targets] out. @return GBS_ERR_STOPPED if the watch stopped; u can then
 * only be freed. */
gbs_status gbsi_uniform_at(gbsi_uniform *u, uint64_t n_updates, double *value, gbs_error *err);

#endif
