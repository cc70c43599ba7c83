/* SPDX-License-Identifier: Apache-2.0 */
/* Disjoint sets as a forest of parents, whose roots are the lowest members (Tarjan (1975), J.
 * ACM 22(2):215-225). At first every element is its own parent. */
#ifndef GBSI_BASE_FOREST_H
#define GBSI_BASE_FOREST_H

#include <stdbool.h>
#include <stdint.h>

/* Makes each of n elements a set of its own. */
static inline void gbsi_forest_plant(uint32_t *parent, uint32_t n)
{
    for (uint32_t v = 0; v < n; v++) {
        parent[v] = v;
    }
}

/* Returns the lowest member of v's set, and halves the path from v to the root. */
static inline uint32_t gbsi_forest_root(uint32_t *parent, uint32_t v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

/* Joins the sets of u and v. @return whether u and v were in different sets. */
static inline bool gbsi_forest_join(uint32_t *parent, uint32_t u, uint32_t v)
{
    const uint32_t a = gbsi_forest_root(parent, u);
    const uint32_t b = gbsi_forest_root(parent, v);
    parent[a < b ? b : a] = a < b ? a : b;
    return a != b;
}

/* Numbers the sets by their lowest members.
 * @param number [n] out: the number of v's set.
 * @return the number of sets. */
static inline uint32_t gbsi_forest_number(const uint32_t *parent, uint32_t n, uint32_t *number)
{
    uint32_t next = 0;
    for (uint32_t v = 0; v < n; v++) { /* parents are lower than their children */
        number[v] = parent[v] == v ? next++ : number[parent[v]];
    }
    return next;
}

#endif
