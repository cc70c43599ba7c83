/* SPDX-License-Identifier: Apache-2.0 */
/* The nonzero entries of a table as a prefix tree, whose levels are the axes of the table, the
 * slowest axis first.
 *
 * A node of level k stands for a sequence of states of the first k axes with which some entry
 * begins. A row is an entry, which is a leaf of the tree. The nodes of a level, and the rows, are
 * numbered in lexicographic order. */
#ifndef GBSI_SPARSE_SPARSE_TRIE_H
#define GBSI_SPARSE_SPARSE_TRIE_H

#include "base/status.h"
#include "trees/junction_tree.h"

typedef struct gbsi_trie_level {
    uint32_t arity;
    uint32_t n;      /* number of nodes */
    size_t capacity; /* length of `next` */
    uint32_t *next;  /* [n][arity] for each node and state of the axis: 1 + number of the node below
                        it on the next level (on the last level, of the row); 0 if there is none */
} gbsi_trie_level;

typedef struct gbsi_trie {
    uint32_t n_axes;
    uint32_t n;             /* number of rows */
    gbsi_trie_level *level; /* [n_axes] one level per axis */
} gbsi_trie;

/* Makes a prefix tree without rows. @param arity [n_axes] */
gbs_status gbsi_trie_init(gbsi_trie *rows, uint32_t n_axes, const uint32_t *arity, gbs_error *err);
void gbsi_trie_free(gbsi_trie *rows);

/* Adds the entry of states x, which must come after all earlier entries in lexicographic order.
 * @param shared x agrees with the entry that was added last on this number of first axes.
 * @return GBS_ERR_LIMIT if the tree has 2^32 nodes; GBS_ERR_MEMORY. */
gbs_status gbsi_trie_add(gbsi_trie *rows, const uint32_t *x, uint32_t shared, gbs_error *err);

/* Removes the rows that are not marked in `alive`. @param alive [largest number of nodes or rows]
 * 1: keep this row; overwritten. */
void gbsi_trie_keep(gbsi_trie *rows, uint8_t *alive);

/* Returns the larger of two numbers: the number of rows, and the number of nodes of the largest
 * level. */
uint32_t gbsi_trie_most(const gbsi_trie *rows);
uint64_t gbsi_trie_bytes(const gbsi_trie *rows);

#endif
