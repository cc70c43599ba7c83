/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of eight doubles at a time, in vector types of the compiler, for *_lanes.c files. The
 * functions use only additions, products and quotients, in a fixed order; every instruction set
 * therefore gives the same bits. */
#ifndef GBSI_LEARN_EIGHTS_H
#define GBSI_LEARN_EIGHTS_H

#include <stdint.h>
#include <string.h>

#define EIGHT 8u

typedef double eight __attribute__((vector_size(64), aligned(8), may_alias));
typedef int64_t eight_bits __attribute__((vector_size(64), aligned(8), may_alias));

#define INLINE static inline __attribute__((always_inline))

/* Computes exp(x) for -700 <= x <= 0, and 0 for smaller x. Let x = n ln 2 + r with |r| <= ln 2 / 2.
 * exp(r) is computed by its Taylor series up to r^12 / 12!; the next term is below 2^-52. 2^n is
 * made by setting the exponent bits of a double. The error is below 2 ulp. */
INLINE void exp_eight(double *to)
{
    const double shift = 0x1.8p52;
    eight x;
    memcpy(&x, to, sizeof x);
    const eight_bits in_range = x > -700.0;
    const eight t = x * 0x1.71547652b82fep+0 + shift;
    const eight n = t - shift;
    const eight r = (x - n * 0x1.62e42fefa3800p-1) - n * 0x1.ef35793c76730p-45;
    eight p = r * (1.0 / 479001600) + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    eight_bits octave;
    memcpy(&octave, &t, sizeof octave);
    octave = (octave + 1023) << 52; /* the low bits of t are n */
    eight scale;
    memcpy(&scale, &octave, sizeof scale);
    p *= scale;
    eight_bits bits;
    memcpy(&bits, &p, sizeof bits);
    bits &= in_range;
    memcpy(to, &bits, sizeof bits);
}

#endif
