/* SPDX-License-Identifier: Apache-2.0 */
/* Finds primitive polynomials by the order of x, and offsets by equidistribution. The polynomials
 * are searched for, not read from a table, because a table could contain misprints; for degrees up
 * to 32 the search takes only milliseconds. */
#include <assert.h>

#include "rng/cud.h"

/* ---- primitive polynomials ----------------------------------------------------------------- */

bool gbsi_cud_is_primitive(uint64_t polynomial)
{
    uint32_t m = 0;
    while (polynomial >> (m + 1) != 0) {
        ++m;
    }
    assert(m >= 1 && m <= GBSI_CUD_MOST_BITS);
    const uint64_t period = gbsi_cud_period(m);
    /* The loop checks that x^P = 1 and that no x^(P / q) = 1 for a prime q that divides P. If both
     * hold, the 2^m - 1 powers of x are all elements except 0, every element has an inverse, and p
     * is irreducible. */
    if ((polynomial & 1u) == 0 || gbsi_cud_power(period, polynomial) != 1) {
        return false;
    }
    uint64_t rest = period;
    for (uint64_t q = 3; rest > 1; q += 2) {
        if (q * q > rest) {
            q = rest; /* the rest is prime, because no smaller prime divides it */
        }
        if (rest % q != 0) {
            continue;
        }
        while (rest % q == 0) {
            rest /= q;
        }
        if (q < period && gbsi_cud_power(period / q, polynomial) == 1) {
            return false;
        }
    }
    return true;
}

uint64_t gbsi_cud_polynomial(uint32_t bits)
{
    const uint64_t ends = UINT64_C(1) << bits | 1u;
    assert(bits >= GBSI_CUD_LEAST_BITS && bits <= GBSI_CUD_MOST_BITS);
    for (uint32_t a = 1; a < bits; ++a) {
        const uint64_t polynomial = ends | UINT64_C(1) << a;
        if (gbsi_cud_is_primitive(polynomial)) {
            return polynomial;
        }
    }
    for (uint32_t a = 3; a < bits; ++a) {
        for (uint32_t b = 2; b < a; ++b) {
            for (uint32_t c = 1; c < b; ++c) {
                const uint64_t polynomial =
                    ends | UINT64_C(1) << a | UINT64_C(1) << b | UINT64_C(1) << c;
                if (gbsi_cud_is_primitive(polynomial)) {
                    return polynomial;
                }
            }
        }
    }
    assert(0); /* tests show that every degree of the range has a polynomial */
    return 0;
}

/* ---- equidistribution ---------------------------------------------------------------------- */

/* A set of linearly independent polynomials, indexed by their leading terms. */
typedef struct span {
    uint64_t by_lead[GBSI_CUD_MOST_BITS];
} span;

/* Adds r to the span. @return false if r depends linearly on the vectors already in the span. */
static bool extend(span *s, uint64_t r)
{
    for (int i = (int)GBSI_CUD_MOST_BITS - 1; i >= 0 && r != 0; --i) {
        if ((r >> i & 1u) == 0) {
            continue;
        }
        if (s->by_lead[i] == 0) {
            s->by_lead[i] = r;
            return true;
        }
        r ^= s->by_lead[i];
    }
    return false;
}

/* Computes k(v). Bit j of word i is a linear function of the start state, which the polynomial x^(g
 * i + j) represents. A set of bits takes all values equally often if and only if the polynomials of
 * these bits are independent.
 * @param start [m] x^(g i). */
static uint32_t equidistributed(uint32_t m, uint64_t polynomial, uint32_t v, const uint64_t *start)
{
    span s = {{0}};
    for (uint32_t i = 0; i < m / v; ++i) {
        uint64_t r = start[i];
        for (uint32_t j = 0; j < v; ++j) {
            if (!extend(&s, r)) {
                return i;
            }
            r = gbsi_cud_multiply(r, 2, polynomial);
        }
    }
    return m / v;
}

uint32_t gbsi_cud_defects(uint32_t bits, uint64_t polynomial, uint64_t offset)
{
    uint64_t start[GBSI_CUD_MOST_BITS];
    const uint64_t jump = gbsi_cud_power(offset, polynomial);
    uint32_t n = 0;
    start[0] = 1;
    for (uint32_t i = 1; i < bits; ++i) {
        start[i] = gbsi_cud_multiply(start[i - 1], jump, polynomial);
    }
    for (uint32_t v = 1; v <= bits; ++v) {
        n += bits / v - equidistributed(bits, polynomial, v, start);
    }
    return n;
}

/* ---- offsets --------------------------------------------------------------------------------- */

/* Counts the terms of the minimal polynomial of y = x^g. This polynomial is the only linear
 * dependence among 1, y, .., y^m. To find this dependence, the function records of which powers
 * each remainder is the sum. */
static uint32_t recurrence_terms(uint32_t m, uint64_t polynomial, uint64_t offset)
{
    uint64_t by_lead[GBSI_CUD_MOST_BITS] = {0};
    uint64_t made_of[GBSI_CUD_MOST_BITS] = {0};
    const uint64_t y = gbsi_cud_power(offset, polynomial);
    uint64_t power = 1;
    for (uint32_t k = 0; k <= m; ++k) {
        uint64_t r = power;
        uint64_t parts = UINT64_C(1) << k;
        for (int i = (int)m - 1; i >= 0 && r != 0; --i) {
            if ((r >> i & 1u) == 0) {
                continue;
            }
            if (by_lead[i] == 0) {
                by_lead[i] = r;
                made_of[i] = parts;
                parts = 0;
                break;
            }
            r ^= by_lead[i];
            parts ^= made_of[i];
        }
        if (parts != 0) {
            uint32_t n = 0;
            for (; parts != 0; parts &= parts - 1) {
                ++n;
            }
            return n;
        }
        power = gbsi_cud_multiply(power, y, polynomial);
    }
    assert(0); /* not reached: m + 1 vectors of m bits are dependent */
    return 0;
}

static bool suits_chen(uint32_t m, uint64_t polynomial, uint64_t g)
{
    return 2 * recurrence_terms(m, polynomial, g) >= m && gbsi_cud_defects(m, polynomial, g) == 0;
}

/* Returns the least offset >= g that satisfies the condition of the scheme; 0 if no offset does. */
static uint64_t next_offset(gbs_cud_scheme scheme, uint32_t bits, uint64_t polynomial, uint64_t g)
{
    const uint64_t period = gbsi_cud_period(bits);
    while (g < period && (gbsi_gcd(g, period) != 1 ||
                          (scheme == GBS_CUD_CHEN && !suits_chen(bits, polynomial, g)))) {
        ++g;
    }
    return g < period ? g : 0;
}

uint64_t gbsi_cud_offset(gbs_cud_scheme scheme, uint32_t bits, uint64_t polynomial)
{
    const uint64_t least = scheme == GBS_CUD_TRIBBLE ? (bits + 1) / 2 + 1 : (bits + 1) / 2;
    const uint64_t g = next_offset(scheme, bits, polynomial, least);
    assert(g != 0); /* tests check this for every degree */
    return g;
}

uint64_t gbsi_cud_offset_for(gbs_cud_scheme scheme, uint32_t bits, uint64_t polynomial,
                             uint64_t n_numbers)
{
    enum { MOST_TRIES = 256 };
    const uint64_t period = gbsi_cud_period(bits);
    uint64_t g = gbsi_cud_offset(scheme, bits, polynomial);
    uint64_t best = g;
    uint32_t fewest = UINT32_MAX;
    for (int i = 0; i < MOST_TRIES && g != 0 && fewest > 0; ++i) {
        /* both factors are below 2^32, hence the product does not overflow */
        const uint64_t step = g * (n_numbers % period) % period;
        const uint32_t defects = gbsi_cud_defects(bits, polynomial, step);
        best = defects < fewest ? g : best;
        fewest = defects < fewest ? defects : fewest;
        g = next_offset(scheme, bits, polynomial, g + 1);
    }
    return best;
}
