/* SPDX-License-Identifier: Apache-2.0 */
/* Upper bounds on Dobrushin's influences,
 *
 *     C_ij = max over x, y that differ in x_j alone of TV( p_i(.|x), p_i(.|y) ),
 *
 * the influence of j on i, row by row [M17]. Configurations that leave i no state count as uniform.
 */
#ifndef GBSI_DOBRUSHIN_INFLUENCE_H
#define GBSI_DOBRUSHIN_INFLUENCE_H

#include "graph/graph.h"

/* Makes rows; holds scratch only. */
typedef struct gbsi_influence gbsi_influence;

typedef struct gbsi_influence_row {
    uint32_t n;
    const uint32_t *j;   /* [n] neighbours of i by factors, ascending */
    const double *bound; /* [n] of C_ij, 0 to 1 */
} gbsi_influence_row;

/* Limits on the work, for calls in which time matters more than tight bounds. */
typedef struct gbsi_influence_limits {
    size_t cells;  /* several factors of one pair are put together over all their variables if those
                      have at most this many configurations, else their bounds are added */
    uint64_t walk; /* tables of n variables and E entries are looked at entry by entry for each pair
                      if n (n - 1) E is at most that, else only their spread counts */
} gbsi_influence_limits;

#define GBSI_INFLUENCE_CELLS ((size_t)1 << 16) /* a larger number has no use */

/* Limits with which all bounds of a large model take time in proportion to it. */
gbsi_influence_limits gbsi_influence_affordable(const gbsi_factors *factors);

/* @param graph borrowed; its extra edges do not count as influences. @param limits NULL: none but
 * GBSI_INFLUENCE_CELLS. */
gbs_status gbsi_influence_new(const gbsi_graph *graph, const gbsi_influence_limits *limits,
                              gbsi_influence **out, gbs_error *err);
void gbsi_influence_free(gbsi_influence *w);

/* Row i; valid until the next call. */
gbs_status gbsi_influence_row_of(gbsi_influence *w, uint32_t i, gbsi_influence_row *row,
                                 gbs_error *err);

/* A bound on the sum of row i. It is the sum of the row, except that factors of more than
 * GBSI_INFLUENCE_LONG variables are counted in one step each and not listed. If the same pairs
 * share other factors, the bound is a little more than the row says. Time O(degree), without the
 * squares of long factors. */
#define GBSI_INFLUENCE_LONG 64u
gbs_status gbsi_influence_row_sum(gbsi_influence *w, uint32_t i, double *sum, gbs_error *err);
/* The largest of these sums and their mean, 0 without variables. */
gbs_status gbsi_influence_sums(gbsi_influence *w, double *largest, double *mean, gbs_error *err);

#endif
