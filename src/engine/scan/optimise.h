/* SPDX-License-Identifier: Apache-2.0 */
/* DoGS: scans of small Dobrushin variation by coordinate descent [M39]. */
#ifndef GBSI_SCAN_OPTIMISE_H
#define GBSI_SCAN_OPTIMISE_H

#include "dobrushin/variation.h"

/* The arrays that descents use. The arrays have the size of the model, and are allocated and filled
 * once. A descent changes and restores only the entries that its scan and its weights reach. */
typedef struct gbsi_optimiser gbsi_optimiser;

/* @param c borrowed. @param d [n] weights >= 0, which are copied; if NULL, all weights are 1.
 * @param watch borrowed; may stop later calls; NULL if nothing stops them. */
gbs_status gbsi_optimiser_new(const gbsi_influences *c, const double *d, gbsi_watch *watch,
                              gbsi_optimiser **out, gbs_error *err);
void gbsi_optimiser_free(gbsi_optimiser *o);

/* Computes V of a scan. The time has the order of the time of gbsi_optimiser_descend(). @return V;
 * NAN if the watch stopped. Scans that take less than about a tenth of a second are finished even
 * after a stop. */
double gbsi_optimiser_variation(gbsi_optimiser *o, const uint32_t *scan, size_t n);

/**
 * One descent, from the last update to the first. Each update is replaced by the variable that
 * lowers V most while all other updates stay unchanged.
 *
 * If the watch stops the descent, the updates that the descent has not reached yet, at the
 * beginning of the scan, stay unchanged. A scan that is too long for gbsi_optimiser_variation() to
 * finish after a stop stays unchanged as a whole.
 *
 * @param scan     [n] in, out; not changed if rounding errors would make the new scan worse.
 * @param enough   the descent ends when V is at most `enough`; a negative number has no effect.
 * @param variation in: V of the given scan; out: V of the new scan, computed by a separate pass.
 * @return GBS_ERR_MEMORY; the call takes 12 n bytes. Each update takes time O(neighbours + log n).
 */
gbs_status gbsi_optimiser_descend(gbsi_optimiser *o, uint32_t *scan, size_t n, double enough,
                                  double *variation, gbs_error *err);

/* optimise_uniform.c */

/**
 * One descent from the random scan of n updates, in which each update takes a variable drawn
 * uniformly. V is linear in the distribution q_t of each update and therefore never grows. The time
 * is O(n (influences + variables)), the memory O(sqrt(n) variables).
 *
 * @param d      [variables] weights; if NULL, all weights are 1.
 * @param room   limit on the bytes that the computation takes.
 * @param scan   [n] out.
 * @param before out: V of the random scan.
 * @param left   out: number of updates at the beginning that were not chosen when the watch stopped
 *               the descent. These updates are taken from the systematic scan, and V may then be
 *               above `before`.
 * @return GBS_ERR_LIMIT for too much work or memory; GBS_ERR_STOPPED if the watch stopped the
 *         descent before any update was chosen. */
gbs_status gbsi_optimise_uniform(const gbsi_influences *c, const double *d, gbsi_watch *watch,
                                 uint64_t room, uint32_t *scan, size_t n, double *before,
                                 size_t *left, gbs_error *err);

#endif
