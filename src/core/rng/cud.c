/* SPDX-License-Identifier: Apache-2.0 */
/* The word at position t is a linear function of x^t mod p, and x^(t + g) is x^t times a constant.
 * The next word is therefore a linear function of the current word. The function is stored as four
 * tables, one for each byte of the word; a step loads one entry of each table [M25]. */
#include "rng/cud.h"

#include <assert.h>
#include <string.h>

uint64_t gbsi_cud_period(uint32_t bits)
{
    return (UINT64_C(1) << bits) - 1;
}

static uint32_t degree_of(uint64_t polynomial)
{
    uint32_t degree = 0;
    while (polynomial >> (degree + 1) != 0) {
        ++degree;
    }
    return degree;
}

/* Returns r x mod p for a polynomial p of degree m. */
static uint64_t times_x(uint64_t r, uint64_t polynomial, uint32_t m)
{
    r <<= 1;
    return (r >> m & 1u) != 0 ? r ^ polynomial : r;
}

static uint64_t multiply(uint64_t a, uint64_t b, uint64_t polynomial, uint32_t m)
{
    uint64_t product = 0;
    for (; b != 0; b >>= 1) {
        product ^= (b & 1u) != 0 ? a : 0;
        a = times_x(a, polynomial, m);
    }
    return product;
}

uint64_t gbsi_cud_multiply(uint64_t a, uint64_t b, uint64_t polynomial)
{
    return multiply(a, b, polynomial, degree_of(polynomial));
}

uint64_t gbsi_cud_power(uint64_t exponent, uint64_t polynomial)
{
    const uint32_t m = degree_of(polynomial);
    uint64_t power = 1;
    for (uint64_t square = times_x(1, polynomial, m); exponent != 0; exponent >>= 1) {
        if ((exponent & 1u) != 0) {
            power = multiply(power, square, polynomial, m);
        }
        square = multiply(square, square, polynomial, m);
    }
    return power;
}

uint64_t gbsi_gcd(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Returns the word of the position t for which x^t mod p is r. */
static uint32_t read_word(const gbsi_cud *cud, uint64_t r)
{
    const uint32_t m = cud->bits;
    uint32_t word = 0;
    const uint32_t n = cud->scheme == GBS_CUD_TRIBBLE ? m : 32;
    for (uint32_t j = 0; j < n; ++j) {
        const uint32_t at = cud->scheme == GBS_CUD_TRIBBLE ? 32 - m + j : 31 - j;
        word |= (uint32_t)(r & 1u) << at;
        r = times_x(r, cud->polynomial, m);
    }
    return word;
}

uint32_t gbsi_cud_word(const gbsi_cud *cud, uint64_t n)
{
    const uint64_t t = n % cud->period * cud->offset % cud->period;
    return read_word(cud, gbsi_cud_power(t, cud->polynomial));
}

/* Computes the next word of each of the m words whose leading m bits have a single 1. The function
 * takes m powers of x whose words are independent, and the next word of each, and solves for the
 * result by Gaussian elimination.
 * @param next [m] out: the word that follows the word whose leading m bits are 2^(m-1-i). */
static void solve_units(const gbsi_cud *cud, uint64_t jump, uint32_t *next)
{
    uint32_t word[GBSI_CUD_MOST_BITS];
    const uint32_t m = cud->bits;
    uint64_t r = 1;
    for (uint32_t i = 0; i < m; ++i) {
        word[i] = read_word(cud, r) >> (32 - m);
        next[i] = read_word(cud, multiply(r, jump, cud->polynomial, m));
        r = times_x(r, cud->polynomial, m);
    }
    for (uint32_t i = 0; i < m; ++i) {
        const uint32_t bit = UINT32_C(1) << (m - 1 - i);
        uint32_t pivot = i;
        while ((word[pivot] & bit) == 0) {
            ++pivot;
            assert(pivot < m); /* the words of m successive states are independent */
        }
        const uint32_t w = word[pivot];
        const uint32_t x = next[pivot];
        word[pivot] = word[i];
        next[pivot] = next[i];
        for (uint32_t k = 0; k < m; ++k) {
            const bool takes = k != i && (word[k] & bit) != 0;
            word[k] ^= takes ? w : 0;
            next[k] ^= takes ? x : 0;
        }
        word[i] = w;
        next[i] = x;
    }
}

void gbsi_cud_init(gbsi_cud *cud, gbs_cud_scheme scheme, uint32_t bits, uint64_t polynomial,
                   uint64_t offset)
{
    uint32_t next[GBSI_CUD_MOST_BITS];
    assert(bits >= GBSI_CUD_LEAST_BITS && bits <= GBSI_CUD_MOST_BITS);
    memset(cud, 0, sizeof *cud);
    cud->scheme = (int)scheme;
    cud->bits = bits;
    cud->polynomial = polynomial;
    cud->offset = offset;
    cud->period = gbsi_cud_period(bits);
    assert(offset < cud->period && gbsi_gcd(offset, cud->period) == 1);
    solve_units(cud, gbsi_cud_power(offset, polynomial), next);
    /* the bits after the m-th depend on the leading m bits, so they have no entry of their own */
    for (uint32_t i = 0; i < bits; ++i) {
        const uint32_t bit = 7 - i % 8;
        for (uint32_t byte = 0; byte < 256; ++byte) {
            cud->step[i / 8][byte] ^= (byte >> bit & 1u) != 0 ? next[i] : 0;
        }
    }
}
