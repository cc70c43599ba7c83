/* SPDX-License-Identifier: Apache-2.0 */
/* Widths of rows: where the number of own states is a constant, their sums stay in registers. */
#ifndef GBSI_KERNEL_LOOKUP_H
#define GBSI_KERNEL_LOOKUP_H

#include "kernel/state.h"

/* The number of own states computed at a time if there are more than the widths that FOR_WIDTH has
 * code for. */
#define GBSI_BLOCK 4u

/* Calls run(k) with k, the width of a row, as a constant if it is small, else run(0). Plain C has
 * no registers to keep a row in, and compilers spend minutes on unrolling its lanes for every k. */
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

#endif
