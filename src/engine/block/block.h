/* SPDX-License-Identifier: Apache-2.0 */
/* Draws all variables except a few jointly, in sixteen lanes that each have their own inverse
 * temperature.
 *
 * A plan holds a random set of variables and eliminates the others, the block. The order of
 * elimination is one whose cliques have few entries. A draw given the held variables passes
 * messages up and states down [M48]. All lanes follow one plan, so every message is a table of rows
 * of sixteen doubles. */
#ifndef GBSI_BLOCK_BLOCK_H
#define GBSI_BLOCK_BLOCK_H

#include "base/watch.h"
#include "condition/condition.h"
#include "rng/philox.h"
#include "simd/dispatch.h"

enum {
    GBSI_BLOCK_LANES = 16,
    GBSI_BLOCK_PLANS = 24,
    GBSI_BLOCK_VARIABLES = 4096, /* most of a model: a draw of more takes too long */
    GBSI_BLOCK_CLIQUE = 14,      /* most variables of a clique */
};

/* Entries of a clique: more were slower. */
#define GBSI_BLOCK_ENTRIES 1024u
/* The largest factor that a clique may hold; one with more entries has all its variables held. */
#define GBSI_BLOCK_MOST 16384u

typedef enum gbsi_block_source {
    GBSI_BLOCK_TABLE, /* the weights of a factor none of whose variables is held */
    GBSI_BLOCK_SLICE, /* rows of a larger table, selected by the states of the held variables */
    GBSI_BLOCK_MESSAGE,
} gbsi_block_source;

/* One factor of the product that a bucket computes. */
typedef struct gbsi_block_item {
    gbsi_block_source source;
    size_t row;    /* number of its first row among all rows of the same source */
    size_t offset; /* where its row numbers begin in plan.offset: [rows of the bucket][arity] */
} gbsi_block_item;

/* The elimination of one variable v with neighbours n: M(n) = sum_v prod_items item(v, n). */
typedef struct gbsi_block_bucket {
    uint32_t variable, arity;
    uint32_t n_neighbours, neighbour; /* the first in plan.neighbour; the last one is fastest */
    uint32_t n_items, item;           /* the first in plan.item */
    uint32_t n_rows;                  /* states of the neighbours */
    size_t message;                   /* first row */
} gbsi_block_bucket;

/* A factor with held and other variables. */
typedef struct gbsi_block_slice {
    size_t table;          /* first row of the factor's table */
    size_t row;            /* first row of the slice */
    uint32_t n_rows;       /* states of the other variables */
    uint32_t n_held, held; /* the first in plan.held_variable and held_stride */
    size_t offset; /* [n_rows] in plan.offset: rows of the table with held variables in state 0 */
} gbsi_block_slice;

typedef struct gbsi_block_plan {
    uint32_t n_buckets, n_held, n_slices;
    gbsi_block_bucket *bucket; /* in the order of elimination */
    uint32_t *held;            /* [n_held] ascending */
    gbsi_block_slice *slice;
    uint32_t *neighbour;
    gbsi_block_item *item;
    uint16_t *offset;
    uint32_t *held_variable, *held_stride;
    size_t n_neighbours, n_items, n_offsets, n_held_strides; /* used, and their capacities: */
    size_t room_neighbour, room_item, room_offset, room_slice, room_held_variable, room_held_stride;
    size_t n_message_rows, n_slice_rows;
    double operations; /* of a draw in sixteen lanes: rows multiplied and gathered, in ns */
} gbsi_block_plan;

typedef struct gbsi_blocks {
    const gbsi_conditioned *model; /* borrowed */
    size_t *table;                 /* [n_factors] first row of each; SIZE_MAX: beyond all cliques */
    size_t n_table_rows, n_message_rows, n_slice_rows;
    uint32_t most_arity, most_items; /* of a variable, of a bucket */
    uint32_t n_plans;                /* 1 if the only plan holds nothing */
    gbsi_block_plan *plan;
} gbsi_blocks;

/**
 * @param model   borrowed while the blocks live. A weight of zero is fine.
 * @param entries largest number of entries of a clique; 0: GBSI_BLOCK_ENTRIES or, if the largest
 * factor has more entries, the number of these up to GBSI_BLOCK_MOST.
 * @param n_plans at most; fewer where one holds nothing.
 * @param watch   borrowed or NULL.
 * @param out     NULL if the model has more than GBSI_BLOCK_VARIABLES variables, or where a plan
 *                holds more than two thirds of them or draws no two of them together.
 * @return GBS_ERR_MEMORY; GBS_ERR_STOPPED where the watch stopped it.
 */
gbs_status gbsi_blocks_new(const gbsi_conditioned *model, uint32_t entries, uint64_t seed,
                           uint32_t n_plans, gbsi_watch *watch, gbsi_blocks **out, gbs_error *err);
void gbsi_blocks_free(gbsi_blocks *blocks);
/* The operations of one draw in sixteen lanes, averaged over the plans. */
double gbsi_blocks_operations(const gbsi_blocks *blocks);

/* ---- sixteen lanes -------------------------------------------------------------------------- */

/* Scratch for draws in sixteen lanes. Different ones may be used at the same time. */
typedef struct gbsi_block_lanes {
    const gbsi_blocks *blocks;
    gbsi_simd level;
    double *weight;     /* [blocks->n_table_rows][16] exp(beta t), where t is a log-weight minus the
                           largest of its factor */
    double *slice;      /* [blocks->n_slice_rows][16] */
    double *message;    /* [blocks->n_message_rows][16] divided by the largest of its table */
    double *sum;        /* [blocks->most_arity][16] scratch */
    uint32_t *word;     /* scratch: two a variable */
    const double **row; /* [blocks->most_items] scratch: rows of the items of the current bucket */
    const uint16_t **offset; /* [blocks->most_items] scratch: numbers of these rows */
    uint32_t plan;           /* of the messages */
    uint32_t dead;           /* bit l: lane l is not drawn, as products came out too small ... */
    uint32_t lost;           /* ... and in these some did, by the states of other variables */
} gbsi_block_lanes;

gbs_status gbsi_block_lanes_new(const gbsi_blocks *blocks, gbsi_simd level, gbsi_block_lanes **out,
                                gbs_error *err);
void gbsi_block_lanes_free(gbsi_block_lanes *lanes);

/* @param beta [16] inverse temperatures. Takes an exponential per entry and lane. */
void gbsi_block_heat(gbsi_block_lanes *lanes, const float *beta);

/* Computes the messages of a plan, given the states of its held variables. @param x
 * [n_variables][16] */
void gbsi_block_up(gbsi_block_lanes *lanes, uint32_t plan, const uint32_t *x);

/* Lanes whose states a draw could never lead back to are dead from now on: products of these states
 * were lost to underflow, where weights are hundreds of nats apart. The others are drawn among the
 * states of which nothing was lost. So the distribution of the model stays invariant. It would not
 * if a lane could leave a lost state and never return. @param x as for gbsi_block_up(). */
void gbsi_block_spare(gbsi_block_lanes *lanes, const uint32_t *x);

typedef struct gbsi_block_draw {
    uint64_t seed, pass;
    uint32_t chain; /* chain number of lane 0: random numbers are keyed by chain + lane, pass and
                       variable */
    gbsi_purpose purpose;
    const uint32_t *from; /* [16] the lane whose messages each lane is drawn from; NULL: its own */
} gbsi_block_draw;

/* A joint draw of the block after gbsi_block_up(). Lane l of y gets the held states of lane from[l]
 * of x and new states of the others. It gets all states of x if that lane is dead.
 * @param x [n_variables][16] as for gbsi_block_up(). @param y the same, out; may be x where `from`
 * is NULL. */
void gbsi_block_down(gbsi_block_lanes *lanes, const gbsi_block_draw *draw, const uint32_t *x,
                     uint32_t *y);

/* ---- the most probable block ----------------------------------------------------------------- */

/* Puts log-weights in place of weights, for gbsi_block_maximise(), until lanes are heated again.
 * @param values the blocks' model, or one that has the same factors with other weights. */
void gbsi_block_cool(gbsi_block_lanes *lanes, const gbsi_conditioned *values);

/* The most probable states of the block of a plan given the held ones, by the same passes with
 * maxima for sums. The log density does not decrease in any lane. @param x [n_variables][16] in and
 * out. */
void gbsi_block_maximise(gbsi_block_lanes *lanes, uint32_t plan, uint32_t *x);

#endif
