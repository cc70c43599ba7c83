/* SPDX-License-Identifier: Apache-2.0 */
/* Tables looked up in sixteen lanes, for several own states at once: entries index + a, a = 0 ..
 * width - 1, joined to sums. Where `width` is a constant the sums stay in registers. */
#ifndef GBSI_KERNEL_LOOKUP_H
#define GBSI_KERNEL_LOOKUP_H

#include "kernel/state.h"

/* Own states at a time where there are more than the widths that FOR_WIDTH has code for. */
#define GBSI_BLOCK 4u

/* run(k) with k, the width of a row, as a constant where it is small, else run(0). Plain C has no
 * registers to keep a row in, and compilers spend minutes on unrolling its lanes for every k. */
#if defined(GBSI_LANES_AVX512) || defined(GBSI_LANES_AVX2) || defined(GBSI_LANES_NEON)
#define GBSI_SPECIALISED 1
#define FOR_WIDTH(width, run) \
    switch (width) {          \
    case 1:                   \
        run(1);               \
        break;                \
    case 2:                   \
        run(2);               \
        break;                \
    case 3:                   \
        run(3);               \
        break;                \
    case 4:                   \
        run(4);               \
        break;                \
    case 5:                   \
        run(5);               \
        break;                \
    default:                  \
        run(0);               \
        break;                \
    }
#else
#define GBSI_SPECIALISED      0
#define FOR_WIDTH(width, run) run(0);
#endif
#define GBSI_MOST_WIDTH 5u

GBSI_INLINE vu times(vu x, const uint32_t k)
{
    switch (k) {
    case 1:
        return x;
    case 2:
        return vu_add(x, x);
    case 3:
        return vu_add(vu_add(x, x), x);
    case 4:
        return vu_shl(x, 2);
    default:
        return vu_mul(x, vu_set1(k));
    }
}

GBSI_INLINE void join_gathered(const float *table, vu index, const uint32_t width, vf *sum,
                               const bool linear)
{
    uint32_t a = 0;
    for (; a + 1 < width; a += 2) {
        const vf2 two = vf_gather2(table + a, index);
        sum[a] = join(sum[a], two.first, linear);
        sum[a + 1] = join(sum[a + 1], two.second, linear);
    }
    if (a < width) {
        sum[a] = join(sum[a], vf_gather(table + a, index), linear);
    }
}

/* A table that is the same in all lanes, of n entries. Up to 32 of them are looked up in registers,
 * where a gather takes as long as sixteen loads. Pools have room for 16 entries behind the last. */
GBSI_INLINE void join_entries(const float *table, size_t n, vu index, const uint32_t width, vf *sum,
                              const bool linear)
{
    if (n <= 16) {
        for (uint32_t a = 0; a < width; ++a) {
            sum[a] = join(sum[a], vf_permute16(vf_load(table + a), index), linear);
        }
    } else if (n <= 32) {
        const vf low = vf_load(table);
        const vf high = vf_load(table + 16);
        for (uint32_t a = 0; a < width; ++a) {
            const vu at = vu_add(index, vu_set1(a));
            sum[a] = join(sum[a], vf_permute32(low, high, at), linear);
        }
    } else {
        join_gathered(table, index, width, sum, linear);
    }
}

/* One entry of such a table. */
GBSI_INLINE vf entry_of(const float *table, size_t n, vu index)
{
    if (n <= 16) {
        return vf_permute16(vf_load(table), index);
    }
    return n <= 32 ? vf_permute32(vf_load(table), vf_load(table + 16), index)
                   : vf_gather(table, index);
}

#endif
