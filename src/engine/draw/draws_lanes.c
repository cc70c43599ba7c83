/* SPDX-License-Identifier: Apache-2.0 */
/* The gbsi_draw tables of the rows of draws.def for one instruction set. */
#include "plan/draw.h"
#include "simd/lanes.h"

#define GBS_DRAW(number, SYMBOL, table, KEYS, name, help) \
    extern const gbsi_draw GBSI_V(gbsi_draw_##table);
#include "gibbsite/draws.def"
#undef GBS_DRAW

extern const gbsi_draw *const GBSI_V(gbsi_draws)[];
const gbsi_draw *const GBSI_V(gbsi_draws)[] = {
#define GBS_DRAW(number, SYMBOL, table, KEYS, name, help) [number] = &GBSI_V(gbsi_draw_##table),
#include "gibbsite/draws.def"
#undef GBS_DRAW
};
