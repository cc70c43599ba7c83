/* SPDX-License-Identifier: Apache-2.0 */
#include "rng/philox.h"

#include <assert.h>
#include <inttypes.h>

#include <Random123/philox.h>

void gbsi_philox(uint64_t seed, uint32_t chain, uint64_t pass, uint32_t block, gbsi_purpose purpose,
                 uint32_t word[4])
{
    assert(pass >> 56 == 0);
    philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    philox4x32_ctr_t counter = {
        {block, chain, (uint32_t)pass, (uint32_t)purpose << 24 | (uint32_t)(pass >> 32)}};
    philox4x32_ctr_t result = philox4x32_R(10, counter, key);
    for (int i = 0; i < 4; i++) {
        word[i] = result.v[i];
    }
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
    return n_places <= GBSI_MOST_PLACES ? GBS_OK
                                        : gbsi_fail(err, GBS_ERR_LIMIT,
                                                    "a pass of %" PRIu64 " updates: beyond %" PRIu64
                                                    " the random numbers of a pass would repeat",
                                                    n_places, GBSI_MOST_PLACES);
}

double gbsi_uniform(uint32_t high, uint32_t low)
{
    uint64_t bits = (uint64_t)high << 32 | low;
    return (double)(bits >> 11) * 0x1p-53;
}

uint32_t gbsi_below(uint32_t high, uint32_t low, uint32_t n)
{
    assert(n >= 1);
    /* floor((high 2^32 + low) n / 2^64) without 128 bits: the carry out of low * n is all of it
     * that counts, and high * n + carry < 2^64. */
    uint64_t carry = (uint64_t)low * n >> 32;
    return (uint32_t)(((uint64_t)high * n + carry) >> 32);
}
