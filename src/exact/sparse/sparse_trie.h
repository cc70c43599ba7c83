/* SPDX-License-Identifier: Apache-2.0 */
/* The nonzero entries of a table as a prefix tree over its axes, the slowest first.
 *
 * A node of level k stands for states of the first k axes that some entry begins with. Nodes of a
 * level, and rows, which are the entries, are numbered in lexicographic order. */
#ifndef GBSI_SPARSE_SPARSE_TRIE_H
#define GBSI_SPARSE_SPARSE_TRIE_H

#include "base/status.h"
#include "trees/junction_tree.h"

typedef struct gbsi_trie_level {
    uint32_t arity;
    uint32_t n;      /* nodes */
    size_t capacity; /* entries of next */
    uint32_t *next;  /* [n][arity] 1 + the node of the next level, or the row; 0: none */
} gbsi_trie_level;

typedef struct gbsi_trie {
    uint32_t n_axes;
    uint32_t n;             /* rows */
    gbsi_trie_level *level; /* [n_axes] */
} gbsi_trie;

/* No rows yet. @param arity [n_axes] */
gbs_status gbsi_trie_init(gbsi_trie *rows, uint32_t n_axes, const uint32_t *arity, gbs_error *err);
void gbsi_trie_free(gbsi_trie *rows);

/* Adds the entry of states x, lexicographically after those that are there. @param shared number of
 * axes on which it agrees with the entry added last.
 * @return GBS_ERR_LIMIT where there are 2^32 nodes; GBS_ERR_MEMORY. */
gbs_status gbsi_trie_add(gbsi_trie *rows, const uint32_t *x, uint32_t shared, gbs_error *err);

/* Keeps the rows that are marked. @param alive [largest number of nodes or rows] 1: keep this row;
 * overwritten. */
void gbsi_trie_keep(gbsi_trie *rows, uint8_t *alive);

/* The largest number of nodes of a level, or of rows. */
uint32_t gbsi_trie_most(const gbsi_trie *rows);
uint64_t gbsi_trie_bytes(const gbsi_trie *rows);

#endif
