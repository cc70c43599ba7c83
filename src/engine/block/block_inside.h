/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that make blocks; private to src/engine/block. */
#ifndef GBSI_BLOCK_BLOCK_INSIDE_H
#define GBSI_BLOCK_BLOCK_INSIDE_H

#include "block/block.h"

/* ---- block_order.c -------------------------------------------------------------------------- */

/* The graph of a model: two variables are neighbours if they share a factor of at most
 * GBSI_BLOCK_MOST entries. */
typedef struct gbsi_block_graph {
    uint32_t n;
    uint32_t most;   /* limit on the entries of a clique */
    uint8_t *always; /* [n] 1 if every plan holds the variable */
    size_t *start;   /* [n + 1] start of each row of `to` */
    uint32_t *to;    /* neighbours, ascending in each row */
    uint32_t *times; /* [n] number of earlier plans that held the variable */
} gbsi_block_graph;

/* @param entries see gbsi_blocks_new(). @param g out; the caller zeroes it before the call and
 * frees it after the call, even if the call fails. */
gbs_status gbsi_block_graph_init(const gbsi_conditioned *model, uint32_t entries,
                                 gbsi_block_graph *g, gbs_error *err);
void gbsi_block_graph_free(gbsi_block_graph *graph);

/* The clique of a variable: the neighbours that the variable has when it is eliminated. */
typedef struct gbsi_block_clique {
    uint32_t n;
    uint32_t member[GBSI_BLOCK_CLIQUE];
} gbsi_block_clique;

typedef struct gbsi_block_order {
    uint32_t n_eliminated;
    uint32_t *order;    /* [n] variables in the order of elimination; only the first n_eliminated
                           entries are set */
    uint32_t *position; /* [n] position of each variable in the order; GBSI_NONE if the variable is
                           held */
    gbsi_block_clique *clique; /* [n] clique of each variable */
} gbsi_block_order;

/* @param order out; the caller zeroes it before the call and frees it after the call, even if the
 * call fails. */
gbs_status gbsi_block_order_init(uint32_t n, gbsi_block_order *order, gbs_error *err);
void gbsi_block_order_free(gbsi_block_order *order);

/* Makes a random elimination order by minimum fill; ties are broken at random. If no clique is
 * small enough, the variable with the largest score is held. The score is log2(entries of the
 * variable's clique) (0.3 + u) / (1 + number of earlier plans that held the variable), with u
 * uniform in [0, 1). At the end the function tries to eliminate the held variables after all
 * others. */
gbs_status gbsi_block_order_make(gbsi_block_graph *graph, const uint32_t *arity, uint64_t seed,
                                 uint32_t plan, gbsi_block_order *order, gbs_error *err);

/* ---- block_plan.c --------------------------------------------------------------------------- */

/* Makes the plan of a draw from an elimination order. @param blocks its members `model` and `table`
 * must be set. */
gbs_status gbsi_block_plan_make(const gbsi_blocks *blocks, const gbsi_block_order *order,
                                gbsi_block_plan *plan, gbs_error *err);
void gbsi_block_plan_free(gbsi_block_plan *plan);

/* ---- block_loops_lanes.c -------------------------------------------------------------------- */

typedef struct gbsi_block_loops {
    void (*up)(gbsi_block_lanes *lanes, const gbsi_block_plan *plan, const uint32_t *x);
    void (*spare)(gbsi_block_lanes *lanes, const gbsi_block_plan *plan, const uint32_t *x);
    void (*down)(gbsi_block_lanes *lanes, const gbsi_block_plan *plan, const uint32_t *from,
                 const uint32_t *x, uint32_t *y);
    void (*maximise)(gbsi_block_lanes *lanes, const gbsi_block_plan *plan, uint32_t *x);
} gbsi_block_loops;

#endif
