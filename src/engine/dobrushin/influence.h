/* SPDX-License-Identifier: Apache-2.0 */
/* Upper bounds on Dobrushin's influences,
 *
 *     C_ij = max over x, y that differ in x_j alone of TV( p_i(.|x), p_i(.|y) ),
 *
 * where C_ij is the influence of variable j on variable i. The bounds are computed row by row
 * [M17]. If a configuration leaves i no possible state, the conditional of i counts as uniform. */
#ifndef GBSI_DOBRUSHIN_INFLUENCE_H
#define GBSI_DOBRUSHIN_INFLUENCE_H

#include "graph/graph.h"

/* The scratch memory in which rows of the matrix are computed. */
typedef struct gbsi_influence gbsi_influence;

typedef struct gbsi_influence_row {
    uint32_t n;
    const uint32_t *j;   /* [n] variables that share a factor with i, ascending */
    const double *bound; /* [n] upper bounds of C_ij, 0 to 1 */
} gbsi_influence_row;

/* Limits on the work of computing bounds, for calls in which time matters more than tight bounds.
 */
typedef struct gbsi_influence_limits {
    size_t cells; /* several factors of one pair of variables are measured together if all variables
                     of these factors have at most this many joint states; otherwise the bounds of
                     the factors are added */
    uint64_t walk; /* a table of n variables and E entries is read entry by entry for each pair of
                      its variables if n (n - 1) E is at most this number; otherwise only the spread
                      of the table is used */
} gbsi_influence_limits;

#define GBSI_INFLUENCE_CELLS ((size_t)1 << 16) /* largest useful value of `cells` */

/* Returns limits with which all bounds of a large model take time in proportion to the model's
 * size. */
gbsi_influence_limits gbsi_influence_affordable(const gbsi_factors *factors);

/* @param graph borrowed; its extra edges do not count as influences. @param limits NULL if only
 * the limit GBSI_INFLUENCE_CELLS applies. */
gbs_status gbsi_influence_new(const gbsi_graph *graph, const gbsi_influence_limits *limits,
                              gbsi_influence **out, gbs_error *err);
void gbsi_influence_free(gbsi_influence *w);

/* Computes row i, which is valid until the next call. */
gbs_status gbsi_influence_row_of(gbsi_influence *w, uint32_t i, gbsi_influence_row *row,
                                 gbs_error *err);

/* Computes a bound on the sum of row i. The bound is the sum of the row's entries, except that each
 * factor of more than GBSI_INFLUENCE_LONG variables is added in one step. If pairs of a long factor
 * share other factors too, the bound is slightly larger than the sum of the entries. Takes time
 * O(degree), not the squared length of long factors. */
#define GBSI_INFLUENCE_LONG 64u
gbs_status gbsi_influence_row_sum(gbsi_influence *w, uint32_t i, double *sum, gbs_error *err);
/* Bounds the sum of every row, and computes the largest and the mean of these bounds. The largest
 * and the mean are 0 if the model has no variables. */
gbs_status gbsi_influence_sums(gbsi_influence *w, double *largest, double *mean, gbs_error *err);

#endif
