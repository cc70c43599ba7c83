/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: feeds an estimate with made-up probabilities and states, in tiles like the tiles of a
 * run. Padded lanes and places hold invalid values. */
#ifndef GBSI_ESTIMATE_ESTIMATE_FEED_H
#define GBSI_ESTIMATE_ESTIMATE_FEED_H

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "estimate/estimate.h"

/* Number of slots, which form runs of equal arity: binary runs longer than a tile, short binary
 * runs, and runs of other arities between them. Tests depend on the order of the runs. */
enum { N_SLOTS = 270 };
static uint32_t arity_of[N_SLOTS];

static inline void fill_arities(void)
{
    static const uint32_t tail[] = {3, 3, 3, 2, 5, 1, 2, 2, 16, 17, 4, 3, 2, 1, 7};
    const size_t n_tail = sizeof tail / sizeof *tail;
    for (size_t i = 0; i < N_SLOTS; i++) {
        arity_of[i] = i < 120 ? 2 : i < 160 ? 3 : i < 200 ? 2 : tail[i % n_tail];
    }
}

static inline gbsi_estimate_shape shape_of(uint32_t n_chains, uint32_t lanes,
                                           gbs_estimator_kind kind)
{
    fill_arities();
    return (gbsi_estimate_shape){
        .n_slots = N_SLOTS,
        .arity = arity_of,
        .n_chains = n_chains,
        .lanes = lanes,
        .n_groups = (n_chains + lanes - 1) / lanes,
        .value_bytes = 1,
        .kind = kind,
        .each_once = true,
    };
}

/* Value of one update: p of a state (Rao-Blackwell), or 1 or 0 (counting). */
typedef float (*feed_value)(const void *context, uint32_t chain, uint32_t slot, uint32_t state,
                            uint64_t pass);

typedef struct feed {
    gbsi_estimate *estimate;
    const gbsi_estimate_shape *shape;
    feed_value value;
    const void *context;
    bool log_weights;  /* binary tiles have weights of both states, not odds */
    bool never_stream; /* tiles are never marked contiguous */
} feed;

static inline uint64_t feed_hash(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static inline uint64_t feed_word(uint64_t seed, uint64_t a, uint64_t b, uint64_t c)
{
    return feed_hash(feed_hash(feed_hash(feed_hash(seed) + a) + b) + c);
}

/* A uniform number on (0, 1), which is a function of the arguments. */
static inline double feed_uniform(uint64_t seed, uint64_t a, uint64_t b, uint64_t c)
{
    return ((double)(feed_word(seed, a, b, c) >> 12) + 0.5) * 0x1p-52;
}

static void feed_row(const feed *f, const gbsi_tile *tile, uint32_t row, uint32_t group,
                     uint32_t lane, float *p)
{
    const bool many = tile->lanes == GBSI_LANES;
    const uint32_t place = many ? row : row * GBSI_LANES + lane;
    const uint32_t chain = many ? group * GBSI_LANES + lane : group;
    const bool real = place < tile->n_places && chain < f->shape->n_chains;
    const uint32_t width = tile->odds ? 1 : tile->arity;
    for (uint32_t a = 0; a < width; a++) {
        const uint32_t state = tile->odds ? 1 : a;
        p[((size_t)row * width + a) * GBSI_LANES + lane] =
            real ? f->value(f->context, chain, tile->slot[place], state, tile->pass) : NAN;
    }
}

/* Feeds a tile of at most 64 rows of one arity, for all groups. */
static void feed_tile(const feed *f, const uint32_t *slot, uint32_t n_places, bool consecutive,
                      uint64_t pass)
{
    const uint32_t arity = f->shape->arity[slot[0]];
    const uint32_t lanes = f->shape->lanes;
    gbsi_tile tile = {
        .odds = arity == 2 && !f->log_weights,
        .value_bytes = (uint8_t)f->shape->value_bytes,
        .lanes = (uint8_t)lanes,
        .arity = arity,
        .n_places = n_places,
        .n_rows = lanes == 1 ? (n_places + 15) / 16 : n_places,
        .slot = slot,
        .first_slot = slot[0],
        .contiguous = consecutive && !f->never_stream,
        .pass = pass,
    };
    const uint32_t width = tile.odds ? 1 : arity;
    float *p = malloc(sizeof *p * tile.n_rows * width * GBSI_LANES);
    for (uint32_t group = 0; p != NULL && group < f->shape->n_groups; group++) {
        tile.p = p;
        for (uint32_t row = 0; row < tile.n_rows; row++) {
            for (uint32_t lane = 0; lane < GBSI_LANES; lane++) {
                feed_row(f, &tile, row, group, lane, p);
            }
        }
        gbsi_estimate_tile(f->estimate, group, &tile);
    }
    free(p);
}

/* Rao-Blackwell: feeds a pass over the listed slots. */
static inline void feed_slots(const feed *f, const uint32_t *slot, size_t n, uint64_t pass)
{
    const uint32_t most =
        f->shape->lanes == 1
            ? 150
            : 40; /* largest number of places of a tile; the number is not a multiple of 16 */
    for (size_t i = 0; i < n;) {
        size_t end = i + 1;
        bool consecutive = true;
        while (end < n && end - i < most &&
               f->shape->arity[slot[end]] == f->shape->arity[slot[i]]) {
            consecutive = consecutive && slot[end] == slot[end - 1] + 1;
            end++;
        }
        feed_tile(f, slot + i, (uint32_t)(end - i), consecutive, pass);
        i = end;
    }
    gbsi_estimate_end_pass(f->estimate, NULL);
}

static inline void set_state(const gbsi_estimate_shape *shape, void *state, size_t at, uint32_t a)
{
    if (shape->value_bytes == 1) {
        ((uint8_t *)state)[at] = (uint8_t)a;
    } else {
        ((uint16_t *)state)[at] = (uint16_t)a;
    }
}

/* Counting: feeds the end of a pass. The state of a slot is the first state whose value is
 * positive. */
static inline void feed_states(const feed *f, uint64_t pass)
{
    const gbsi_estimate_shape *shape = f->shape;
    const size_t n = (size_t)shape->n_slots * shape->lanes;
    void *state = malloc(n * shape->value_bytes + 1);
    for (uint32_t group = 0; state != NULL && group < shape->n_groups; group++) {
        for (size_t at = 0; at < n; at++) {
            const uint32_t slot = (uint32_t)(at / shape->lanes);
            const uint32_t chain = group * shape->lanes + (uint32_t)(at % shape->lanes);
            uint32_t a = 0;
            while (chain < shape->n_chains && a + 1 < shape->arity[slot] &&
                   f->value(f->context, chain, slot, a, pass) <= 0) {
                a++;
            }
            set_state(shape, state, at, chain < shape->n_chains ? a : 0xABCD);
        }
        gbsi_estimate_state(f->estimate, group, state, 0, shape->n_slots);
    }
    free(state);
    gbsi_estimate_end_pass(f->estimate, NULL);
}

#endif
