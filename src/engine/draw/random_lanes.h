/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GBSI_DRAW_RANDOM_LANES_H
#define GBSI_DRAW_RANDOM_LANES_H

#include "plan/draw.h"
#include "simd/lanes.h"

extern const gbsi_draw GBSI_V(gbsi_draw_random);

#endif
