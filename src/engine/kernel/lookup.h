/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the widths of rows, which are numbers of own states, into compile-time constants. If the
 * width is a constant, the sums of the own states stay in registers. */
#ifndef GBSI_KERNEL_LOOKUP_H
#define GBSI_KERNEL_LOOKUP_H

#include "kernel/state.h"

/* Number of own states computed at a time in rows wider than the constant widths of FOR_WIDTH. */
#define GBSI_BLOCK 4u

/* Calls run(k) with the width k of a row as a constant if k is small, else run(0). Plain C always
 * calls run(0), because registers cannot hold a row, and compilers spend minutes on unrolling the
 * lanes for every k. */
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
