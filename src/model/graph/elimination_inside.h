/* SPDX-License-Identifier: Apache-2.0 */
/* The internal state of a search for an elimination order, private to src/model/graph.
 * elimination.c runs the search for each component, elimination_rows.c makes the rows,
 * elimination_fill.c updates the fill, and elimination_improve.c passes the order to
 * order_search.h. */
#ifndef GBSI_GRAPH_ELIMINATION_INSIDE_H
#define GBSI_GRAPH_ELIMINATION_INSIDE_H

#include "graph/elimination.h"

enum {
    MOST_DEGREE = 63, /* a clique of 64 variables has more entries than any limit */
    MOST_FILL = 2047, /* the fill-in of 63 neighbours is at most 1953 */
    N_BUCKETS = MOST_FILL + 1,
    HUB = 8,     /* of two rows, the longer one is searched instead of read if it is longer by this
                    factor */
    SEARCH = 16, /* work of one search in a row, counted in row entries */
};

/* up to this width minimum fill is optimal, and a local search cannot improve it */
#define GBSI_EASY_WIDTH 2u

#define DEAD (GBSI_NONE - 1) /* value in search.local of an eliminated variable */

/* All data of one vertex in one struct: on large graphs every access to a vertex is a cache
 * miss. */
typedef struct vertex {
    uint32_t *to;    /* neighbours, ascending; some of them may be eliminated already */
    uint32_t n;      /* number of entries of `to` */
    uint32_t degree; /* number of neighbours that are not eliminated */
    int64_t fill;
    uint32_t weight; /* weight of the clique that an elimination of the vertex would make now: the
                        sum of log2 arity over its members, in units of 1/16 */
    uint32_t node;   /* valid queue node of the vertex; GBSI_NONE if it has none */
    uint32_t own;    /* 1 if `to` is a separate allocation, 0 if it is a part of search.block */
} vertex;

/* A node of the queue, which holds the vertices by fill. Each bucket of the queue is a stack of
 * nodes. A node that is no longer the valid node of its vertex is skipped. */
typedef struct queue_node {
    uint32_t v;
    uint32_t below;
} queue_node;

typedef struct search {
    const gbsi_graph *graph;
    const uint32_t *arity;
    gbsi_elimination *e;
    gbsi_elimination_limits limits;
    uint64_t work, most_work; /* number of row entries read in this component, and its limit */
    /* work left for all components together: `pool` is work in addition to the effort that each
     * component is allowed, and `spare` is work for further tries */
    uint64_t pool, spare;
    uint64_t order_pool; /* steps of order_search.h left for components with too many entries */
    uint32_t *position;  /* [n] position in the order; GBSI_NONE if not eliminated */
    uint32_t *local;     /* [n] DEAD if the variable is eliminated, otherwise GBSI_NONE. While a
                            variable is eliminated, its neighbours have their index in N
                            instead, and vertices in `outside` have MOST_DEGREE + their index
                            there */
    vertex *x;           /* [n] vertices */
    uint8_t *covered;    /* [n] scratch */
    uint32_t *variable;  /* [n] variables of the component, ascending */
    uint32_t *block;     /* rows of the component before any elimination */
    queue_node *node;    /* [node_capacity] nodes of the queue */
    size_t node_capacity;
    /* number of nodes that were ever used, and the first node of the list of free nodes */
    uint32_t n_nodes, free_node;
    uint32_t top[N_BUCKETS];
    uint32_t lowest; /* lowest bucket that may hold a node */
    size_t clique_capacity;
    /* vertices outside the current neighbourhood N that are adjacent to members of N, and for each
     * of them the bit set of these members by index in N */
    uint32_t *outside;
    uint64_t *outside_of;
    size_t outside_capacity, outside_of_capacity;
    uint32_t n_outside;
    bool by_weight; /* true if the queue is arranged by weight instead of fill */
    bool held;      /* true while late variables are not in the queue */
} search;

/* The neighbours N of the variable being eliminated. */
typedef struct neighbourhood {
    uint32_t n;
    uint32_t v[MOST_DEGREE];
    uint64_t lacks[MOST_DEGREE]; /* for each member of N, the members that are not adjacent to it */
} neighbourhood;

/* ---- elimination.c ------------------------------------------------------------------------- */

/* Returns the number of the n variables in s->variable that must be eliminated last. */
uint32_t gbsi_count_late(const search *s, uint32_t n);

/* ---- elimination_improve.c ----------------------------------------------------------------- */

/* Searches for a better order of a component whose order is complete, if its tables justify the
 * search. */
gbs_status gbsi_elimination_improve(search *s, gbsi_elimination_part *part, gbs_error *err);

/* ---- elimination_rows.c -------------------------------------------------------------------- */

/* Returns an upper bound of the number of entries in the rows of the n variables in s->variable; a
 * neighbour counts once for each shared scope. */
uint64_t gbsi_rows_room(const search *s, uint32_t n);
/* Makes the rows of the n variables in s->variable, from s->block. */
gbs_status gbsi_rows_make(search *s, uint32_t n, gbs_error *err);
void gbsi_rows_free(search *s, uint32_t n);
/* Returns the place in a row of the first entry >= v. */
uint32_t gbsi_row_find(const vertex *x, uint32_t v);

/* ---- elimination_fill.c -------------------------------------------------------------------- */

/* Computes degree, fill and weight of all variables, and fills the queue. @param shuffle 0:
 * variables start in ascending order. */
gbs_status gbsi_fill_start(search *s, uint32_t n, uint32_t shuffle, gbs_error *err);
/* Puts the late variables into the queue once all others are eliminated. */
void gbsi_fill_release(search *s, uint32_t n);
/* Returns the variable of least fill or weight; GBSI_NONE if the elimination of any remaining
 * variable would make too large a table. */
uint32_t gbsi_fill_least(search *s);
/* Gathers the neighbours of v that are not eliminated, at most MOST_DEGREE. */
void gbsi_fill_gather(search *s, uint32_t v, neighbourhood *N);
/* Eliminates v, whose neighbours are N. */
gbs_status gbsi_fill_eliminate(search *s, uint32_t v, neighbourhood *N, gbs_error *err);

#endif
