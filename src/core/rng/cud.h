/* SPDX-License-Identifier: Apache-2.0 */
/* Driving sequences for Markov chain quasi-Monte Carlo. Such a sequence is the whole period of a
 * small linear feedback shift register and replaces independent random numbers [M25].
 *
 * p is a primitive polynomial of degree m over GF(2), and P = 2^m - 1 is its period. The bits are
 *     b_t = constant coefficient of x^t mod p,     b_{t+m} = sum over j < m of p_j b_{t+j} mod 2
 * Number n is read from these bits at t = g n mod P, gcd(g, P) = 1, as a word of 32 bits
 * (u = word / 2^32). The numbers n = 0 .. P - 1 read every t once. A word consists of
 *     TRIBBLE  the state of the register, newest bit first: b_{t+m-1} .. b_t, then zeros
 *              (Tribble 2007, Markov chain Monte Carlo algorithms using completely uniformly
 *              distributed driving sequences, PhD thesis, Stanford; Yamashita & Suzuki 2019)
 *     CHEN     32 bits in their order, oldest first: b_t .. b_{t+31} (Chen, Matsumoto, Nishimura &
 *              Owen 2012, New inputs and methods for Markov chain quasi-Monte Carlo) */
#ifndef GBSI_RNG_CUD_H
#define GBSI_RNG_CUD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gibbsite/run.h"

#define GBSI_CUD_LEAST_BITS 3u
#define GBSI_CUD_MOST_BITS  32u

typedef struct gbsi_cud {
    int scheme;            /* a gbs_cud_scheme */
    uint32_t bits;         /* degree m of p */
    uint64_t polynomial;   /* coefficients of p: bit j is the coefficient of x^j */
    uint64_t offset;       /* distance g between successive numbers */
    uint64_t period;       /* period P */
    uint32_t step[4][256]; /* table of the linear step: entry [k][b] is the term for a byte k (0 is
                              the leading byte) that has value b; the next word is the exclusive or
                              of the four terms */
} gbsi_cud;

/* Returns 2^bits - 1. */
uint64_t gbsi_cud_period(uint32_t bits);

/* @param polynomial a primitive polynomial of degree `bits`. @param offset below the period and
 * coprime to it. */
void gbsi_cud_init(gbsi_cud *cud, gbs_cud_scheme scheme, uint32_t bits, uint64_t polynomial,
                   uint64_t offset);

/* Computes the word of number n, 0 <= n < P, without the words before it, in some thousand
 * operations. */
uint32_t gbsi_cud_word(const gbsi_cud *cud, uint64_t n);

/* Returns the word that follows this word. */
static inline uint32_t gbsi_cud_next(const gbsi_cud *cud, uint32_t word)
{
    return cud->step[0][word >> 24] ^ cud->step[1][word >> 16 & 255u] ^
           cud->step[2][word >> 8 & 255u] ^ cud->step[3][word & 255u];
}

/* ---- cud_search.c: search for polynomials and offsets ---------------------------------------- */

/* Returns whether a polynomial of degree 1 to 32 is primitive, that is, x has order 2^degree - 1
 * modulo it. */
bool gbsi_cud_is_primitive(uint64_t polynomial);

/* Finds the primitive polynomial of degree m, 3 <= m <= 32, with the fewest terms (three or
 * five). Among several such polynomials it returns the one whose list of exponents, the largest
 * first, comes first in lexicographic order. */
uint64_t gbsi_cud_polynomial(uint32_t bits);

/* Returns the least offset g that is coprime to the period and satisfies the scheme's conditions:
 *     TRIBBLE  g is at least m / 2 + 1; a word then shares few bits with the next word
 *     CHEN     g is at least m / 2; gbsi_cud_defects() is 0 (full equidistribution);
 *              the minimal polynomial of x^g, which is its recurrence, has at least m / 2 terms */
uint64_t gbsi_cud_offset(gbs_cud_scheme scheme, uint32_t bits, uint64_t polynomial);
/* Searches at most 256 of the offsets that satisfy the conditions of gbsi_cud_offset(). Returns
 * the first offset that gives one variable fully equidistributed words in successive sweeps, or
 * else the offset with the fewest defects. A sweep takes N = n_numbers numbers. The words that one
 * variable gets in successive sweeps are therefore g N bits apart. A poor distance lets two words
 * decide the leading bit of a third: with 5 bits and distances of 14 or 17, errors are larger than
 * those of random draws. */
uint64_t gbsi_cud_offset_for(gbs_cud_scheme scheme, uint32_t bits, uint64_t polynomial,
                             uint64_t n_numbers);

/* Returns the sum over v = 1 .. m of floor(m / v) - k(v). k(v) is the largest k for which the v
 * leading bits of k successive words (CHEN) take all 2^(k v) values equally often. The count is
 * over one period to which the zero state is added. */
uint32_t gbsi_cud_defects(uint32_t bits, uint64_t polynomial, uint64_t offset);

/* ---- polynomials modulo p ------------------------------------------------------------------ */

uint64_t gbsi_cud_multiply(uint64_t a, uint64_t b, uint64_t polynomial);
/* Returns x^exponent mod p. */
uint64_t gbsi_cud_power(uint64_t exponent, uint64_t polynomial);
uint64_t gbsi_gcd(uint64_t a, uint64_t b);

#endif
