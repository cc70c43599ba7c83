/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the upward and the downward half of calibration use. */
#ifndef GBSI_TREES_CLIQUE_TABLES_H
#define GBSI_TREES_CLIQUE_TABLES_H

#include <stddef.h>

#include "base/watch.h"
#include "parallel/pool.h"
#include "trees/junction_tree.h"

/* ---- pieces.c ------------------------------------------------------------------------------- */

/* Operations on a long array, which is cut into pieces. The threads share the pieces of the array.
 * Results depend only on the array, not on the threads. */
#define GBSI_PIECE ((size_t)1 << 15) /* number of entries of a piece */

typedef struct gbsi_pieces {
    gbsi_pool *pool;   /* NULL if one thread does all work */
    gbsi_watch *watch; /* NULL if nothing stops the work. After a stop, results are undefined */
    double *partial;   /* [n / GBSI_PIECE + 1] scratch for partial results by piece, where n is the
                          length of the longest array */
} gbsi_pieces;

/* Each function computes what the member of gbsi_table_loops with the same name computes. @param t
 * [n]. */
double gbsi_pieces_max(const gbsi_pieces *shared, const double *t, size_t n);
double gbsi_pieces_least_above(const gbsi_pieces *shared, const double *t, size_t n, double floor);
double gbsi_pieces_sum(const gbsi_pieces *shared, const double *t, size_t n);
void gbsi_pieces_add(const gbsi_pieces *shared, double *t, size_t n, double c);
void gbsi_pieces_multiply(const gbsi_pieces *shared, double *t, size_t n, double c);
void gbsi_pieces_exp_less(const gbsi_pieces *shared, double *t, size_t n, double max);
void gbsi_pieces_log(const gbsi_pieces *shared, double *t, size_t n);

/* ---- clique_tables.c ------------------------------------------------------------------------ */

static inline gbsi_pieces gbsi_pieces_of(const gbsi_tables *tables)
{
    return (gbsi_pieces){tables->pool, tables->watch, tables->partial};
}

/* Numbers of entries of the scratch arrays that are enough for every clique of a tree. */
typedef struct gbsi_scratch_sizes {
    size_t values; /* length of the array for the values of factors */
    size_t map;    /* length of the array for the offsets of all operands of one batch */
    size_t batch;
} gbsi_scratch_sizes;
gbsi_scratch_sizes gbsi_scratch_of(const gbsi_tree *tree);

/* Returns the log-weights of a factor for all joint states of its scope. @param room scratch,
 * written if the factor is not a table. @param n out: number of log-weights. */
const double *gbsi_factor_logs(const gbsi_conditioned *model, size_t f, double *room, size_t *n);

/* Makes the table of clique i from its factors and the messages of its children. These messages
 * must be weights if tables->weights[i] is set, and logarithms otherwise.
 * @param message [n_rows] out: the message of clique i, not yet normalised. */
void gbsi_clique_fill(gbsi_tables *tables, uint32_t i, double *message);

/* ---- branches.c ----------------------------------------------------------------------------- */

/* The threads of the pool compute the branches of a tree at the same time. */
/* largest number of entries of a branch; cliques with more entries are shared among threads */
#define GBSI_BRANCH_ENTRIES ((size_t)1 << 15)

typedef struct gbsi_branch_workers gbsi_branch_workers;

/* Allocates scratch memory for each thread. If memory is short, only some of the threads get
 * scratch. */
gbsi_branch_workers *gbsi_branch_workers_new(const gbsi_tables *tables);
void gbsi_branch_workers_free(gbsi_branch_workers *workers); /* NULL is allowed */
/* Returns the bytes of the scratch memory of n_threads threads; 0 if the tree is too small for
 * several threads. */
uint64_t gbsi_branch_workers_bytes(const gbsi_tree *tree, gbsi_keep keep, uint32_t n_threads);

/* Calls job(tables, context, branch) for each branch of tree t, in any order and at the same time.
 * The argument `tables` of a job has the scratch of the job's thread, and no pool. */
void gbsi_branches_do(gbsi_tables *tables, uint32_t t,
                      void (*job)(gbsi_tables *tables, void *context, const gbsi_branch *branch),
                      void *context);

#endif
