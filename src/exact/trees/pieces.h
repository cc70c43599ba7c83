/* SPDX-License-Identifier: Apache-2.0 */
/* Work on a long array, whose pieces the threads share. The result depends on the array alone.
 */
#ifndef GBSI_TREES_PIECES_H
#define GBSI_TREES_PIECES_H

#include <stddef.h>

#include "base/watch.h"
#include "parallel/pool.h"

#define GBSI_PIECE ((size_t)1 << 15) /* entries that one thread takes at a time */

typedef struct gbsi_pieces {
    gbsi_pool *pool;   /* NULL: one thread */
    gbsi_watch *watch; /* NULL: cannot be stopped. Once stopped, results are undefined */
    double *partial;   /* [n / GBSI_PIECE + 1] partial results for the longest array */
} gbsi_pieces;

/* t = [n]; gbsi_table_loops says what these functions compute. */
double gbsi_pieces_max(const gbsi_pieces *shared, const double *t, size_t n);
double gbsi_pieces_least_above(const gbsi_pieces *shared, const double *t, size_t n, double floor);
double gbsi_pieces_sum(const gbsi_pieces *shared, const double *t, size_t n);
void gbsi_pieces_add(const gbsi_pieces *shared, double *t, size_t n, double c);
void gbsi_pieces_multiply(const gbsi_pieces *shared, double *t, size_t n, double c);
void gbsi_pieces_exp_less(const gbsi_pieces *shared, double *t, size_t n, double max);
void gbsi_pieces_log(const gbsi_pieces *shared, double *t, size_t n);

#endif
