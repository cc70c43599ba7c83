/* SPDX-License-Identifier: Apache-2.0 */
/* Functions by which kernels read states. `wide` is a constant where they are inlined. */
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

/* The lanes of a mixed slice: some slots look up a table by the number of neighbours in a state,
 * and other slots have couplings. */
typedef struct mixed_lanes {
    vu table;  /* index in the pool of the lane's table; any valid index in lanes without a table */
    vu degree; /* number of neighbours that the lane counts; 0 in lanes without a table */
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

/* Returns 1 in the lanes in which neighbour d is counted, because `same` is set and d is not
 * padding; 0 in the other lanes. */
GBSI_INLINE vu counts_one(const mixed_lanes *mixed, uint32_t d, vm same)
{
    return vu_select(vm_and(same, vu_lt(vu_set1(d), mixed->degree)), vu_set1(1), vu_set1(0));
}

/* Joins two terms: log-weights are added, weights are multiplied [M15]. */
GBSI_INLINE vf join(vf a, vf b, const bool linear)
{
    return linear ? vf_mul(a, b) : vf_add(a, b);
}

GBSI_INLINE float join1(float a, float b, const bool linear)
{
    return linear ? a * b : a + b;
}

/* Looks up the entries of a table that is indexed by a number of neighbours. A table of 16 entries
 * fits a register. */
GBSI_INLINE vf by_count(const float *table, vu count, size_t degree)
{
    return degree < 16 ? vf_permute16(vf_load(table), count) : vf_gather(table, count);
}

/* Whether the places of a row of one chain form a regular slice of the plan. */
GBSI_INLINE bool whole_slice(const gbsi_plan *plan, const gbsi_tile *tile, uint32_t row)
{
    const uint32_t first = tile->first_slot + 16 * row;
    return plan->sell.slice != NULL && tile->contiguous && first % 16 == 0 &&
           16 * row + 16 <= tile->n_places && plan->sell.slice[first / 16].regular;
}

/* Number of places of one chain in a row. Lanes without a place repeat the last place, because the
 * draw needs odds or weights in every lane. The draw drops the values of these lanes. */
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
