/* SPDX-License-Identifier: Apache-2.0 */
#include "rng/philox.h"
#include "base/plural.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* One round [M6], Salmon, Moraes, Dror & Shaw (2011), SC11, section 3.3: (c0, c1, c2, c3)
 * becomes (high(M1 c2) ^ c1 ^ k0, low(M1 c2), high(M0 c0) ^ c3 ^ k1, low(M0 c0)). */
static void round_of(uint32_t c[4], uint32_t k0, uint32_t k1)
{
    const uint64_t p0 = (uint64_t)GBSI_PHILOX_M0 * c[0];
    const uint64_t p1 = (uint64_t)GBSI_PHILOX_M1 * c[2];
    c[0] = (uint32_t)(p1 >> 32) ^ c[1] ^ k0;
    c[1] = (uint32_t)p1;
    c[2] = (uint32_t)(p0 >> 32) ^ c[3] ^ k1;
    c[3] = (uint32_t)p0;
}

void gbsi_philox(uint64_t seed, uint32_t chain, uint64_t pass, uint32_t block, gbsi_purpose purpose,
                 uint32_t word[4])
{
    assert(pass >> 56 == 0);
    uint32_t c[4] = {block, chain, (uint32_t)pass,
                     (uint32_t)purpose << 24 | (uint32_t)(pass >> 32)};
    for (uint32_t r = 0; r < GBSI_PHILOX_ROUNDS; r++) {
        round_of(c, (uint32_t)seed + r * GBSI_WEYL_0, (uint32_t)(seed >> 32) + r * GBSI_WEYL_1);
    }
    memcpy(word, c, sizeof c);
}

uint32_t gbsi_word(uint64_t seed, uint32_t chain, uint64_t pass, uint64_t place,
                   gbsi_purpose purpose)
{
    assert(place < GBSI_MOST_PLACES);
    uint32_t word[4];
    gbsi_philox(seed, chain, pass, (uint32_t)(place >> 2), purpose, word);
    return word[place & 3];
}

gbs_status gbsi_places_check(uint64_t n_places, gbs_error *err)
{
    return n_places <= GBSI_MOST_PLACES
               ? GBS_OK
               : gbsi_fail(err, GBS_ERR_LIMIT,
                           "a pass of %" PRIu64 " update%s: beyond %" PRIu64
                           " the random numbers of a pass would repeat",
                           n_places, gbsi_plural(n_places), GBSI_MOST_PLACES);
}

double gbsi_uniform(uint32_t high, uint32_t low)
{
    uint64_t bits = (uint64_t)high << 32 | low;
    return (double)(bits >> 11) * 0x1p-53;
}

uint32_t gbsi_below(uint32_t high, uint32_t low, uint32_t n)
{
    assert(n >= 1);
    /* Computes floor((high 2^32 + low) n / 2^64) without 128-bit integers. Only the upper half of
     * low * n matters, as a carry, and high * n + carry < 2^64. */
    uint64_t carry = (uint64_t)low * n >> 32;
    return (uint32_t)(((uint64_t)high * n + carry) >> 32);
}
