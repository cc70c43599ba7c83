/* SPDX-License-Identifier: Apache-2.0 */
/* Drawing method cud for tiles: words of the sequence replace the random words of the random draw,
 * and its rule stays. */
#include "draw/cud_draw.h"
#include "draw/tile_lanes.h"
#include "simd/lanes.h"

#include <stddef.h>

extern const gbsi_draw GBSI_V(gbsi_draw_cud);

/* Computes, for the places of a row, the driving numbers plus the shifts, modulo 1. The array of
 * shifts is longer than its last slot, so that whole vectors can be read. A word of 0 (u < 2^-32)
 * becomes 1, so that the draw needs no second word. */
static void row_words(const gbsi_cud_draw *d, const gbsi_tile *tile, uint32_t row, uint32_t *out)
{
    const uint32_t lanes = tile->lanes;
    const uint32_t *shift = d->shift + (size_t)tile->group * lanes * d->n_slots;
    vu word;
    if (lanes == GBSI_LANES) {
        word = vu_add(vu_set1(d->driving[tile->position[row]]),
                      vu_load(shift + (size_t)gbsi_tile_slot(tile, row) * GBSI_LANES));
    } else {
        const uint32_t *position = tile->position + (size_t)row * GBSI_LANES;
        const vu slot = tile->contiguous
                            ? vu_add(vu_set1(tile->first_slot + row * GBSI_LANES), vu_iota())
                            : vu_load(tile->slot + (size_t)row * GBSI_LANES);
        word = vu_add(vu_gather(d->driving, vu_load(position)), vu_gather(shift, slot));
    }
    vu_store(out, vu_select(vu_eq(word, vu_set1(0)), vu_set1(1), word));
}

static void fill_words(const gbsi_cud_draw *d, const gbsi_tile *tile, uint32_t *word)
{
    for (uint32_t row = 0; row < tile->n_rows; ++row) {
        row_words(d, tile, row, word + (size_t)row * GBSI_LANES);
    }
}

/* Draws state 1 if and only if u < p. The random draw decides differently: it takes the less likely
 * state if and only if u is below the probability of this state. Therefore 1 - u replaces u if
 * state 0 is the less likely one. */
static void binary(void *state, gbsi_tile *tile)
{
    uint32_t word[GBSI_TILE_ROWS * GBSI_LANES];
    const vf even = vf_set1(tile->linear ? 1.0F : 0.0F);
    fill_words(state, tile, word);
    for (uint32_t row = 0; row < tile->n_rows; ++row) {
        uint32_t *at = word + (size_t)row * GBSI_LANES;
        const vm likely_one = vf_lt(even, vf_load(tile->w + (size_t)row * GBSI_LANES));
        const vu w = vu_load(at);
        vu_store(at, vu_select(likely_one, vu_sub(vu_set1(0), w), w));
    }
    tile->word = word;
    GBSI_V(gbsi_draw_random).binary(NULL, tile);
    tile->word = NULL;
}

/* Draws the first state whose cumulative probability exceeds u. */
static void categorical(void *state, gbsi_tile *tile)
{
    uint32_t word[GBSI_TILE_ROWS * GBSI_LANES];
    fill_words(state, tile, word);
    tile->word = word;
    GBSI_V(gbsi_draw_random).categorical(NULL, tile);
    tile->word = NULL;
}

const gbsi_draw GBSI_V(gbsi_draw_cud) = {
    .name = "cud",
    .reference =
        "Chen, Matsumoto, Nishimura & Owen (2012), New inputs and methods for Markov chain "
        "quasi-Monte Carlo, MCQMC 2010; Tribble (2007), PhD thesis, Stanford",
    .traits = GBSI_DRAW_POSITION,
    .options = gbsi_cud_options,
    .settle = gbsi_cud_draw_settle,
    .bytes = gbsi_cud_draw_bytes,
    .init = gbsi_cud_draw_init,
    .begin_pass = gbsi_cud_draw_begin_pass,
    .binary = binary,
    .categorical = categorical,
    .free = gbsi_cud_draw_free,
};
