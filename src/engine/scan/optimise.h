/* SPDX-License-Identifier: Apache-2.0 */
/* DoGS: scans of small Dobrushin variation by coordinate descent [M39]. */
#ifndef GBSI_SCAN_OPTIMISE_H
#define GBSI_SCAN_OPTIMISE_H

#include "dobrushin/variation.h"

/* Arrays as large as the model, taken and filled once: a descent touches and puts back only what
 * its scan and its weights reach. */
typedef struct gbsi_optimiser gbsi_optimiser;

/* @param c borrowed. @param d [n] weights >= 0, NULL: all 1; copied.
 * @param watch borrowed, NULL: never stops. */
gbs_status gbsi_optimiser_new(const gbsi_influences *c, const double *d, gbsi_watch *watch,
                              gbsi_optimiser **out, gbs_error *err);
void gbsi_optimiser_free(gbsi_optimiser *o);

/* V of a scan. Time as below. @return NAN if the watch stopped it; short scans, of a tenth of a
 * second, are followed to their end anyway. */
double gbsi_optimiser_variation(gbsi_optimiser *o, const uint32_t *scan, size_t n);

/**
 * One descent from the last update to the first: each update becomes the variable that lowers V
 * most while the other updates stay as they are at that time.
 *
 * If the watch stops it, the updates before are left as they are, or all of a scan too long for
 * gbsi_optimiser_variation().
 *
 * @param scan     [n] in, out; untouched where rounding alone would make it worse.
 * @param enough   the rest of the scan stays as it is once V is at most this; negative: never.
 * @param variation in: V of the given scan; out: V of the scan that was made, computed by a
 * separate pass.
 * @return GBS_ERR_MEMORY: 12 n bytes. Time O(neighbours and log n for each update).
 */
gbs_status gbsi_optimiser_descend(gbsi_optimiser *o, uint32_t *scan, size_t n, double enough,
                                  double *variation, gbs_error *err);

/* optimise_uniform.c */

/**
 * One descent from the random scan of n updates, each of which updates a variable drawn uniformly:
 * V, which is linear in each q_t, never grows. Time O(n (influences + variables)), memory O(sqrt(n)
 * variables).
 *
 * @param d [variables] weights, NULL: all 1. @param room bytes that the computation may take.
 * @param scan   [n] out. @param before out: V of the random scan.
 * @param left   out: updates at the beginning that were not chosen when the watch stopped it, and
 * are those of the systematic scan: V may then be above `before`.
 * @return GBS_ERR_LIMIT for too much work or memory; GBS_ERR_STOPPED where the watch stopped it
 *         before any update was chosen.
 */
gbs_status gbsi_optimise_uniform(const gbsi_influences *c, const double *d, gbsi_watch *watch,
                                 uint64_t room, uint32_t *scan, size_t n, double *before,
                                 size_t *left, gbs_error *err);

#endif
