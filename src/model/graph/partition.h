/* SPDX-License-Identifier: Apache-2.0 */
/* Divides the variables of a model among processes (ranks), and counts the values that a sweep then
 * sends. Every rank updates its own variables and holds a halo: the variables of other ranks that
 * share a scope with one of its own. The partition changes the speed of a run, but no result.
 *
 * All parts depend on the graph alone and are equal on all machines, except that parts made by
 * METIS depend on the version of METIS. */
#ifndef GBSI_GRAPH_PARTITION_H
#define GBSI_GRAPH_PARTITION_H

#include "graph/graph.h"

/* ---- partition.c --------------------------------------------------------------------------- */

typedef enum gbsi_partition_kind {
    GBSI_PARTITION_AUTO,      /* the cheapest of the following kinds */
    GBSI_PARTITION_METIS,     /* METIS 5 (Karypis & Kumar 1998, SIAM J. Sci. Comput. 20:359-392) */
    GBSI_PARTITION_BISECTION, /* recursive bisection: a grid is cut in two across its longest side,
                                 and each half is cut again in the same way */
    GBSI_PARTITION_BREADTH,   /* recursive bisection of any graph: a breadth-first order is cut in
                                 two; each half then gets its own order and is cut again */
    GBSI_PARTITION_INTERVALS, /* intervals of the order in which batches take their variables */
    GBSI_N_PARTITION_KINDS,
} gbsi_partition_kind;

/* Returns "auto", "metis", "bisection", "breadth" or "intervals". */
const char *gbsi_partition_name(gbsi_partition_kind kind);

/* Largest allowed excess of a rank's work over the mean work, as a fraction of the mean; it may be
 * exceeded if no division of the variables is so even. */
#define GBSI_PARTITION_IMBALANCE 0.03

/* Returns the work of updating a variable: 1, plus the number of other variables in each scope. A
 * scope with more than 16 other variables counts as 16 variables, because updates handle such a
 * scope by counters. */
uint32_t gbsi_partition_work(const gbsi_graph *graph, uint32_t v);

/* Divides the variables into n_parts parts of nearly equal work. No part is empty if there are at
 * least as many variables as parts. Time: intervals O(sum of degrees), bisection O(n_variables log
 * n_parts), breadth O(sum of degrees, log n_parts times). Memory in addition to the result, in
 * bytes per variable: 12 for intervals, 16 for bisection, 20 for breadth. Breadth also needs 4
 * bytes per scope unless all scopes are pairs. METIS needs a copy of the graph, which takes 12
 * bytes per variable and 4 per end of a pair. METIS itself allocates about three times the size of
 * this copy.
 *
 * Batches take their variables in the order of gbsi_graph_local_order() if there is one, otherwise
 * in the order of their numbers. AUTO tries all kinds and takes the kind with the lowest cost: the
 * number of values sent (gbsi_partition_values()) plus the number of breaks. A break is a variable
 * whose owner differs from the owner of the previous variable in this order. Consecutive variables
 * of one rank are updated together; a break is assumed to cost as much as a value. AUTO needs 12
 * more bytes per variable, and 4 per scope unless all scopes are pairs. AUTO does not try METIS if
 * the variables form a grid, nor beyond 2^20 ends of scopes, where METIS can take minutes.
 *
 * @param watch checked between steps, but not while METIS works; NULL if nothing may stop the work.
 * @param part  [n_variables], out: 0 .. n_parts - 1.
 * @param used  out or NULL: the kind that AUTO chose, otherwise `kind`.
 * @return GBS_ERR_ARGUMENT if n_parts is 0; GBS_ERR_UNSUPPORTED for METIS where the library was
 *         built without it or the graph has too many edges for its integers, and for BISECTION
 *         where the variables are not numbered as a grid is; GBS_ERR_STOPPED. */
gbs_status gbsi_partition(const gbsi_graph *graph, uint32_t n_parts, gbsi_partition_kind kind,
                          gbsi_watch *watch, uint32_t *part, gbsi_partition_kind *used,
                          gbs_error *err);

/* Computes where a list of n variables is cut: returns the number of its first variables that
 * belong to the first n_first of n_parts parts. */
uint32_t gbsi_partition_share(const uint32_t *variable, const uint32_t *work, uint32_t n,
                              uint32_t n_first, uint32_t n_parts);

/* ---- partition_breadth.c ------------------------------------------------------------------- */

/* @param work [n_variables] work of updating each variable. */
gbs_status gbsi_partition_breadth(const gbsi_graph *graph, const uint32_t *work, uint32_t n_parts,
                                  gbsi_watch *watch, uint32_t *part, gbs_error *err);

/* ---- partition_bisect.c -------------------------------------------------------------------- */

#define GBSI_GRID_MOST 3 /* number of directions */

/* Shape of a grid whose variables are numbered row by row: v is at v % side[0], v / side[0] %
 * side[1], ... */
typedef struct gbsi_grid_shape {
    uint32_t side[GBSI_GRID_MOST]; /* lengths of the sides, the fastest direction first; an unused
                                      direction has length 1 */
    bool torus[GBSI_GRID_MOST]; /* true if the first and the last variable of a line are neighbours
                                 */
} gbsi_grid_shape;

/* Finds a grid in which any two variables of a scope differ by at most one in every direction; the
 * first and the last position count as neighbours. Chains and rings are grids in one direction.
 * @param found out: whether such a grid exists. */
gbs_status gbsi_partition_find_grid(const gbsi_graph *graph, gbsi_watch *watch,
                                    gbsi_grid_shape *shape, bool *found, gbs_error *err);

/* Recursive bisection of a grid (Berger & Bokhari 1987, IEEE Trans. Comput. C-36:570-580). Each cut
 * is across the longest side. The cut lies between two planes if such a cut balances the work to
 * within GBSI_PARTITION_IMBALANCE, otherwise inside a plane.
 * @param work [n_variables]. */
gbs_status gbsi_partition_bisect(const gbsi_grid_shape *shape, const uint32_t *work, uint32_t n,
                                 uint32_t n_parts, gbsi_watch *watch, uint32_t *part,
                                 gbs_error *err);

/* Returns the plane at which a side is cut if n_first of n_parts parts lie before the cut: the
 * plane nearest to the exact fraction of the side, or the lower of two equally near planes. */
uint32_t gbsi_grid_plane(uint32_t side, uint32_t n_first, uint32_t n_parts);

/* ---- partition_metis.c --------------------------------------------------------------------- */

/* @param reason out: the reason why METIS did not make the parts, in which case `part` is
 * undefined; NULL if METIS made the parts. */
gbs_status gbsi_partition_metis(const gbsi_graph *graph, const uint32_t *work, uint32_t n_parts,
                                uint32_t *part, const char **reason, gbs_error *err);

/* ---- partition_figures.c ------------------------------------------------------------------- */

/* Amount of work and communication of one rank in a sweep, which updates every variable once. */
typedef struct gbsi_partition_rank {
    uint64_t work; /* sum of gbsi_partition_work() over the rank's variables */
    uint64_t own;  /* number of the rank's variables */
    /* number of variables of other ranks that the rank holds, whose values it receives */
    uint64_t halo;
    uint64_t boundary;   /* number of own variables that some other rank holds */
    uint64_t neighbours; /* number of ranks to which the rank sends values; the same ranks send
                            values to this rank */
    uint64_t messages;   /* number of messages sent: one to each neighbour for each batch that has
                            values for the neighbour */
    uint64_t received;   /* number of messages received */
    uint64_t values; /* number of values sent: a boundary variable counts once for each rank that
                        holds it */
    /* number of runs, summed over batches; a run is a series of the rank's variables that are
     * consecutive in a batch */
    uint64_t runs;
} gbsi_partition_rank;

typedef struct gbsi_partition_figures {
    uint32_t n_parts;
    uint32_t n_batches;
    gbsi_partition_rank *rank; /* [n_parts] figures of each rank */
    gbsi_partition_rank total;
    gbsi_partition_rank most; /* maximum of each figure over ranks */
} gbsi_partition_figures;

/* Counts the costs of a partition. Time: O(sum over ranks of the lengths of the scopes that have a
 * variable of the rank). Memory: 16 bytes per variable, 8 bytes for each variable of the largest
 * halo, and 4 bytes per scope unless all scopes are pairs.
 * @param batch [n_variables] below n_batches: the batch that updates each variable. @param order
 * [n_variables] order in which a batch takes its variables; NULL if this is the order of their
 * numbers. @param figures out; the caller frees it if GBS_OK is returned. */
gbs_status gbsi_partition_figures_of(const gbsi_graph *graph, const uint32_t *batch,
                                     uint32_t n_batches, const uint32_t *order,
                                     const uint32_t *part, uint32_t n_parts, gbsi_watch *watch,
                                     gbsi_partition_figures *figures, gbs_error *err);
void gbsi_partition_figures_free(gbsi_partition_figures *figures);

/* Allocates the figures of all ranks, all zero. */
gbs_status gbsi_partition_figures_init(uint32_t n_parts, uint32_t n_batches,
                                       gbsi_partition_figures *figures, gbs_error *err);
/* Computes totals and maxima from the figures of the ranks. */
void gbsi_partition_figures_sum(gbsi_partition_figures *figures);

/* Returns the mean number of variables in a run; 0 if there are no runs. */
double gbsi_partition_mean_run(const gbsi_partition_figures *figures);

/* Counts all values that a sweep sends, but stops counting above `most`.
 * @param values out: the number of values, or some number above `most`. */
gbs_status gbsi_partition_values(const gbsi_graph *graph, const uint32_t *part, uint32_t n_parts,
                                 uint64_t most, gbsi_watch *watch, uint64_t *values,
                                 gbs_error *err);

/* ---- partition_grid.c ---------------------------------------------------------------------- */

/* A block of a lattice: the variables whose coordinate in each direction d is at least from[d] and
 * below to[d]. */
typedef struct gbsi_block {
    uint32_t from[GBSI_GRID_MOST], to[GBSI_GRID_MOST];
} gbsi_block;

/* Cuts a lattice in which nearest neighbours share a scope into blocks, without a graph and at any
 * size. Every cut is between two planes. If gbsi_partition_bisect() cuts between planes too, the
 * blocks are its parts. The figures are equal to those of gbsi_partition_figures_of() with two
 * batches, the colours of a chessboard. The number of runs is equal only if all blocks have a width
 * of at least two in the fastest direction. Takes time O(n_parts (neighbours + log n_parts)).
 * @param block   [n_parts] out, or NULL.
 * @param figures out, or NULL; to be freed if GBS_OK is returned.
 * @return GBS_ERR_ARGUMENT if n_parts or a side is 0; GBS_ERR_UNSUPPORTED where a side is closed
 *         and odd (two colours do not suffice), and where a block has fewer variables than ranks.
 */
gbs_status gbsi_partition_grid(const gbsi_grid_shape *shape, uint32_t n_parts, gbsi_block *block,
                               gbsi_partition_figures *figures, gbs_error *err);

/* Returns whether gbsi_partition_bisect() cuts this lattice only between planes, if the work is
 * computed by gbsi_partition_work(). If so, the blocks are the parts of gbsi_partition_bisect(). */
bool gbsi_grid_is_cut_by_planes(const gbsi_grid_shape *shape, uint32_t n_parts);
/* Returns the part of a variable. @param at coordinates of the variable. */
uint32_t gbsi_grid_part(const gbsi_grid_shape *shape, uint32_t n_parts,
                        const uint32_t at[GBSI_GRID_MOST]);

#endif
