/* SPDX-License-Identifier: Apache-2.0 */
/* One round of Philox4x32-10 on sixteen counters, for the loops of *_lanes.c files; philox.c has
 * the scalar form. Between rounds, the words stay in 64-bit lanes, as the multiplication leaves
 * them. The next multiplication reads only the low halves of these lanes, so no packing is needed.
 */
#ifndef GBSI_RNG_PHILOX_LANES_H
#define GBSI_RNG_PHILOX_LANES_H

#include "rng/philox.h"
#include "simd/lanes.h"

typedef struct gbsi_philox_keys {
    uint32_t k0[GBSI_PHILOX_ROUNDS];
    uint32_t k1[GBSI_PHILOX_ROUNDS];
} gbsi_philox_keys;

typedef struct gbsi_philox_counters {
    vw c0;
    vw c1;
    vw c2;
    vw c3;
} gbsi_philox_counters;

static gbsi_philox_keys gbsi_philox_expand(uint64_t seed)
{
    gbsi_philox_keys key;
    for (uint32_t r = 0; r < GBSI_PHILOX_ROUNDS; r++) {
        key.k0[r] = (uint32_t)seed + r * GBSI_WEYL_0;
        key.k1[r] = (uint32_t)(seed >> 32) + r * GBSI_WEYL_1;
    }
    return key;
}

static inline gbsi_philox_counters gbsi_philox_round(gbsi_philox_counters c, uint32_t k0,
                                                     uint32_t k1)
{
    vw p0 = vw_mul(c.c0, vw_set1(GBSI_PHILOX_M0));
    vw p1 = vw_mul(c.c2, vw_set1(GBSI_PHILOX_M1));
    gbsi_philox_counters next = {vw_xor_high(p1, c.c1, vw_set1(k0)), p1,
                                 vw_xor_high(p0, c.c3, vw_set1(k1)), p0};
    return next;
}

static inline uint32_t gbsi_high_word(uint64_t a)
{
    return (uint32_t)(a >> 32);
}

#endif
