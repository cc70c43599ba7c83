/* SPDX-License-Identifier: Apache-2.0 */
/* Reading states in kernels: the width is a constant where these are inlined. */
#ifndef GBSI_KERNEL_STATE_H
#define GBSI_KERNEL_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "plan/kernel.h"
#include "simd/lanes.h"

#define GBSI_INLINE static inline __attribute__((always_inline))

/* The states of one slot in 16 chains. */
GBSI_INLINE vu state16(const void *state, uint32_t slot, bool wide)
{
    return wide ? vu_load_u16((const uint16_t *)state + (size_t)slot * GBSI_LANES)
                : vu_load_u8((const uint8_t *)state + (size_t)slot * GBSI_LANES);
}

/* The state of one slot of one chain. */
GBSI_INLINE uint32_t state1(const void *state, uint32_t slot, bool wide)
{
    return wide ? ((const uint16_t *)state)[slot] : ((const uint8_t *)state)[slot];
}

/* The states of sixteen slots of one chain. */
GBSI_INLINE vu gather16(const void *state, const uint32_t *slots, bool wide)
{
    const vu slot = vu_load(slots);
    return wide ? vu_gather_u16(state, slot) : vu_gather_u8(state, slot);
}

/* Tables by count of a mixed slice: which lanes have such a table, and the count so far. */
typedef struct mixed_lanes {
    vu table;  /* any valid index in lanes that have no table */
    vu degree; /* 0 in lanes without */
    vm without;
} mixed_lanes;

GBSI_INLINE mixed_lanes mixed_of(const gbsi_plan *plan, const gbsi_slice *slice)
{
    const uint32_t *base = plan->sell.base + slice->counted;
    uint32_t valid = 0;
    for (unsigned i = 0; i < 16; ++i) {
        valid = base[i] != GBSI_NONE ? base[i] : valid;
    }
    const vu table = vu_load(base);
    const vm without = vu_eq(table, vu_set1(GBSI_NONE));
    return (mixed_lanes){vu_select(without, vu_set1(valid), table), vu_load(base + 16), without};
}

/* 1 in lanes in which neighbour d counts: where it is not padding and `same` is set. */
GBSI_INLINE vu counts_one(const mixed_lanes *mixed, uint32_t d, vm same)
{
    return vu_select(vm_and(same, vu_lt(vu_set1(d), mixed->degree)), vu_set1(1), vu_set1(0));
}

/* Log-weights add up, weights multiply [M15]. */
GBSI_INLINE vf join(vf a, vf b, const bool linear)
{
    return linear ? vf_mul(a, b) : vf_add(a, b);
}

GBSI_INLINE float join1(float a, float b, const bool linear)
{
    return linear ? a * b : a + b;
}

/* An entry of a table by the number of neighbours; 16 entries fit a register. */
GBSI_INLINE vf by_count(const float *table, vu count, size_t degree)
{
    return degree < 16 ? vf_permute16(vf_load(table), count) : vf_gather(table, count);
}

/* Whether a row of places of one chain is a regular slice of the second packing. */
GBSI_INLINE bool whole_slice(const gbsi_plan *plan, const gbsi_tile *tile, uint32_t row)
{
    const uint32_t first = tile->first_slot + 16 * row;
    return plan->sell.slice != NULL && tile->contiguous && first % 16 == 0 &&
           16 * row + 16 <= tile->n_places && plan->sell.slice[first / 16].regular;
}

/* Places of one chain in a row. Lanes without a place are dropped, but must hold odds or weights
 * for the draw: they repeat the last place. @param out [width][16]. */
GBSI_INLINE uint32_t places_in(const gbsi_tile *tile, uint32_t row)
{
    return tile->n_places - 16 * row < 16 ? tile->n_places - 16 * row : 16;
}

GBSI_INLINE void pad_row(float *out, uint32_t width, uint32_t n_places)
{
    for (uint32_t a = 0; n_places < 16 && a < width; ++a) {
        for (uint32_t i = n_places; i < 16; ++i) {
            out[(size_t)a * 16 + i] = out[(size_t)a * 16 + n_places - 1];
        }
    }
}

#endif
