/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers as a pure function of (seed, chain, pass, place, purpose).
 *
 * Philox4x32-10 (Salmon, Moraes, Dror & Shaw 2011, SC11). Key = the 64-bit seed, low word first;
 *     counter = { place div 4, chain, pass low 32 bits, purpose (8 bits) << 24 | pass high 24
 *   bits }. The update takes word (place mod 4). Numbers therefore do not depend on the way they
 *   are computed: for sixteen chains at four consecutive places, or for sixty-four consecutive
 *   places of one chain from sixteen counters. A use that needs more than one word per update
 *   has its own purpose; the enum says what chain, pass and place mean for it. */
#ifndef GBSI_RNG_PHILOX_H
#define GBSI_RNG_PHILOX_H

#include <stdint.h>

#include "base/status.h"

/* Constants of Philox [M6]: the number of rounds, the multipliers of a round, and the increments
 * of the round keys. */
enum { GBSI_PHILOX_ROUNDS = 10 };
#define GBSI_PHILOX_M0 0xD2511F53u
#define GBSI_PHILOX_M1 0xCD9E8D57u
#define GBSI_WEYL_0    0x9E3779B9u
#define GBSI_WEYL_1    0xBB67AE85u

/* Number of places of a pass that have their own words. For larger places, place div 4 would
 * exceed the 32 bits that the counter keeps. */
#define GBSI_MOST_PLACES (UINT64_C(1) << 34)

/* @return GBS_ERR_LIMIT if a pass of this many places would repeat words. */
gbs_status gbsi_places_check(uint64_t n_places, gbs_error *err);

/* Purposes of random words. The comment of each purpose lists, separated by commas, what the
 * purpose uses as chain, pass and place of the counter. */
typedef enum gbsi_purpose {
    GBSI_PURPOSE_UPDATE = 0, /* chain, pass, place in the compiled schedule of the pass */
    GBSI_PURPOSE_REFINE = 1, /* chain, pass, place of an update: the second word of an update whose
                                first word was 0 */
    /* chain, number of the restart, 4 * variable: each variable has all four words of a counter */
    GBSI_PURPOSE_START = 2,
    GBSI_PURPOSE_REPAIR = 3,   /* chain, attempt, step */
    GBSI_PURPOSE_SCAN = 4,     /* 0, pass, position */
    GBSI_PURPOSE_GENERATE = 5, /* stream, 0, index: models that are generated from a seed */
    GBSI_PURPOSE_TEST = 6,     /* anything: tests and benchmarks only */
    GBSI_PURPOSE_LATTICE = 7,  /* chain, pass, 32 * word of 32 sites + bit plane */
    GBSI_PURPOSE_HERD = 8, /* chain, hash of a conditional's key (56 bits), 4 * variable: initial
                              weights of herding */
    GBSI_PURPOSE_CUD_SHIFT = 9, /* chain, 0, variable: shift that is added to the variable's driving
                                   numbers */
    GBSI_PURPOSE_UNIFORM =
        10, /* chain, number of the annealing, 4 * variable: start state of an annealing */
    GBSI_PURPOSE_EXACT = 12, /* chain, draw, 4 * clique: exact samples of a junction tree */
    GBSI_PURPOSE_ORDER = 13, /* 0, block div 2^32, block: the search for elimination orders */
    GBSI_PURPOSE_SWAP =
        14, /* ladder of temperatures, iteration, 4 * level: swaps of a level with the next level */
    GBSI_PURPOSE_RECOVER =
        16, /* chain, iteration, 2 * eliminated variable: a variable has two words */
    GBSI_PURPOSE_BLOCK =
        17, /* chain, iteration, 2 * variable of a block: a variable has two words */
    GBSI_PURPOSE_REDRAW = 18, /* as GBSI_PURPOSE_BLOCK: draws of blocks of the coldest chain, with
                                 equal words in all lanes */
    GBSI_PURPOSE_PLAN = 20,   /* plan, 0, 4 * step: choice of the variables of a block */
    GBSI_PURPOSE_QUERY = 21,  /* 0, round, step: changes of a query's state */
    GBSI_PURPOSE_ROW = 22, /* row div 2^32, iteration, 4 * row: seed of the run for a row of data in
                              an iteration of EM */
    /* chain, step or half-step of learning, 2 * site or number of the unit */
    GBSI_PURPOSE_MACHINE = 26,
    GBSI_PURPOSE_VOCABULARY =
        27, /* kind of the clustered words, 0, 2 * centre: initial centres of k-means */
    /* several counters. probe, 0, row div 32: signs of rows in standard errors; 0, 1, 4 *
     * weight: a vector that tests whether the data determine all weights; probe, 2, 4 * token:
     * labels; probe, 3 + site, parameter div 32: signs */
    GBSI_PURPOSE_PROBE = 28,
    /* 0, 0, stretch of blocks: choice of the block of a picture that is watched */
    GBSI_PURPOSE_WATCHED = 29,
    /* pair, pass, 8 * update: two states; pair, pass, 8 * update + 4: a variable */
    GBSI_PURPOSE_COUPLE = 30,
    /* chain, pass, number of bonds * number of the cluster that grows + bond: high half of the word
     * that decides whether a bond joins, and its low half */
    GBSI_PURPOSE_BOND = 41,
    GBSI_PURPOSE_BOND_LOW = 42,
    /* chain, pass, 4 * smallest slot of the cluster, or 8 * number of the cluster that grows */
    GBSI_PURPOSE_CLUSTER = 43,
} gbsi_purpose;

/* Computes the four words of one counter. @param block place div 4. */
void gbsi_philox(uint64_t seed, uint32_t chain, uint64_t pass, uint32_t block, gbsi_purpose purpose,
                 uint32_t word[4]);

/* Returns the word of one place; the place must be below GBSI_MOST_PLACES. */
uint32_t gbsi_word(uint64_t seed, uint32_t chain, uint64_t pass, uint64_t place,
                   gbsi_purpose purpose);

/* Returns a number in [0, 1) with 53 random bits from two words. */
double gbsi_uniform(uint32_t high, uint32_t low);

/* Returns a number below n, n >= 1, from two words: floor(w * n / 2^64), where w has the 64 bits of
 * the words. No words are rejected; the bias is at most n * 2^-64. */
uint32_t gbsi_below(uint32_t high, uint32_t low, uint32_t n);

#endif
