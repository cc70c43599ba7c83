/* SPDX-License-Identifier: Apache-2.0 */
/* A draw as one would be added: the random one, with 1 - u in place of u. */
#include "draw/tile_lanes.h"

#include <stddef.h>

static void turn(gbsi_tile *tile, uint32_t *turned)
{
    for (size_t i = 0; i < (size_t)tile->n_rows * GBSI_LANES; ++i) {
        turned[i] = ~tile->word[i];
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

const gbsi_draw GBSI_V(gbsi_draw_turned) = {
    .name = "turned",
    .reference = "a test of how draws are added",
    .traits = GBSI_DRAW_EXACT | GBSI_DRAW_HEATS,
    .n_words = 1,
    .binary = binary,
    .categorical = categorical,
};
