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

/* Source of random words; every search uses the same sequence of words. */
typedef struct order_random {
    uint64_t next; /* number of words taken so far */
    uint32_t word[4];
    uint32_t n_left;
} order_random;

double gbsi_order_uniform(order_random *random); /* returns a number in [0, 1) */

/* ---- order_greedy.c ------------------------------------------------------------------------ */

/* A small graph. A set of vertices of the region is a bit set of REGION_WORDS words. */
typedef struct region {
    uint32_t n, n_words;
    uint32_t vertex[MOST_REGION]; /* number of each vertex in the whole graph */
    double arity[MOST_REGION];
    uint32_t weight[MOST_REGION]; /* weights of the vertices; the weight of a missing edge is the
                                     product of the weights of its two ends */
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
    uint32_t bag[MOST_REGION];   /* for each clique, the maximal clique that contains it: the clique
                                    itself or an earlier clique */
    double entries[MOST_REGION]; /* number of table entries of each maximal clique */
    double total;                /* sum of `entries` over the maximal cliques */
    uint32_t position[MOST_REGION]; /* for each vertex, the first clique that contains the vertex
                                       and all its neighbours not eliminated by then */
} triangulation;

/* Scratch of one elimination. */
typedef struct greedy {
    /* neighbours of each vertex that are not eliminated */
    uint64_t row[MOST_REGION][REGION_WORDS];
    double fill[MOST_REGION];  /* for each vertex, the weight of the missing edges between its
                                  neighbours */
    double noise[MOST_REGION]; /* random factor of the fill of each vertex */
    uint16_t alive[MOST_REGION];
    uint32_t n_alive;
    uint16_t open[MOST_REGION]; /* cliques that have no parent yet */
    uint32_t n_open;
    uint64_t work; /* steps of all runs; increased by each run */
} greedy;

/* Eliminates all vertices of the region; each step takes the vertex with the least product of fill
 * and noise.
 * @param noise at least 0: the noise factors are drawn from 1 to 1 + noise. @return false, with an
 * undefined triangulation, if the entries exceed `most`. */
bool gbsi_greedy_run(greedy *g, const region *r, double noise, order_random *random, double most,
                     triangulation *t);

/* ---- order_bags.c -------------------------------------------------------------------------- */

typedef struct bag {
    size_t first;   /* start of the bag's members in bags.member */
    double entries; /* number of table entries; 0 if the slot is free */
    uint32_t n;     /* number of members */
    uint32_t link; /* first link in the bag's list of neighbours; GBSI_NONE if the list is empty; in
                      a free slot, the number of the next free slot */
    uint32_t mark; /* mark for use by the caller */
} bag;

/* One direction of an edge of the tree; the link with number k ^ 1 is the opposite direction of
 * link k. */
typedef struct bag_link {
    uint32_t to;
    /* next and previous link in the list of the bag at which the edge starts */
    uint32_t next, before;
} bag_link;

/* A tree of bags that can be changed. */
typedef struct bags {
    bag *bag;
    uint32_t n_bags;
    /* number of slots that were ever used, and the largest number allowed */
    uint32_t n_slots, most_slots;
    uint32_t free_slot;
    bag_link *link;
    uint32_t n_links, most_links;
    uint32_t free_link; /* even number of the first free pair of links */
    uint32_t *member;
    size_t n_members, n_alive,
        capacity; /* of the array `member`: number of elements used, number of elements that belong
                     to bags, and number of elements allocated */
    double *root; /* [2 n_leaves] binary tree of sums; the leaf of a slot is the fourth root of the
                     bag's number of entries */
    uint32_t n_leaves; /* number of leaves, a power of two */
} bags;

/* Allocates room for the tree decompositions of n vertices and for one more region. */
gbs_status gbsi_bags_init(bags *b, uint32_t n, size_t n_members, gbs_error *err);
void gbsi_bags_free(bags *b);
uint64_t gbsi_bags_bytes(uint32_t n, uint64_t n_members);

/* Makes sure that the array of members has room for n more elements. */
gbs_status gbsi_bags_reserve(bags *b, size_t n, gbs_error *err);
/* Adds a bag without links, whose n members the caller fills in. @return number of the bag. */
uint32_t gbsi_bags_add(bags *b, uint32_t n, double entries);
/* Removes a bag and its links. */
void gbsi_bags_remove(bags *b, uint32_t at);
void gbsi_bags_join(bags *b, uint32_t x, uint32_t y);
/* Removes the bag `drop`, which lies within the bag `keep`. The other neighbours of `drop` become
 * neighbours of `keep`. */
void gbsi_bags_merge(bags *b, uint32_t keep, uint32_t drop);
/* Draws a bag; its probability is proportional to the fourth root of its number of table entries.
 * @param u in [0, 1). */
uint32_t gbsi_bags_pick(const bags *b, double u);
/* Returns the sum of the entries of all bags, in O(slots). */
double gbsi_bags_entries(const bags *b);

#endif
