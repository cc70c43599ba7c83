/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers for tests, independent of the code of the library. */
#ifndef GBSI_BASE_TEST_RANDOM_H
#define GBSI_BASE_TEST_RANDOM_H

#include <stdint.h>

/* splitmix64 (Steele, Lea & Flood 2014); tests need only well mixed bits. */
static inline uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

#endif
