/* SPDX-License-Identifier: Apache-2.0 */
/* Divides the variables of a model among processes (ranks), and counts what a sweep then sends.
 * Every rank updates its own variables and holds a halo: the variables of other ranks that share a
 * scope with one of its own. No result of a run depends on the partition; its speed does.
 *
 * Everything here is decided by the graph alone and is the same on every machine, except for parts
 * made by METIS, which are as its version makes them. */
#ifndef GBSI_GRAPH_PARTITION_H
#define GBSI_GRAPH_PARTITION_H

#include "graph/graph.h"

/* ---- partition.c --------------------------------------------------------------------------- */

typedef enum gbsi_partition_kind {
    GBSI_PARTITION_AUTO,      /* the cheapest of the methods below */
    GBSI_PARTITION_METIS,     /* METIS 5 (Karypis & Kumar 1998, SIAM J. Sci. Comput. 20:359-392) */
    GBSI_PARTITION_BISECTION, /* a grid cut in two across its longest side, and so on */
    GBSI_PARTITION_BREADTH, /* a breadth-first order cut in two, each half in its own, and so on */
    GBSI_PARTITION_INTERVALS, /* intervals of the order in which batches take the variables */
    GBSI_N_PARTITION_KINDS,
} gbsi_partition_kind;

/* "auto", "metis", "bisection", "breadth", "intervals". */
const char *gbsi_partition_name(gbsi_partition_kind kind);

/* No rank's work is more than this much above the mean, where variables can be divided so. */
#define GBSI_PARTITION_IMBALANCE 0.03

/* Work of updating a variable: 1, and for each scope its other variables, of a long scope 16:
 * longer ones keep counters. */
uint32_t gbsi_partition_work(const gbsi_graph *graph, uint32_t v);

/* Divides the variables into n_parts parts of nearly equal work; none is empty where there are as
 * many variables as parts. Time: intervals O(sum of degrees), bisection O(n_variables log n_parts),
 * breadth O(sum of degrees, log n_parts times). Memory beside the result: 12 bytes a variable for
 * intervals, 16 for bisection, 20 for breadth and 4 a scope unless all scopes are pairs. METIS has
 * a copy of the graph, 12 bytes a variable and 4 an end of a pair, and takes some three times that
 * itself.
 *
 * Batches take their variables as they are numbered, or in the order of gbsi_graph_local_order()
 * where that is found. AUTO tries all kinds and takes the one with the least sum of values sent
 * (gbsi_partition_values()) and breaks. A break is a variable whose owner differs from that of the
 * variable before it in this order. Consecutive variables of one rank are updated together, and a
 * break is taken to cost as much as a value. The function needs 12 more bytes per variable, and 4
 * per scope unless all scopes are pairs. METIS is not tried if the variables form a grid, and
 * beyond 2^20 ends of scopes, where METIS can take minutes.
 *
 * @param watch asked between steps, but while METIS works; NULL: never stops.
 * @param part  [n_variables], out: 0 .. n_parts - 1.
 * @param used  out or NULL: the kind that AUTO chose, else `kind`.
 * @return GBS_ERR_ARGUMENT if n_parts is 0; GBS_ERR_UNSUPPORTED for METIS where the library was
 *         built without it or the graph has too many edges for its integers, and for BISECTION
 *         where the variables are not numbered as a grid is; GBS_ERR_STOPPED. */
gbs_status gbsi_partition(const gbsi_graph *graph, uint32_t n_parts, gbsi_partition_kind kind,
                          gbsi_watch *watch, uint32_t *part, gbsi_partition_kind *used,
                          gbs_error *err);

/* How many of the n variables, of that order, are for the first n_first of n_parts parts. */
uint32_t gbsi_partition_share(const uint32_t *variable, const uint32_t *work, uint32_t n,
                              uint32_t n_first, uint32_t n_parts);

/* ---- partition_breadth.c ------------------------------------------------------------------- */

/* @param work [n_variables]. */
gbs_status gbsi_partition_breadth(const gbsi_graph *graph, const uint32_t *work, uint32_t n_parts,
                                  gbsi_watch *watch, uint32_t *part, gbs_error *err);

/* ---- partition_bisect.c -------------------------------------------------------------------- */

#define GBSI_GRID_MOST 3 /* directions */

/* Variables on a grid, numbered row by row: v is at v % side[0], v / side[0] % side[1], ... */
typedef struct gbsi_grid_shape {
    uint32_t side[GBSI_GRID_MOST]; /* fastest first; unused directions have 1 */
    bool torus[GBSI_GRID_MOST];    /* first and last of a line are neighbours */
} gbsi_grid_shape;

/* A grid in which every two variables of a scope differ by at most one in every direction, first
 * and last counting as neighbours. Chains and rings are grids in one direction.
 * @param found out: whether there is one. */
gbs_status gbsi_partition_find_grid(const gbsi_graph *graph, gbsi_watch *watch,
                                    gbsi_grid_shape *shape, bool *found, gbs_error *err);

/* Recursive bisection of such a grid (Berger & Bokhari 1987, IEEE Trans. Comput. C-36:570-580). It
 * cuts across the longest side, between two planes if that leaves the work balanced to
 * GBSI_PARTITION_IMBALANCE, else inside a plane.
 * @param work [n_variables]. */
gbs_status gbsi_partition_bisect(const gbsi_grid_shape *shape, const uint32_t *work, uint32_t n,
                                 uint32_t n_parts, gbsi_watch *watch, uint32_t *part,
                                 gbs_error *err);

/* The plane that cuts a side for n_first of n_parts parts: the nearest, of two the lower one. */
uint32_t gbsi_grid_plane(uint32_t side, uint32_t n_first, uint32_t n_parts);

/* ---- partition_metis.c --------------------------------------------------------------------- */

/* @param reason out: NULL, or why METIS did not do it (part is then any content). */
gbs_status gbsi_partition_metis(const gbsi_graph *graph, const uint32_t *work, uint32_t n_parts,
                                uint32_t *part, const char **reason, gbs_error *err);

/* ---- partition_figures.c ------------------------------------------------------------------- */

/* The work and the communication of one rank, in a sweep that updates every variable once. */
typedef struct gbsi_partition_rank {
    uint64_t work;       /* of its variables, gbsi_partition_work() */
    uint64_t own;        /* variables */
    uint64_t halo;       /* variables of others that it holds: values received */
    uint64_t boundary;   /* own variables that some other rank holds */
    uint64_t neighbours; /* number of ranks to which it sends; the same ranks send to it */
    uint64_t messages;   /* sent: one to each neighbour for each batch that has values for it */
    uint64_t received;   /* messages */
    uint64_t values;     /* sent: a boundary variable counts once for each rank that holds it */
    uint64_t runs;       /* runs of consecutive own variables in each batch */
} gbsi_partition_rank;

typedef struct gbsi_partition_figures {
    uint32_t n_parts;
    uint32_t n_batches;
    gbsi_partition_rank *rank; /* [n_parts] */
    gbsi_partition_rank total;
    gbsi_partition_rank most; /* the largest of each figure, over ranks */
} gbsi_partition_figures;

/* Counts what a partition costs. O(sum over ranks of the lengths of the scopes that they touch);
 * 16 bytes a variable, 4 a scope unless all are pairs, and 8 for each variable of the largest
 * halo.
 * @param batch [n_variables] below n_batches: when each variable is updated.
 * @param order [n_variables] in which a batch takes its variables; NULL: as numbered.
 * @param figures out; to be freed if GBS_OK is returned. */
gbs_status gbsi_partition_figures_of(const gbsi_graph *graph, const uint32_t *batch,
                                     uint32_t n_batches, const uint32_t *order,
                                     const uint32_t *part, uint32_t n_parts, gbsi_watch *watch,
                                     gbsi_partition_figures *figures, gbs_error *err);
void gbsi_partition_figures_free(gbsi_partition_figures *figures);

/* The rows of figures exist, all zero. */
gbs_status gbsi_partition_figures_init(uint32_t n_parts, uint32_t n_batches,
                                       gbsi_partition_figures *figures, gbs_error *err);
/* Totals and maxima from the ranks. */
void gbsi_partition_figures_sum(gbsi_partition_figures *figures);

/* Variables a run has on average, 0 without any. */
double gbsi_partition_mean_run(const gbsi_partition_figures *figures);

/* Counts the values that a sweep sends in all. Stops counting beyond `most`.
 * @param values out: the number, or one greater than `most`. */
gbs_status gbsi_partition_values(const gbsi_graph *graph, const uint32_t *part, uint32_t n_parts,
                                 uint64_t most, gbsi_watch *watch, uint64_t *values,
                                 gbs_error *err);

/* ---- partition_grid.c ---------------------------------------------------------------------- */

/* The variables with from[d] <= coordinate d < to[d]. */
typedef struct gbsi_block {
    uint32_t from[GBSI_GRID_MOST], to[GBSI_GRID_MOST];
} gbsi_block;

/* Cuts a lattice in which nearest neighbours share a scope into blocks, without a graph and at any
 * size: every cut is between two planes. If gbsi_partition_bisect() cuts between planes too, the
 * blocks are its parts. The figures are those of gbsi_partition_figures_of() with two batches, the
 * colours of a chessboard (runs: if blocks are two wide or more in the fastest direction).
 * O(n_parts (neighbours + log n_parts)).
 * @param block   [n_parts] out, or NULL.
 * @param figures out, or NULL; to be freed if GBS_OK is returned.
 * @return GBS_ERR_ARGUMENT if n_parts or a side is 0; GBS_ERR_UNSUPPORTED where a side is closed
 *         and odd (two colours do not do), and where a block has fewer variables than ranks. */
gbs_status gbsi_partition_grid(const gbsi_grid_shape *shape, uint32_t n_parts, gbsi_block *block,
                               gbsi_partition_figures *figures, gbs_error *err);

/* Whether gbsi_partition_bisect() cuts such a lattice between planes alone, all work being as
 * gbsi_partition_work(), so that the blocks are its parts. */
bool gbsi_grid_is_cut_by_planes(const gbsi_grid_shape *shape, uint32_t n_parts);
/* The part that has a variable. @param at its coordinates. */
uint32_t gbsi_grid_part(const gbsi_grid_shape *shape, uint32_t n_parts,
                        const uint32_t at[GBSI_GRID_MOST]);

#endif
