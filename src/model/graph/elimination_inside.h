/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a search for an elimination order, private to src/graph. elimination.c drives it
 * component by component, elimination_rows.c makes its rows, elimination_fill.c keeps its fill, and
 * elimination_improve.c hands the order found to order_search.h. */
#ifndef GBSI_GRAPH_ELIMINATION_INSIDE_H
#define GBSI_GRAPH_ELIMINATION_INSIDE_H

#include "graph/elimination.h"

enum {
    MOST_DEGREE = 63, /* a clique of 64 variables has more entries than any limit */
    MOST_FILL = 2047, /* the fill-in of 63 neighbours is at most 1953 */
    N_BUCKETS = MOST_FILL + 1,
    HUB = 8,     /* rows this many times longer are searched, not read */
    SEARCH = 16, /* entries that searching one costs */
};

#define GBSI_EASY_WIDTH 2u /* up to here minimum fill is right: nothing to gain from a search */

#define DEAD (GBSI_NONE - 1) /* in search.local: eliminated */

/* All data of one vertex, side by side: on large graphs every access to a vertex is a cache
 * miss. */
typedef struct vertex {
    uint32_t *to;    /* neighbours, ascending; entries may be dead */
    uint32_t n;      /* of to */
    uint32_t degree; /* living neighbours */
    int64_t fill;
    uint32_t weight; /* weight of the clique that it would make now: sum of log2 arity, in 1/16 */
    uint32_t node;   /* its valid entry in the queue; GBSI_NONE while it has no entry */
    uint32_t own;    /* 1: `to` is a separate allocation, else part of the rows' block */
} vertex;

/* Vertices by fill: stacks of nodes, of which those that a vertex has left behind are skipped. */
typedef struct queue_node {
    uint32_t v;
    uint32_t below;
} queue_node;

typedef struct search {
    const gbsi_graph *graph;
    const uint32_t *arity;
    gbsi_elimination *e;
    gbsi_elimination_limits limits;
    uint64_t work, most_work; /* entries of rows looked at, in this component */
    uint64_t pool, spare;     /* left for all components: beyond their effort; for further tries */
    uint64_t order_pool;      /* steps of order_search.h left for components that are too large */
    uint32_t *position;       /* [n] in the order; GBSI_NONE: not eliminated */
    uint32_t *local;    /* [n] while a variable is eliminated: index in N, or MOST_DEGREE + index
                           outside; else GBSI_NONE or DEAD */
    vertex *x;          /* [n] */
    uint8_t *covered;   /* [n] scratch */
    uint32_t *variable; /* [n] variables of the component, ascending */
    uint32_t *block;    /* rows of the component as they are at first */
    queue_node *node;   /* [node_capacity] */
    size_t node_capacity;
    uint32_t n_nodes, free_node; /* used at the most; list of those free again */
    uint32_t top[N_BUCKETS];
    uint32_t lowest; /* bucket: none below holds anything */
    size_t clique_capacity;
    /* vertices outside N next to some of N, and to which: bits by index in N */
    uint32_t *outside;
    uint64_t *outside_of;
    size_t outside_capacity, outside_of_capacity;
    uint32_t n_outside;
    bool by_weight; /* the queue goes by weight, not by fill */
    bool held;      /* late variables are not in the queue yet */
} search;

/* The variable being eliminated has these neighbours N. */
typedef struct neighbourhood {
    uint32_t n;
    uint32_t v[MOST_DEGREE];
    uint64_t lacks[MOST_DEGREE]; /* members of N it is not next to */
} neighbourhood;

/* ---- elimination.c ------------------------------------------------------------------------- */

/* How many of the n variables in s->variable are to be eliminated last. */
uint32_t gbsi_count_late(const search *s, uint32_t n);

/* ---- elimination_improve.c ----------------------------------------------------------------- */

/* A better order of a component whose order is complete, if its tables are worth a search. */
gbs_status gbsi_elimination_improve(search *s, gbsi_elimination_part *part, gbs_error *err);

/* ---- elimination_rows.c -------------------------------------------------------------------- */

/* Entries that the rows of the n variables in s->variable need at most: every scope counts,
 * overlapping or not. */
uint64_t gbsi_rows_room(const search *s, uint32_t n);
/* Makes the rows of the n variables in s->variable, from s->block. */
gbs_status gbsi_rows_make(search *s, uint32_t n, gbs_error *err);
void gbsi_rows_free(search *s, uint32_t n);
/* The place of the first entry >= v. */
uint32_t gbsi_row_find(const vertex *x, uint32_t v);

/* ---- elimination_fill.c -------------------------------------------------------------------- */

/* Degree, fill and weight of all variables, and the queue. @param shuffle 0: ascending at first. */
gbs_status gbsi_fill_start(search *s, uint32_t n, uint32_t shuffle, gbs_error *err);
/* Puts the variables into the queue that were held back, once all others are eliminated. */
void gbsi_fill_release(search *s, uint32_t n);
/* The variable of least fill, or weight, GBSI_NONE when only hopeless ones are left. */
uint32_t gbsi_fill_least(search *s);
/* Gathers the living neighbours of v: at most MOST_DEGREE. */
void gbsi_fill_gather(search *s, uint32_t v, neighbourhood *N);
/* Take it out. */
gbs_status gbsi_fill_eliminate(search *s, uint32_t v, neighbourhood *N, gbs_error *err);

#endif
