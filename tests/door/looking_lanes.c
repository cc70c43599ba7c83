/* SPDX-License-Identifier: Apache-2.0 */
/* A draw as one would be added that reads states and keeps nothing: the random one, with 1 - u in
 * place of u where the variable is in an odd state. */
#include "draw/tile_lanes.h"
#include "plan/kernel.h"

#include <stddef.h>

static uint32_t state_of(const gbsi_tile *tile, uint32_t row, uint32_t lane)
{
    const uint32_t place = tile->lanes == 1 ? row * GBSI_LANES + lane : row;
    if (place >= tile->n_places) {
        return 0;
    }
    const size_t slot = gbsi_tile_slot(tile, place);
    return gbsi_state_at(tile->state, tile->lanes == 1 ? slot : slot * GBSI_LANES + lane,
                         tile->value_bytes);
}

static void turn(gbsi_tile *tile, uint32_t *turned)
{
    for (uint32_t i = 0; i < tile->n_rows * GBSI_LANES; ++i) {
        const bool odd = state_of(tile, i / GBSI_LANES, i % GBSI_LANES) % 2 == 1;
        turned[i] = odd ? ~tile->word[i] : tile->word[i];
    }
    tile->word = turned;
}

static void binary(void *state, gbsi_tile *tile)
{
    uint32_t turned[GBSI_TILE_ROWS * GBSI_LANES];
    const uint32_t *word = tile->word;
    turn(tile, turned);
    GBSI_V(gbsi_draw_random).binary(state, tile);
    tile->word = word;
}

static void categorical(void *state, gbsi_tile *tile)
{
    uint32_t turned[GBSI_TILE_ROWS * GBSI_LANES];
    const uint32_t *word = tile->word;
    turn(tile, turned);
    GBSI_V(gbsi_draw_random).categorical(state, tile);
    tile->word = word;
}

const gbsi_draw GBSI_V(gbsi_draw_looking) = {
    .name = "looking",
    .reference = "a test of how draws are added that read states",
    .traits = GBSI_DRAW_EXACT | GBSI_DRAW_CONTEXT,
    .n_words = 1,
    .binary = binary,
    .categorical = categorical,
};
