/* SPDX-License-Identifier: Apache-2.0 */
/* Elimination orders by minimum fill and by minimum weight, improved by a local search, for each
 * component. An order determines the cost of an exact answer by junction tree, and the cliques of
 * this tree. */
#ifndef GBSI_GRAPH_ELIMINATION_H
#define GBSI_GRAPH_ELIMINATION_H

#include "base/watch.h"
#include "graph/graph.h"

typedef enum gbsi_elimination_end {
    GBSI_ELIMINATION_DONE,    /* the order is complete; its tables may have any size */
    GBSI_ELIMINATION_ENTRIES, /* no order: every order exceeds the limit of entries, or the search
                                 met a table that no search improves enough */
    GBSI_ELIMINATION_WORK,    /* no order: the search was given up without a proof */
} gbsi_elimination_end;

typedef struct gbsi_elimination_limits {
    uint64_t entries; /* largest number of table entries of one component; no order is made for a
                         component that needs more */
    /* number of row entries that a search may read, per variable and neighbour of the
     * component; a few hundred milliseconds are allowed in any case */
    uint64_t effort;
    /* 0: no local search; otherwise the largest number of table entries for which the caller will
     * calibrate the junction tree of a component. For such a component the local search takes a
     * number of steps proportional to its table entries. All components with more entries share one
     * budget of steps: see order_search.h */
    uint64_t useful;
    uint64_t steps; /* 0: the number that `useful` implies; otherwise the steps of all local
                       searches together */
    /* largest number of bytes of a local search; a search that needs more is skipped */
    uint64_t bytes;
    const uint8_t *late; /* NULL, or [n_variables]: 1 means that the variable is eliminated last in
                            its component, without a local search */
    gbsi_watch *watch;   /* borrowed; NULL if nothing may stop the local search */
} gbsi_elimination_limits;

/* The usual `effort`. Trees need an effort of 4, and rings and ladders up to 5; the
 * search on a grid of 300 x 300 exceeds its limit of table entries at an effort of 20. Each row
 * entry that a search reads takes some 5 ns, and some 20 ns on very large models.
 */
#define GBSI_ELIMINATION_EFFORT 5u

/* One component; components are numbered as by gbsi_graph_components(). */
typedef struct gbsi_elimination_part {
    uint32_t first;       /* the variables of the component are order[first .. first + n_variables)
                           */
    uint32_t n_variables; /* number of variables; in the order, the eliminated variables come first,
                             and the other variables follow in ascending order */
    /* number of eliminated variables; n_variables if the order is complete */
    uint32_t n_eliminated;
    uint32_t width;   /* number of variables of the largest clique minus one; a lower bound if the
                         search stopped */
    uint64_t entries; /* number of entries of the tables of the maximal cliques, at most UINT64_MAX;
                         if the search stopped, a number larger than any useful order has;
                         UINT64_MAX also if the entries were not counted */
    uint8_t end;      /* a gbsi_elimination_end */
} gbsi_elimination_part;

typedef struct gbsi_elimination {
    uint32_t n_variables;
    uint32_t n_parts;
    uint64_t order_bytes; /* largest number of bytes that a local search allocated */
    gbsi_elimination_part *part;
    uint32_t *order;      /* [n_variables] variables in elimination order, by component */
    size_t *clique_start; /* [n_variables + 1] offsets of the cliques, by position in the order */
    /* for each eliminated variable, its neighbours at its elimination, ascending; these neighbours
     * and the variable form a clique; the row of any other variable is empty */
    uint32_t *clique;
} gbsi_elimination;

gbs_status gbsi_elimination_new(const gbsi_graph *graph, const gbsi_elimination_limits *limits,
                                gbsi_elimination **out, gbs_error *err);
void gbsi_elimination_free(gbsi_elimination *elimination);

/* Makes the junction tree of the eliminated variables at the positions [first, end), which belong
 * to one component.
 * @param position [n_variables] positions of eliminated variables; GBSI_NONE for other variables.
 * @param parent   [end - first] out, or NULL: for each clique, the position of the member (other
 *                 than its own variable) that is eliminated first; GBSI_NONE if no member was
 * eliminated.
 * @param covered  [end - first] out: 1 if the clique lies inside another and needs no table.
 * @return number of table entries of the cliques that are not covered, at most UINT64_MAX. */
uint64_t gbsi_elimination_tree(const gbsi_elimination *elimination, const uint32_t *arity,
                               uint32_t first, uint32_t end, const uint32_t *position,
                               uint32_t *parent, uint8_t *covered);

/* Returns 16 log2 k, interpolated linearly between powers of two; used to compare orders. */
static inline uint32_t gbsi_log_weight(uint32_t k)
{
    const uint32_t octave = 31 - (uint32_t)__builtin_clz(k);
    return 16 * octave + (uint32_t)(((uint64_t)k << 4 >> octave) - 16);
}

/* Returns a + b, at most UINT64_MAX. */
static inline uint64_t gbsi_saturating_add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Returns a b, at most UINT64_MAX. */
static inline uint64_t gbsi_saturating_mul(uint64_t a, uint64_t b)
{
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

#endif
