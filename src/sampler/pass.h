/* SPDX-License-Identifier: Apache-2.0 */
/* What a pass and the memory it needs agree on. */
#ifndef GBSI_SAMPLER_PASS_H
#define GBSI_SAMPLER_PASS_H

#include "plan/tile.h"

/* Words are made for this many rows of 16 at a time. */
#define GBSI_WINDOW_ROWS GBSI_TILE_ROWS

#endif
