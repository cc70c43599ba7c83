/* SPDX-License-Identifier: Apache-2.0 */
/* Products of 128 bits, with the compiler's 128-bit integers or without them. */
#ifndef GBSI_DECIMAL_WIDE_H
#define GBSI_DECIMAL_WIDE_H

#include <stdint.h>

typedef struct gbsi_wide {
    uint64_t high;
    uint64_t low;
} gbsi_wide;

/* Computes the 128-bit product from four products of 32-bit halves. */
static inline gbsi_wide gbsi_product_by_halves(uint64_t a, uint64_t b)
{
    const uint64_t half = UINT32_MAX;
    const uint64_t low = (a & half) * (b & half);
    const uint64_t inner = (a >> 32) * (b & half) + (low >> 32);
    const uint64_t other = (a & half) * (b >> 32) + (inner & half);
    return (gbsi_wide){.high = (a >> 32) * (b >> 32) + (inner >> 32) + (other >> 32),
                       .low = other << 32 | (low & half)};
}

static inline gbsi_wide gbsi_product(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    __extension__ const unsigned __int128 product = (unsigned __int128)a * b;
    return (gbsi_wide){.high = (uint64_t)(product >> 64), .low = (uint64_t)product};
#else
    return gbsi_product_by_halves(a, b);
#endif
}

#endif
