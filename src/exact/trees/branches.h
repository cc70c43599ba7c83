/* SPDX-License-Identifier: Apache-2.0 */
/* The branches of a tree, done by the threads of the pool at the same time. */
#ifndef GBSI_TREES_BRANCHES_H
#define GBSI_TREES_BRANCHES_H

#include "trees/junction_tree.h"

#define GBSI_BRANCH_ENTRIES                                               \
    ((size_t)1 << 15) /* of a branch at most; a larger clique has threads \
                         of its own */

typedef struct gbsi_branch_workers gbsi_branch_workers;

/* Scratch memory for each thread; there are fewer workers than threads if memory is short. */
gbsi_branch_workers *gbsi_branch_workers_new(const gbsi_tables *tables);
void gbsi_branch_workers_free(gbsi_branch_workers *workers); /* NULL is allowed */
/* The bytes of this scratch for a number of threads, if the tree also has large cliques. */
uint64_t gbsi_branch_workers_bytes(const gbsi_tree *tree, gbsi_keep keep, uint32_t n_threads);

/* job(tables, context, branch) for each branch of tree t, in any order and at the same time. The
 * tables have the thread's own scratch and no pool. */
void gbsi_branches_do(gbsi_tables *tables, uint32_t t,
                      void (*job)(gbsi_tables *tables, void *context, const gbsi_branch *branch),
                      void *context);

#endif
