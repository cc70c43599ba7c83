/* SPDX-License-Identifier: Apache-2.0 */
/* Bit operations that the two forms of multi-spin coding share [M16]: random planes, the choice of
 * the sites that take their less likely state, numbers of neighbours that are up, and vertical
 * counters. */
#ifndef GBSI_LATTICE_BITS_LANES_H
#define GBSI_LATTICE_BITS_LANES_H

#include "lattice/spins.h"
#include "rng/philox_lanes.h"

#define INLINE static inline __attribute__((always_inline))

/* ---- random planes -------------------------------------------------------------------------- */

/* The parts of the first two rounds of Philox that do not depend on the word w, for the counter {8
 * w + q, chain, pass, last}. */
typedef struct plane_source {
    gbsi_philox_keys key;
    uint32_t k1_round1; /* last ^ k1 */
    uint32_t c1_round2; /* c1 ^ k0, which is combined with c0 after round 2 by exclusive or */
    uint32_t c2_round2;
    uint32_t c3_round3; /* c3 after round 2 */
} plane_source;

INLINE plane_source open_source(uint64_t seed, uint32_t chain, uint64_t pass)
{
    plane_source r = {.key = gbsi_philox_expand(seed)};
    const uint32_t last = (uint32_t)GBSI_PURPOSE_LATTICE << 24 | gbsi_high_word(pass);
    const uint64_t product = (uint64_t)GBSI_PHILOX_M1 * (uint32_t)pass;
    const uint32_t c0 = gbsi_high_word(product) ^ chain ^ r.key.k0[0];
    const uint64_t product0 = (uint64_t)GBSI_PHILOX_M0 * c0;
    r.k1_round1 = last ^ r.key.k1[0];
    r.c1_round2 = (uint32_t)product ^ r.key.k0[1];
    r.c2_round2 = gbsi_high_word(product0) ^ r.key.k1[1];
    r.c3_round3 = (uint32_t)product0;
    return r;
}

/* Makes random planes 4q to 4q + 3 of sixteen words. @param block 8 w + q. */
INLINE void make_planes(const plane_source *r, vu block, vu *plane)
{
    const vw none = vw_set1(0);
    const vw p0 = vw_mul(vw_from_vu(block), vw_set1(GBSI_PHILOX_M0));
    const vw c2 = vw_xor_high(p0, vw_set1(r->k1_round1), none);
    const vw p1 = vw_mul(c2, vw_set1(GBSI_PHILOX_M1));
    gbsi_philox_counters c = {vw_xor_high(p1, vw_set1(r->c1_round2), none), p1,
                              vw_xor_high(none, p0, vw_set1(r->c2_round2)), vw_set1(r->c3_round3)};
    for (int i = 2; i < GBSI_PHILOX_ROUNDS; ++i) {
        c = gbsi_philox_round(c, r->key.k0[i], r->key.k1[i]);
    }
    plane[0] = vu_from_vw(c.c0);
    plane[1] = vu_from_vw(c.c1);
    plane[2] = vu_from_vw(c.c2);
    plane[3] = vu_from_vw(c.c3);
}

/* Finds the sites whose random number u is below their threshold t, by comparing one bit plane
 * after another.
 * @param mask [n] sites of each threshold t.
 * @param bit [32][stride] for each plane and threshold: ~0 if the threshold's bit in this plane is
 * set, else 0.
 * @param open the sites for which u and t are compared. */
INLINE vu decide(const plane_source *r, uint32_t w, const vu *mask, const uint32_t n,
                 const uint32_t *bit, const uint32_t stride, vu open)
{
    const vu first = vu_shl(vu_add(vu_set1(w), vu_iota()), 3);
    vu less = vu_set1(0);
    for (uint32_t q = 0; q < GBSI_SPIN_PLANES / 4; ++q) {
        vu plane[4];
        make_planes(r, vu_add(first, vu_set1(q)), plane);
        for (uint32_t i = 0; i < 4; ++i) {
            vu t = vu_set1(0);
            for (uint32_t k = 0; k < n; ++k) {
                t = vu_or_and(t, mask[k], vu_set1(bit[k]));
            }
            less = vu_or_and(less, open, vu_andnot(t, plane[i]));
            open = vu_and_same(open, plane[i], t);
            bit += stride;
        }
        if (q >= 1 && !vu_any(open)) {
            break;
        }
    }
    return less;
}

/* ---- counts --------------------------------------------------------------------------------- */

/* Computes, for each site, the three bits of the number of planes y[0] to y[n - 1] in which the
 * site's bit is set; n is 2, 4 or 6. */
INLINE void count_bits(const vu *y, const uint32_t n, vu bits[3])
{
    if (n == 2) {
        bits[0] = vu_xor(y[0], y[1]);
        bits[1] = vu_and(y[0], y[1]);
        bits[2] = vu_set1(0);
        return;
    }
    const vu low = vu_xor3(y[0], y[1], y[2]);
    const vu high = vu_majority(y[0], y[1], y[2]);
    const vu low2 = n == 4 ? y[3] : vu_xor3(y[3], y[4], y[5]);
    const vu carry = vu_and(low, low2);
    bits[0] = vu_xor(low, low2);
    if (n == 4) {
        bits[1] = vu_xor(high, carry);
        bits[2] = vu_and(high, carry);
    } else {
        const vu high2 = vu_majority(y[3], y[4], y[5]);
        bits[1] = vu_xor3(high, high2, carry);
        bits[2] = vu_majority(high, high2, carry);
    }
}

/* For c = 0 to n, sets is[c] to the sites whose number in `bits` is c. */
INLINE void one_hot(const vu bits[3], const uint32_t n, vu *is)
{
    const vu one = vu_andnot(bits[0], bits[1]);
    const vu two = vu_andnot(bits[1], bits[0]);
    const vu three = vu_and(bits[0], bits[1]);
    const vu some = vu_or(vu_or(bits[0], bits[1]), bits[2]);
    is[0] = vu_andnot(vu_set1(UINT32_MAX), some);
    is[1] = n == 6 ? vu_andnot(one, bits[2]) : one;
    is[2] = n == 6 ? vu_andnot(two, bits[2]) : two;
    if (n >= 4) {
        is[3] = three; /* the number 7 does not occur */
        is[4] = n == 6 ? vu_andnot(vu_andnot(bits[2], bits[0]), bits[1]) : bits[2];
    }
    if (n == 6) {
        is[5] = vu_and(bits[2], bits[0]);
        is[6] = vu_and(bits[2], bits[1]);
    }
}

/* ---- vertical counters ---------------------------------------------------------------------- */

/* Adds a plane to the vertical counters. After n planes were added, (n div 2^k) mod 2 planes wait
 * for a partner at level k. If a plane waits at a level, a new plane is added to the waiting plane
 * and to the sum of the level, and the carry goes to the next level. A pass changes two levels on
 * average, for any states.
 * @param level plane 0 of level 0 for the sixteen words. @param plane_words distance between
 * planes. */
INLINE void count_visits(uint32_t *level, size_t plane_words, uint32_t n_counted, vu plane)
{
    for (uint32_t n = n_counted; n % 2 == 0; n /= 2, level += 2 * plane_words) {
        const vu sum = vu_load(level);
        const vu waiting = vu_load(level + plane_words);
        vu_store(level, vu_xor3(sum, waiting, plane));
        plane = vu_majority(sum, waiting, plane);
    }
    vu_store(level + plane_words, plane);
}

#endif
