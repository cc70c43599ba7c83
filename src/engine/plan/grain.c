/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out which float sums of log-weights are exact. If all log-weights of a variable's factors
 * are multiples of 2^g, all partial sums, in any order, are multiples of 2^g. A float holds every
 * multiple of 2^g below 2^(24 + g) exactly [M13]. */
#include <math.h>
#include <string.h>

#include "plan/compile.h"

/* Limit on the absolute value of a log-weight in units of its grain. If the entries of a table
 * share a larger constant, even sums in double need not be exact. */
#define MOST_GRAINS 0x1p24
/* Range of grains, far from the exponents at which floats lose bits or overflow. */
#define FINEST   (-100)
#define COARSEST 100

/* Returns the exponent e of the lowest set bit: x is an odd multiple of 2^e. */
static int lowest_bit(double x)
{
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    const int exponent = (int)(bits >> 52 & 0x7FF);
    const uint64_t fraction = bits & UINT64_C(0xFFFFFFFFFFFFF);
    if (exponent == 0x7FF || (exponent == 0 && fraction == 0)) {
        return GBSI_GRAIN_ANY; /* the log-weight is infinite or 0 */
    }
    return exponent == 0 ? GBSI_GRAIN_NONE
                         : exponent - 1075 + __builtin_ctzll(fraction | UINT64_C(1) << 52);
}

/* Returns 2^e, for FINEST <= e <= COARSEST + 24. */
static double power_of_two(int e)
{
    const uint64_t bits = (uint64_t)(e + 1023) << 52;
    double x = 0.0;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static int usable(int grain)
{
    return grain == GBSI_GRAIN_ANY || (grain >= FINEST && grain <= COARSEST) ? grain
                                                                             : GBSI_GRAIN_NONE;
}

/* Returns the grain of a table, which is computed once. */
static int table_grain(gbsi_compile *c, uint32_t table)
{
    const gbsi_factors *factors = c->factors;
    if (c->table_grain[table] == GBSI_GRAIN_UNKNOWN) {
        int grain = GBSI_GRAIN_ANY;
        double largest = 0.0;
        for (size_t i = factors->table_start[table]; i < factors->table_start[table + 1]; ++i) {
            const int bit = lowest_bit(factors->table[i]);
            grain = bit < grain ? bit : grain;
            if (isfinite(factors->table[i]) && fabs(factors->table[i]) > largest) {
                largest = fabs(factors->table[i]);
            }
        }
        grain = usable(grain);
        if (grain != GBSI_GRAIN_ANY && grain != GBSI_GRAIN_NONE &&
            largest > MOST_GRAINS * power_of_two(grain)) {
            grain = GBSI_GRAIN_NONE;
        }
        c->table_grain[table] = (int16_t)grain;
    }
    return c->table_grain[table];
}

int16_t gbsi_grain_of(gbsi_compile *c, size_t f)
{
    const gbsi_factors *factors = c->factors;
    if (factors->kind[f] == GBS_FACTOR_TABLE) {
        return (int16_t)table_grain(c, factors->aux[f]);
    }
    if (factors->kind[f] == GBS_FACTOR_LOGICAL &&
        factors->logical[factors->aux[f]].function == GBS_LOGICAL_RATIO) {
        return GBSI_GRAIN_NONE; /* only this function of the number of true literals has values that
                                   are not whole numbers [M5] */
    }
    return gbsi_is_noisy(factors->kind[f]) ? GBSI_GRAIN_NONE
                                           : (int16_t)usable(lowest_bit(factors->weight[f]));
}

bool gbsi_sums_are_exact(double magnitude, int16_t grain)
{
    return grain != GBSI_GRAIN_NONE &&
           (grain == GBSI_GRAIN_ANY || magnitude < power_of_two(grain + 24));
}
