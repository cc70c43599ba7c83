/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the logarithm of math.c for many numbers at once. One logarithm is a chain of some
 * hundred operations that wait for each other; eight logarithms side by side therefore cost little
 * more than one. The loop over the lanes is plain C that the compiler vectorises. Numbers that are
 * not normal and positive are handled separately. */
#include <string.h>

#include "simd/lanes.h"
#include "simd/math.h"
#include "simd/math_pair.h"

enum { WIDTH = 8 };

/* Returns log x for a normal, positive, finite x. */
static inline double log_normal(double x)
{
    const uint64_t bits = bits_of(x);
    const int64_t octave = octave_of(bits);
    /* converts a small integer to a double: puts it into the significand of 1.5 * 2^52 and
     * subtracts 1.5 * 2^52 */
    const double k = of_bits((uint64_t)octave + 0x4338000000000000u) - 0x1.8p52;
    return log_scaled(k, log_of_mantissa(of_bits(bits - ((uint64_t)octave << 52)))).hi;
}

static inline int is_normal(double x)
{
    return x >= 0x1p-1022 && x <= 0x1.fffffffffffffp1023;
}

static void log_row(double *x)
{
    double from[WIDTH];
    double to[WIDTH];
    for (int i = 0; i < WIDTH; i++) {
        from[i] = is_normal(x[i]) ? x[i] : 1.0;
    }
    for (int i = 0; i < WIDTH; i++) {
        to[i] = log_normal(from[i]);
    }
    for (int i = 0; i < WIDTH; i++) {
        x[i] = is_normal(x[i]) ? to[i] : gbsi_log(x[i]);
    }
}

void GBSI_V(gbsi_log_many)(double *x, size_t n)
{
    size_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH) {
        log_row(x + i);
    }
    double rest[WIDTH] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    if (i < n) {
        memcpy(rest, x + i, (n - i) * sizeof *x);
        log_row(rest);
        memcpy(x + i, rest, (n - i) * sizeof *x);
    }
}
