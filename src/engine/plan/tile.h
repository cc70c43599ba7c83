/* SPDX-License-Identifier: Apache-2.0 */
/* A tile is a few dozen updates of one class and arity. It stays in the L1 cache while the kernel,
 * the draw and the estimator use it one after another. Kernels, draws and estimators exchange data
 * only through tiles.
 *
 * A tile has rows of 16. For groups of 16 chains a row is one place in 16 chains. For groups of one
 * chain a row is 16 consecutive places of the chain. Kernels must distinguish these two kinds of
 * rows; draws and estimators of probabilities need not. The last row is padded, and results for
 * places after the last place are discarded. */
#ifndef GBSI_PLAN_TILE_H
#define GBSI_PLAN_TILE_H

#include <stdint.h>

#include "base/watch.h"

#define GBSI_LANES      16u
#define GBSI_TILE_ROWS  64u   /* largest number of rows of a tile */
#define GBSI_TILE_CELLS 4096u /* largest product n_rows * arity * 16 of a tile of several rows */

/* Flags of a tile; a flag stays set until the tile is reused. */
#define GBSI_IMPOSSIBLE                                                              \
    1u /* no state of a conditional has positive weight: the run ends after the pass \
        */

typedef struct gbsi_tile {
    /* The executor sets the next members, which say what the updates are */
    uint8_t class_id; /* a gbsi_class */
    uint8_t odds;     /* 1: variables are binary, and w has one number per row and lane, the odds of
                         state 1 */
    uint8_t linear;   /* 1: w has weights (or odds); 0: w has the natural logarithms of weights (or
                         odds) */
    uint8_t value_bytes; /* bytes of each value and each state: 1 or 2 */
    uint8_t lanes;       /* 16: a row is a place; 1: a row is 16 places of one chain */
    uint32_t arity;      /* number k of states of each variable */
    uint32_t n_places;
    uint32_t n_rows;      /* n_places if lanes is 16, else ceil(n_places / 16) */
    const uint32_t *slot; /* [n_places, rounded up to full rows] slot of each place; padding repeats
                             the last slot; NULL: contiguous */
    uint32_t first_slot;  /* if contiguous, the slots are first_slot, first_slot + 1, ... */
    uint8_t contiguous;
    const uint32_t *position; /* [as `slot`] index of each place in the sequence of the pass; NULL
                                 unless the draw has GBSI_DRAW_POSITION */
    /* the next members say where in the run the updates are, for random words and messages */
    uint64_t seed, pass, place; /* seed of the run, number of the pass, place of the first update */
    uint32_t chain;             /* chain number of lane 0 among all chains of the run */
    uint32_t group;             /* number of the group of chains in this process */
    uint16_t idle; /* bits of unused lanes: their herding weights must not change, and their values
                      may be any state */
    const void *state;    /* [n_slots][lanes] states of the group, for draws with GBSI_DRAW_CONTEXT;
                             the slots of this tile still have their old values */
    const uint32_t *word; /* [n_rows][16] random words; NULL if the draw needs none */
    const float *beta;    /* [lanes] inverse temperature of each chain; NULL: 1 */
    /* for a single long update: the kernel checks the watch before each `block` of own states, and
     * leaves w unfinished after a stop */
    gbsi_watch *watch;   /* NULL: the update is not long, or cannot be stopped */
    uint64_t operations; /* number of operations for one own state in all lanes */
    uint32_t block;
    /* written by the kernel */
    float *w; /* [n_rows][k][16] unnormalised conditionals; if `odds` is set, [n_rows][16] odds */
    /* results, written by the draw */
    void *value; /* [n_rows][16] drawn states, uint8_t or uint16_t */
    float *p;    /* [n_rows][k][16] probabilities; if `odds` is set, [n_rows][16] probabilities of
                    state 1; NULL if the estimator needs no probabilities */
    uint32_t flags;
    uint32_t flag_place; /* first place of the tile with a flag, if flags != 0 */
} gbsi_tile;

/* Returns the slot of a place of the tile. */
static inline uint32_t gbsi_tile_slot(const gbsi_tile *tile, uint32_t place)
{
    return tile->contiguous ? tile->first_slot + place : tile->slot[place];
}

/* Visits the own states [0, k) block by block, or in one block unless the update is long:
 *     for (uint32_t from = 0, to = 0; (to = gbsi_tile_block(tile, from, k)) > from; from = to)
 * @return the end of the block that begins at `from`; `from` if the kernel must stop. */
static inline uint32_t gbsi_tile_block(const gbsi_tile *tile, uint32_t from, uint32_t k)
{
    if (tile->watch == NULL || from == k) {
        return k;
    }
    const uint32_t n = k - from < tile->block ? k - from : tile->block;
    return gbsi_watch_spend(tile->watch, tile->operations * n) ? from : from + n;
}

/* Reports that no state of this place has positive weight. Draws process the places of a tile in
 * ascending order, so that the first report of a tile is for its first such place. */
static inline void gbsi_tile_flag(gbsi_tile *tile, uint32_t place)
{
    if (tile->flags == 0) {
        tile->flag_place = place;
    }
    tile->flags |= GBSI_IMPOSSIBLE;
}

/* Calls gbsi_tile_flag() for the first affected place of a row. @param dead bits of the lanes
 * without positive weight; not 0. */
static inline void gbsi_tile_flag_row(gbsi_tile *tile, uint32_t row, unsigned dead)
{
    gbsi_tile_flag(tile, tile->lanes == 1 ? GBSI_LANES * row + (uint32_t)__builtin_ctz(dead) : row);
}

#endif
