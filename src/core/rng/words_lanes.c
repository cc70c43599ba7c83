/* SPDX-License-Identifier: Apache-2.0 */
/* Philox4x32-10 for updates and other uses, on sixteen counters at once: sixteen chains or
 * sixteen blocks. */
#include <assert.h>

#include "rng/philox_lanes.h"
#include "rng/words.h"

static uint32_t last_word(uint64_t pass, gbsi_purpose purpose)
{
    assert(pass >> 56 == 0);
    return (uint32_t)purpose << 24 | (uint32_t)(pass >> 32);
}

/* In the first rounds of Philox on { block, chain + lane, pass, last }, few values depend on both
 * block and lane. Let u be a value that is equal in all lanes, and v a value that is equal in all
 * blocks:
 *     round 1: c0 = v, c1 = u v, c2 = u, c3 = u        round 2: c0 = u, c1 = u, c2 = mixed, c3 = v
 * Therefore each value of round 1 is either computed once for all blocks or as a scalar, and one
 * product of round 2 is a scalar. */
void GBSI_V(gbsi_words_lanes16)(uint64_t seed, uint32_t chain, uint64_t pass, uint32_t first_block,
                                uint32_t n_blocks, gbsi_purpose purpose, uint32_t *word)
{
    const gbsi_philox_keys key = gbsi_philox_expand(seed);
    const uint64_t pass_product = (uint64_t)GBSI_PHILOX_M1 * (uint32_t)pass;
    const uint32_t last = last_word(pass, purpose);
    const vu lane_chain = vu_add(vu_set1(chain), vu_iota());
    /* c0 after round 1 and its product have the same value in all blocks. */
    const vu c0_lanes = vu_xor(lane_chain, vu_set1(gbsi_high_word(pass_product) ^ key.k0[0]));
    const vw p0_lanes = vw_mul(vw_from_vu(c0_lanes), vw_set1(GBSI_PHILOX_M0));

    for (uint32_t b = 0; b < n_blocks; b++) {
        uint64_t block_product = (uint64_t)GBSI_PHILOX_M0 * (uint32_t)(first_block + b);
        uint32_t c2 = gbsi_high_word(block_product) ^ last ^ key.k1[0];
        uint64_t c2_product = (uint64_t)GBSI_PHILOX_M1 * c2;
        /* After round 2, c0 = high(M1 c2) ^ low(M1 pass) ^ k0 and c1 have the same value in all
         * lanes. */
        uint32_t c0 = gbsi_high_word(c2_product) ^ (uint32_t)pass_product ^ key.k0[1];
        uint64_t c0_product = (uint64_t)GBSI_PHILOX_M0 * c0;
        vw c2_mixed = vw_xor_high(p0_lanes, vw_set1((uint32_t)block_product), vw_set1(key.k1[1]));
        /* Computes round 3, in which c1 and the product of c0 are still scalars. */
        vw p1 = vw_mul(c2_mixed, vw_set1(GBSI_PHILOX_M1));
        gbsi_philox_counters c = {
            vw_xor_high(p1, vw_set1((uint32_t)c2_product), vw_set1(key.k0[2])), p1,
            vw_xor_high(vw_set1(0), p0_lanes, vw_set1(gbsi_high_word(c0_product) ^ key.k1[2])),
            vw_set1((uint32_t)c0_product)};
        for (int r = 3; r < GBSI_PHILOX_ROUNDS; r++) {
            c = gbsi_philox_round(c, key.k0[r], key.k1[r]);
        }
        vu_store(word, vu_from_vw(c.c0));
        vu_store(word + 16, vu_from_vw(c.c1));
        vu_store(word + 32, vu_from_vw(c.c2));
        vu_store(word + 48, vu_from_vw(c.c3));
        word += 64;
    }
}

/* Computes sixteen blocks of one chain side by side; the words of successive lanes belong to
 * successive places. */
void GBSI_V(gbsi_words_lanes1)(uint64_t seed, uint32_t chain, uint64_t pass, uint32_t first_block,
                               uint32_t n_blocks, uint32_t *word)
{
    assert(n_blocks % 16 == 0);
    const gbsi_philox_keys key = gbsi_philox_expand(seed);
    const vw c1 = vw_set1(chain);
    const vw c2 = vw_set1((uint32_t)pass);
    const vw c3 = vw_set1(last_word(pass, GBSI_PURPOSE_UPDATE));
    for (uint32_t b = 0; b < n_blocks; b += 16) {
        vu block = vu_add(vu_set1(first_block + b), vu_iota());
        gbsi_philox_counters c = {vw_from_vu(block), c1, c2, c3};
        for (int r = 0; r < GBSI_PHILOX_ROUNDS; r++) {
            c = gbsi_philox_round(c, key.k0[r], key.k1[r]);
        }
        vu_store_transposed4(word, vu_from_vw(c.c0), vu_from_vw(c.c1), vu_from_vw(c.c2),
                             vu_from_vw(c.c3));
        word += 64;
    }
}
