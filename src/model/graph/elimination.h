/* SPDX-License-Identifier: Apache-2.0 */
/* Elimination orders by minimum fill and by minimum weight, improved by a local search, component
 * by component: the cost of an exact answer by junction tree, and the cliques of which to build
 * one. */
#ifndef GBSI_GRAPH_ELIMINATION_H
#define GBSI_GRAPH_ELIMINATION_H

#include "base/watch.h"
#include "graph/graph.h"

typedef enum gbsi_elimination_end {
    GBSI_ELIMINATION_DONE,    /* the order is complete, whatever its tables */
    GBSI_ELIMINATION_ENTRIES, /* no order: every one exceeds the limit of entries, or the one at
                                 hand is beyond all hope */
    GBSI_ELIMINATION_WORK,    /* no order: given up, nothing is proved */
} gbsi_elimination_end;

typedef struct gbsi_elimination_limits {
    uint64_t entries; /* table entries of one component: no order is made of one that needs more */
    uint64_t effort;  /* entries of rows looked at, per variable and neighbour of a component; a
                         few hundred milliseconds are allowed in any case */
    uint64_t useful;  /* 0: no local search; else entries of a component that will be calibrated at
                         most. A search takes as many steps as a share of its entries says, and if
                         they are more than these, as a share of these, for all components together:
                         see order_search.h */
    uint64_t steps;   /* 0: that many; else those of the local searches together, whatever pays */
    uint64_t bytes;   /* bytes that a local search may take; it is skipped if it needs more */
    const uint8_t *late; /* NULL, or [n_variables] 1: eliminate the variable last in its component,
                            without a local search */
    gbsi_watch *watch;   /* borrowed; NULL: the local search never stops */
} gbsi_elimination_limits;

/* Trees need 4, rings and ladders up to 5; a grid of 300 x 300 fails at its limit of entries after
 * 20. A step takes some 5 ns, on very large models 20. */
#define GBSI_ELIMINATION_EFFORT 5u

/* One component; components are numbered as by gbsi_graph_components(). */
typedef struct gbsi_elimination_part {
    uint32_t first;        /* the variables of the component are order[first .. first + n_variables)
                            */
    uint32_t n_variables;  /* the eliminated ones come first, the rest ascending */
    uint32_t n_eliminated; /* = n_variables if done */
    uint32_t width;        /* variables of the largest clique, less one; stopped: at least */
    uint64_t entries;      /* entries of the tables of the maximal cliques, saturating; if stopped,
                              more than any useful order has; UINT64_MAX: not counted */
    uint8_t end;           /* gbsi_elimination_end */
} gbsi_elimination_part;

typedef struct gbsi_elimination {
    uint32_t n_variables;
    uint32_t n_parts;
    uint64_t order_bytes; /* the largest number of bytes that a local search took */
    gbsi_elimination_part *part;
    uint32_t *order;      /* [n_variables] */
    size_t *clique_start; /* [n_variables + 1] by position in the order */
    uint32_t *clique; /* the neighbours that a variable had when it was eliminated, ascending, and
                         the variable itself a clique; empty where it was not eliminated */
} gbsi_elimination;

gbs_status gbsi_elimination_new(const gbsi_graph *graph, const gbsi_elimination_limits *limits,
                                gbsi_elimination **out, gbs_error *err);
void gbsi_elimination_free(gbsi_elimination *elimination);

/* The junction tree of the eliminated variables positions [first, end), all of one component.
 * @param position [n_variables] of eliminated variables, GBSI_NONE of others.
 * @param parent   [end - first] out or NULL: position of the first of the clique to be eliminated
 *                 itself, GBSI_NONE for a clique without such a variable.
 * @param covered  [end - first] out: 1 if the clique lies inside another and needs no table.
 * @return table entries of the cliques that are not covered, saturating. */
uint64_t gbsi_elimination_tree(const gbsi_elimination *elimination, const uint32_t *arity,
                               uint32_t first, uint32_t end, const uint32_t *position,
                               uint32_t *parent, uint8_t *covered);

/* 16 log2 k, linear between powers of two: to compare orders by. */
static inline uint32_t gbsi_log_weight(uint32_t k)
{
    const uint32_t octave = 31 - (uint32_t)__builtin_clz(k);
    return 16 * octave + (uint32_t)(((uint64_t)k << 4 >> octave) - 16);
}

/* a + b, at most UINT64_MAX. */
static inline uint64_t gbsi_saturating_add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* a b, at most UINT64_MAX. */
static inline uint64_t gbsi_saturating_mul(uint64_t a, uint64_t b)
{
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

#endif
