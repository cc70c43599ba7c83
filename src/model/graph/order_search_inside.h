/* SPDX-License-Identifier: Apache-2.0 */
/* The internal state of the search for better orders, private to src/model/graph. order_search.c
 * runs the search, order_bags.c maintains the tree of bags, and order_greedy.c eliminates the
 * variables of one region. */
#ifndef GBSI_GRAPH_ORDER_SEARCH_INSIDE_H
#define GBSI_GRAPH_ORDER_SEARCH_INSIDE_H

#include "graph/graph.h"
#include "graph/order_search.h"

enum {
    REGION_WORDS = 4,
    MOST_REGION = 64 * REGION_WORDS, /* largest number of vertices of a region */
};

/* ---- random words -------------------------------------------------------------------------- */

/* Random words; every search takes the same sequence. */
typedef struct order_random {
    uint64_t next; /* counter of the words */
    uint32_t word[4];
    uint32_t n_left;
} order_random;

double gbsi_order_uniform(order_random *random); /* returns a number in [0, 1) */

/* ---- order_greedy.c ------------------------------------------------------------------------ */

/* A small graph. Sets of its vertices are bit sets of REGION_WORDS words. */
typedef struct region {
    uint32_t n, n_words;
    uint32_t vertex[MOST_REGION]; /* number of each vertex in the whole graph */
    double arity[MOST_REGION];
    uint32_t weight[MOST_REGION]; /* weights of the vertices; a missing edge has the product of the
                                     weights of its ends */
    bool weighted;                /* true if some weight is not 1 */
    /* bit sets of the neighbours */
    uint64_t row[MOST_REGION][REGION_WORDS];
} region;

/* The result of eliminating the region: a tree of cliques in the order of elimination. */
typedef struct triangulation {
    uint32_t n;
    uint64_t clique[MOST_REGION][REGION_WORDS];
    uint32_t size[MOST_REGION];   /* number of members of each clique */
    uint32_t parent[MOST_REGION]; /* parent of each clique, GBSI_NONE for the last */
    uint32_t bag[MOST_REGION]; /* maximal clique that contains each clique: the clique itself or an
                                  earlier one */
    double entries[MOST_REGION];    /* table entries of the maximal cliques */
    double total;                   /* sum of the entries */
    uint32_t position[MOST_REGION]; /* for each vertex the first clique that holds all its remaining
                                       neighbours */
} triangulation;

/* Scratch of one elimination. */
typedef struct greedy {
    /* neighbours of each vertex that are not eliminated */
    uint64_t row[MOST_REGION][REGION_WORDS];
    double fill[MOST_REGION];  /* weight of the edges that each vertex's neighbours lack */
    double noise[MOST_REGION]; /* random factor of the fill of each vertex */
    uint16_t alive[MOST_REGION];
    uint32_t n_alive;
    uint16_t open[MOST_REGION]; /* cliques that have no parent yet */
    uint32_t n_open;
    uint64_t work; /* steps of all runs; increased by each run */
} greedy;

/* Eliminates all vertices of the region by least fill times noise.
 * @param noise at least 0: the largest factor minus one. @return false, with an undefined
 * triangulation, if the entries exceed `most`. */
bool gbsi_greedy_run(greedy *g, const region *r, double noise, order_random *random, double most,
                     triangulation *t);

/* ---- order_bags.c -------------------------------------------------------------------------- */

typedef struct bag {
    size_t first;   /* start of the bag's members in bags.member */
    double entries; /* number of table entries; 0 if the slot is free */
    uint32_t n;     /* number of members */
    uint32_t link;  /* first link of the bag's list, GBSI_NONE if there is none; in a free slot, the
                       next free slot */
    uint32_t mark;  /* mark for use by the caller */
} bag;

/* One direction of an edge of the tree; the link with number k ^ 1 is the opposite direction of
 * link k. */
typedef struct bag_link {
    uint32_t to;
    /* next and previous link in the list of the bag from which the edge leads away */
    uint32_t next, before;
} bag_link;

/* A tree of bags that can be changed. */
typedef struct bags {
    bag *bag;
    uint32_t n_bags;
    /* number of slots used until now, and the largest number allowed */
    uint32_t n_slots, most_slots;
    uint32_t free_slot;
    bag_link *link;
    uint32_t n_links, most_links;
    uint32_t free_link; /* even number of the first free pair of links */
    uint32_t *member;
    size_t n_members, n_alive, capacity; /* number of elements used, number of elements that belong
                                            to bags, and number of elements allocated */
    double *root; /* [2 n_leaves] tree of sums of the fourth roots of entries; the leaves are the
                     slots */
    uint32_t n_leaves; /* number of leaves, a power of two */
} bags;

/* Allocates room for the tree decompositions of n vertices and for one more region. */
gbs_status gbsi_bags_init(bags *b, uint32_t n, size_t n_members, gbs_error *err);
void gbsi_bags_free(bags *b);
uint64_t gbsi_bags_bytes(uint32_t n, uint64_t n_members);

/* Makes sure that n more members fit. */
gbs_status gbsi_bags_reserve(bags *b, size_t n, gbs_error *err);
/* Adds a bag without links, whose n members the caller fills in. @return number of the bag. */
uint32_t gbsi_bags_add(bags *b, uint32_t n, double entries);
/* Removes a bag and its links. */
void gbsi_bags_remove(bags *b, uint32_t at);
void gbsi_bags_join(bags *b, uint32_t x, uint32_t y);
/* Removes the bag `drop`, which lies within the bag `keep`. `keep` gets the other neighbours of
 * `drop`. */
void gbsi_bags_merge(bags *b, uint32_t keep, uint32_t drop);
/* Returns a bag with probability proportional to the fourth root of its entries. @param u in [0,
 * 1). */
uint32_t gbsi_bags_pick(const bags *b, double u);
/* Returns the sum of the entries of all bags, in O(slots). */
double gbsi_bags_entries(const bags *b);

#endif
