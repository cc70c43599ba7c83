/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the search for better orders, private to src/graph: order_search.c drives it,
 * order_bags.c keeps the tree of bags, order_greedy.c eliminates the variables of one region. */
#ifndef GBSI_GRAPH_ORDER_SEARCH_INSIDE_H
#define GBSI_GRAPH_ORDER_SEARCH_INSIDE_H

#include "graph/graph.h"
#include "graph/order_search.h"

enum {
    REGION_WORDS = 4,
    MOST_REGION = 64 * REGION_WORDS, /* vertices of a region */
};

/* ---- random words -------------------------------------------------------------------------- */

/* Random words, which are the same in every search. */
typedef struct order_random {
    uint64_t next; /* counter */
    uint32_t word[4];
    uint32_t n_left;
} order_random;

double gbsi_order_uniform(order_random *random); /* in [0, 1) */

/* ---- order_greedy.c ------------------------------------------------------------------------ */

/* A small graph. Sets of its vertices are bits of REGION_WORDS words. */
typedef struct region {
    uint32_t n, n_words;
    uint32_t vertex[MOST_REGION]; /* number of each vertex in the whole graph */
    double arity[MOST_REGION];
    uint32_t weight[MOST_REGION]; /* weight of a missing edge: the product of the weights of its
                                     ends */
    bool weighted;                /* true if some weight is not 1 */
    uint64_t row[MOST_REGION][REGION_WORDS]; /* neighbours */
} region;

/* The result of eliminating the region: a tree of cliques in the order of elimination. */
typedef struct triangulation {
    uint32_t n;
    uint64_t clique[MOST_REGION][REGION_WORDS];
    uint32_t size[MOST_REGION];     /* members of the clique */
    uint32_t parent[MOST_REGION];   /* parent of each clique, GBSI_NONE for the last */
    uint32_t bag[MOST_REGION];      /* the maximal clique it lies in: itself or an earlier one */
    double entries[MOST_REGION];    /* of maximal cliques */
    double total;                   /* their sum */
    uint32_t position[MOST_REGION]; /* for each vertex the first clique that holds all its remaining
                                       neighbours */
} triangulation;

/* Scratch of one elimination. */
typedef struct greedy {
    uint64_t row[MOST_REGION][REGION_WORDS]; /* of vertices not eliminated */
    double fill[MOST_REGION];                /* weights of the edges that its neighbours lack */
    double noise[MOST_REGION];               /* factor that the fill-in of each vertex is multiplied
                                                by */
    uint16_t alive[MOST_REGION];
    uint32_t n_alive;
    uint16_t open[MOST_REGION]; /* cliques that have no parent yet */
    uint32_t n_open;
    uint64_t work; /* added to */
} greedy;

/* Eliminates all vertices of the region by least fill times noise.
 * @param noise at least 0: the largest factor less one.
 * @return false if the entries exceed `most`; then the triangulation means nothing. */
bool gbsi_greedy_run(greedy *g, const region *r, double noise, order_random *random, double most,
                     triangulation *t);

/* ---- order_bags.c -------------------------------------------------------------------------- */

typedef struct bag {
    size_t first;   /* where its members begin */
    double entries; /* 0: the slot is free */
    uint32_t n;     /* members */
    uint32_t link;  /* first of its list of links, GBSI_NONE: none; of a free slot the next one */
    uint32_t mark;  /* of the caller */
} bag;

/* One direction of an edge of the tree; the link with number k ^ 1 is the opposite direction of
 * link k. */
typedef struct bag_link {
    uint32_t to;
    uint32_t next, before; /* links in the list of the bag that the edge leads away from */
} bag_link;

/* A tree of bags that changes. */
typedef struct bags {
    bag *bag;
    uint32_t n_bags;
    uint32_t n_slots, most_slots; /* slots used until now; at most */
    uint32_t free_slot;
    bag_link *link;
    uint32_t n_links, most_links;
    uint32_t free_link; /* even number of a free pair */
    uint32_t *member;
    size_t n_members, n_alive, capacity; /* used, of bags that are there, allocated */
    double *root;      /* [2 n_leaves] fourth roots of entries: a tree of sums, slots its leaves */
    uint32_t n_leaves; /* a power of two */
} bags;

/* Room for the tree decompositions of n vertices, a region more included. */
gbs_status gbsi_bags_init(bags *b, uint32_t n, size_t n_members, gbs_error *err);
void gbsi_bags_free(bags *b);
uint64_t gbsi_bags_bytes(uint32_t n, uint64_t n_members);

/* Makes sure that n more members fit. */
gbs_status gbsi_bags_reserve(bags *b, size_t n, gbs_error *err);
/* A bag without links, whose n members the caller fills in. @return its number. */
uint32_t gbsi_bags_add(bags *b, uint32_t n, double entries);
/* Takes a bag away with its links. */
void gbsi_bags_remove(bags *b, uint32_t at);
void gbsi_bags_join(bags *b, uint32_t x, uint32_t y);
/* `drop` lies within `keep`, which gets its other neighbours. */
void gbsi_bags_merge(bags *b, uint32_t keep, uint32_t drop);
/* A bag with probability in proportion to the fourth root of its entries. @param u in [0, 1). */
uint32_t gbsi_bags_pick(const bags *b, double u);
/* The sum of the entries of all bags. O(slots). */
double gbsi_bags_entries(const bags *b);

#endif
