/* SPDX-License-Identifier: Apache-2.0 */
/* Passes that update one variable after the other, tile by tile. */
#ifndef GBSI_CHAINS_TILES_H
#define GBSI_CHAINS_TILES_H

#include "plan/pass.h"
#include "rng/words.h"

extern const gbsi_pass gbsi_pass_tiles;

/* For tests: sets the number of operations between two looks at the watch. */
gbs_status gbsi_tiles_look_every(void *state, double operations, gbs_error *err);

/* For tests: replaces the functions that make random words. */
void gbsi_tiles_words(void *state, const gbsi_words *words);

#endif
