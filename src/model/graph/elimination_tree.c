/* SPDX-License-Identifier: Apache-2.0 */
/* Arranges the cliques of an elimination in a tree. The clique of v consists of v and its
 * neighbours at its elimination; its parent is the clique of that neighbour which is eliminated
 * first. A clique lies inside an earlier clique if and only if it equals the clique of one of its
 * children, without the own variable of this child. This holds if and only if the clique of some
 * child has exactly one member more. */
#include <string.h>

#include "graph/elimination.h"

static uint32_t clique_size(const gbsi_elimination *e, uint32_t at)
{
    return (uint32_t)(e->clique_start[at + (size_t)1] - e->clique_start[at]);
}

/* Returns the lowest position in the clique; GBSI_NONE if none of its variables was eliminated. */
static uint32_t parent_of(const gbsi_elimination *e, uint32_t at, const uint32_t *position)
{
    uint32_t first = GBSI_NONE;
    for (size_t i = e->clique_start[at]; i < e->clique_start[at + (size_t)1]; ++i) {
        const uint32_t p = position[e->clique[i]];
        first = p < first ? p : first;
    }
    return first;
}

static uint64_t table_entries(const gbsi_elimination *e, const uint32_t *arity, uint32_t at)
{
    uint64_t n = arity[e->order[at]];
    for (size_t i = e->clique_start[at]; i < e->clique_start[at + (size_t)1]; ++i) {
        n = gbsi_saturating_mul(n, arity[e->clique[i]]);
    }
    return n;
}

uint64_t gbsi_elimination_tree(const gbsi_elimination *e, const uint32_t *arity, uint32_t first,
                               uint32_t end, const uint32_t *position, uint32_t *parent,
                               uint8_t *covered)
{
    uint64_t sum = 0;
    memset(covered, 0, end - first);
    for (uint32_t at = first; at < end; ++at) {
        const uint32_t p = parent_of(e, at, position);
        if (p != GBSI_NONE && clique_size(e, at) == clique_size(e, p) + 1) {
            covered[p - first] = 1;
        }
        if (parent != NULL) {
            parent[at - first] = p;
        }
    }
    for (uint32_t at = first; at < end; ++at) {
        const uint64_t n = covered[at - first] ? 0 : table_entries(e, arity, at);
        sum = n > UINT64_MAX - sum ? UINT64_MAX : sum + n;
    }
    return sum;
}
