/* SPDX-License-Identifier: Apache-2.0 */
/* Draws all variables except a few jointly, in sixteen lanes that each have their own inverse
 * temperature.
 *
 * A plan holds a random set of variables and eliminates the others, the block. The plan uses an
 * elimination order whose cliques have few entries. A draw of the block is conditional on the
 * states of the held variables [M48]. It computes messages in the order of elimination ("up"), and
 * then draws states in the reverse order ("down"). All lanes follow one plan; every message is
 * therefore a table of rows of sixteen doubles. */
#ifndef GBSI_BLOCK_BLOCK_H
#define GBSI_BLOCK_BLOCK_H

#include "base/watch.h"
#include "condition/condition.h"
#include "rng/philox.h"
#include "simd/dispatch.h"

enum {
    GBSI_BLOCK_LANES = 16,
    GBSI_BLOCK_PLANS = 24,
    GBSI_BLOCK_VARIABLES =
        4096,               /* largest number of variables of a model; larger draws take too long */
    GBSI_BLOCK_CLIQUE = 14, /* largest number of variables of a clique */
};

/* Default limit on the entries of a clique; larger limits were slower. */
#define GBSI_BLOCK_ENTRIES 1024u
/* The largest number of entries of a factor in a clique. All variables of a larger factor are held.
 */
#define GBSI_BLOCK_MOST 16384u

typedef enum gbsi_block_source {
    GBSI_BLOCK_TABLE, /* weights of a factor none of whose variables is held */
    GBSI_BLOCK_SLICE, /* rows of a larger table, selected by the states of the held variables */
    GBSI_BLOCK_MESSAGE,
} gbsi_block_source;

/* One operand of the product that a bucket computes. */
typedef struct gbsi_block_item {
    gbsi_block_source source;
    size_t row;    /* index of the item's first row among all rows of the item's source */
    size_t offset; /* start of the item's row numbers in plan.offset: [rows of the bucket][arity] */
} gbsi_block_item;

/* The elimination of one variable v with neighbours n: M(n) = sum_v prod_items item(v, n). */
typedef struct gbsi_block_bucket {
    uint32_t variable, arity;
    uint32_t n_neighbours,
        neighbour; /* number of neighbours, and index of the first neighbour in plan.neighbour; in
                      rows of the bucket, the state of the last neighbour varies fastest */
    uint32_t n_items, item; /* number of items, and index of the first item in plan.item */
    uint32_t n_rows;        /* number of joint states of the neighbours */
    size_t message;         /* first row of the bucket's message */
} gbsi_block_bucket;

/* The rows that a factor with held and drawn variables takes, given the states of the held ones. */
typedef struct gbsi_block_slice {
    size_t table;          /* first row of the factor's table */
    size_t row;            /* first row of the slice in gbsi_block_lanes.slice */
    uint32_t n_rows;       /* number of joint states of the drawn variables */
    uint32_t n_held, held; /* number of the factor's held variables, and index of the first one in
                              plan.held_variable and plan.held_stride */
    size_t offset; /* index in plan.offset of [n_rows] row numbers in the factor's table, which hold
                      if all held variables are in state 0 */
} gbsi_block_slice;

typedef struct gbsi_block_plan {
    uint32_t n_buckets, n_held, n_slices;
    gbsi_block_bucket *bucket; /* buckets in the order of elimination */
    uint32_t *held;            /* [n_held] held variables, ascending */
    gbsi_block_slice *slice;
    uint32_t *neighbour;
    gbsi_block_item *item;
    uint16_t *offset;
    uint32_t *held_variable, *held_stride;
    size_t n_neighbours, n_items, n_offsets,
        n_held_strides; /* numbers of used entries of the arrays above; the next members are the
                           capacities of these arrays */
    size_t room_neighbour, room_item, room_offset, room_slice, room_held_variable, room_held_stride;
    size_t n_message_rows, n_slice_rows;
    double operations; /* predicted nanoseconds of a draw in sixteen lanes, from the rows multiplied
                          and gathered */
} gbsi_block_plan;

typedef struct gbsi_blocks {
    const gbsi_conditioned *model; /* borrowed */
    size_t *table; /* [n_factors] first row of each factor's table; SIZE_MAX if the factor is too
                      large for a clique */
    size_t n_table_rows, n_message_rows, n_slice_rows;
    uint32_t most_arity,
        most_items;   /* largest arity of a variable, and largest number of items of a bucket */
    uint32_t n_plans; /* 1 if the first plan holds no variable */
    gbsi_block_plan *plan;
} gbsi_blocks;

/**
 * @param model   borrowed until the blocks are freed. Weights may be zero.
 * @param entries largest number of entries of a clique; 0: GBSI_BLOCK_ENTRIES or, if larger, the
 * number of entries of the largest factor of at most GBSI_BLOCK_MOST entries.
 * @param n_plans largest number of plans; fewer are made if one holds no variable.
 * @param watch   borrowed or NULL.
 * @param out     NULL if the model has more than GBSI_BLOCK_VARIABLES variables, or if a plan holds
 * more than two thirds of the variables or draws no two variables together. @return GBS_ERR_MEMORY;
 * GBS_ERR_STOPPED if the watch stopped. */
gbs_status gbsi_blocks_new(const gbsi_conditioned *model, uint32_t entries, uint64_t seed,
                           uint32_t n_plans, gbsi_watch *watch, gbsi_blocks **out, gbs_error *err);
void gbsi_blocks_free(gbsi_blocks *blocks);
/* Returns the number of operations of one draw in sixteen lanes, averaged over the plans. */
double gbsi_blocks_operations(const gbsi_blocks *blocks);

/* ---- sixteen lanes -------------------------------------------------------------------------- */

/* Tables and scratch memory of sixteen lanes. Different gbsi_block_lanes may be used at the same
 * time. */
typedef struct gbsi_block_lanes {
    const gbsi_blocks *blocks;
    gbsi_simd level;
    double *weight;  /* [blocks->n_table_rows][16] exp(beta t), where t is a log-weight of a factor
                        minus the largest log-weight of this factor */
    double *slice;   /* [blocks->n_slice_rows][16] weights of factors with held variables */
    double *message; /* [blocks->n_message_rows][16] messages, each divided by its largest entry */
    double *sum;     /* [blocks->most_arity][16] scratch: running sums of a draw */
    uint32_t *word;  /* scratch: random words, two for each variable */
    const double **row; /* [blocks->most_items] scratch: rows of the items of the current bucket */
    const uint16_t **offset; /* [blocks->most_items] scratch: row numbers of these items */
    uint32_t plan;           /* the plan whose messages are stored */
    uint32_t dead; /* bit l: lane l is not drawn, because products were lost to underflow */
    uint32_t lost; /* bit l: some products underflowed in lane l, perhaps only products of states
                      other than the current ones */
} gbsi_block_lanes;

gbs_status gbsi_block_lanes_new(const gbsi_blocks *blocks, gbsi_simd level, gbsi_block_lanes **out,
                                gbs_error *err);
void gbsi_block_lanes_free(gbsi_block_lanes *lanes);

/* @param beta [16] inverse temperatures. Computes the weights of all lanes, with one exponential
 * per entry and lane. */
void gbsi_block_heat(gbsi_block_lanes *lanes, const float *beta);

/* Computes the messages of a plan, given the states x of its held variables. @param x
 * [n_variables][16] */
void gbsi_block_up(gbsi_block_lanes *lanes, uint32_t plan, const uint32_t *x);

/* Marks lanes as dead if a draw could never lead back to their current states x. This happens if
 * products of these states were lost to underflow, because weights are hundreds of nats apart. The
 * other lanes are drawn among the states whose products were not lost. With this rule a draw leaves
 * the distribution of the model invariant: no lane can leave a state to which it could not return.
 * @param x as for gbsi_block_up(). */
void gbsi_block_spare(gbsi_block_lanes *lanes, const uint32_t *x);

typedef struct gbsi_block_draw {
    uint64_t seed, pass;
    uint32_t chain; /* chain number of lane 0; random numbers are functions of (chain + lane), pass
                       and variable */
    gbsi_purpose purpose;
    const uint32_t *from; /* [16] for each lane, the lane whose messages are used; NULL if each lane
                             uses its own messages */
} gbsi_block_draw;

/* Draws the block jointly, after gbsi_block_up(). Lane l of y gets the states that held variables
 * have in lane from[l] of x, and new states of all other variables. If lane from[l] is dead, lane l
 * of y gets the states of all variables in lane from[l] of x. @param x [n_variables][16] as for
 * gbsi_block_up(). @param y [n_variables][16] out; may be equal to x if `from` is NULL. */
void gbsi_block_down(gbsi_block_lanes *lanes, const gbsi_block_draw *draw, const uint32_t *x,
                     uint32_t *y);

/* ---- the most probable block ----------------------------------------------------------------- */

/* Replaces weights by log-weights, for gbsi_block_maximise(). The lanes keep the log-weights until
 * gbsi_block_heat() is called. @param values the model of the blocks, or a model whose factors have
 * the same scopes and other weights. */
void gbsi_block_cool(gbsi_block_lanes *lanes, const gbsi_conditioned *values);

/* Finds the most probable states of a plan's block, given the states of the held variables. The
 * function makes the passes of a draw, with maxima instead of sums. The log density does not
 * decrease in any lane.
 * @param x [n_variables][16] in and out. */
void gbsi_block_maximise(gbsi_block_lanes *lanes, uint32_t plan, uint32_t *x);

#endif
