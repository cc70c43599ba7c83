/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the published vectors of Philox4x32-10, the lanes against the scalar code, and the
 * numbers made from words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "rng/philox.h"
#include "rng/words.h"
#include "simd/dispatch.h"

/* counter = { block, chain, pass, purpose << 24 | pass high } of the known-answer file of
 * Random123 (kat_vectors). The other published counters have a purpose that is not used here,
 * and are composed by hand. */
typedef struct known_answer {
    uint32_t counter[4];
    uint32_t key[2];
    uint32_t word[4];
} known_answer;

static const known_answer KNOWN[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

static void published_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++) {
        const known_answer *k = &KNOWN[i];
        uint64_t seed = (uint64_t)k->key[1] << 32 | k->key[0];
        uint64_t pass = (uint64_t)(k->counter[3] & 0xFFFFFF) << 32 | k->counter[2];
        gbsi_purpose purpose = (gbsi_purpose)(k->counter[3] >> 24);
        uint32_t word[4];
        gbsi_philox(seed, k->counter[1], pass, k->counter[0], purpose, word);
        assert_memory_equal(word, k->word, sizeof word);
        for (uint32_t w = 0; w < 4; w++) {
            uint64_t place = 4 * (uint64_t)k->counter[0] + w;
            assert_int_equal(gbsi_word(seed, k->counter[1], pass, place, purpose), k->word[w]);
        }
    }
}

static void check_lanes16(const gbsi_words *words, uint64_t seed, uint32_t chain, uint64_t pass,
                          uint32_t first, uint32_t n_blocks, gbsi_purpose purpose)
{
    enum { GUARD = 16 };
    size_t n = (size_t)n_blocks * 64;
    uint32_t *word = malloc((n + GUARD) * sizeof *word);
    assert_non_null(word);
    memset(word, 0xA5, (n + GUARD) * sizeof *word);
    words->lanes16(seed, chain, pass, first, n_blocks, purpose, word);
    for (uint32_t b = 0; b < n_blocks; b++) {
        for (uint32_t lane = 0; lane < 16; lane++) {
            uint32_t expected[4];
            gbsi_philox(seed, chain + lane, pass, first + b, purpose, expected);
            for (uint32_t w = 0; w < 4; w++) {
                assert_int_equal(word[(4 * b + w) * 16 + lane], expected[w]);
            }
        }
    }
    for (size_t i = n; i < n + GUARD; i++) {
        assert_int_equal(word[i], 0xA5A5A5A5u);
    }
    free(word);
}

static void check_lanes1(const gbsi_words *words, uint64_t seed, uint32_t chain, uint64_t pass,
                         uint32_t first, uint32_t n_blocks)
{
    enum { GUARD = 16 };
    size_t n = (size_t)n_blocks * 4;
    uint32_t *word = malloc((n + GUARD) * sizeof *word);
    assert_non_null(word);
    memset(word, 0xA5, (n + GUARD) * sizeof *word);
    words->lanes1(seed, chain, pass, first, n_blocks, word);
    for (uint32_t b = 0; b < n_blocks; b++) {
        uint32_t expected[4];
        gbsi_philox(seed, chain, pass, first + b, GBSI_PURPOSE_UPDATE, expected);
        assert_memory_equal(word + 4 * b, expected, sizeof expected);
    }
    for (size_t i = n; i < n + GUARD; i++) {
        assert_int_equal(word[i], 0xA5A5A5A5u);
    }
    free(word);
}

static void lanes_equal_scalar(void **state)
{
    (void)state;
    static const uint64_t pass[] = {
        0, 1, 0xFFFFFFFFu, 0x100000000u, 0x123456789ABCu, 0xFFFFFFFFFFFFFFu};
    static const uint64_t seed[] = {0, 1, 0x8000000080000000u, UINT64_MAX, 0x0123456789ABCDEFu};
    static const uint32_t chain[] = {0, 16, 7, 0xFFFFFFF8u};
    static const uint32_t first[] = {0, 5, 0xFFFFFFFAu};
    gbsi_simd best = gbsi_simd_force(GBSI_SIMD_AVX512);
    for (int level = 0; level <= (int)best; level++) {
        if (!gbsi_simd_has((gbsi_simd)level)) {
            continue;
        }
        const gbsi_words *words = gbsi_words_of((gbsi_simd)level);
        for (uint32_t i = 0; i < 360; i++) {
            uint64_t p = pass[i % 6];
            uint64_t s = seed[i / 6 % 5];
            uint32_t c = chain[i / 30 % 4];
            uint32_t f = first[i / 120];
            check_lanes16(words, s, c, p, f, i % 8, (gbsi_purpose)(i % 21));
            check_lanes1(words, s, c, p, f, 16 * (i % 4));
        }
    }
}

/* Sixteen chains at once and a single chain read the same numbers. */
static void chains_do_not_depend_on_packing(void **state)
{
    (void)state;
    static uint32_t many[64 * 16];
    static uint32_t one[64];
    gbsi_simd best = gbsi_simd_force(GBSI_SIMD_AVX512);
    const gbsi_words *words = gbsi_words_of(best);
    words->lanes16(42, 32, 9, 3, 16, GBSI_PURPOSE_UPDATE, many);
    for (uint32_t lane = 0; lane < 16; lane++) {
        words->lanes1(42, 32 + lane, 9, 3, 16, one);
        for (uint32_t place = 0; place < 64; place++) {
            assert_int_equal(many[16 * place + lane], one[place]);
            assert_int_equal(one[place],
                             gbsi_word(42, 32 + lane, 9, 12 + place, GBSI_PURPOSE_UPDATE));
        }
    }
}

static void uniforms(void **state)
{
    (void)state;
    assert_true(gbsi_uniform(0, 0) == 0.0);
    assert_true(gbsi_uniform(0, 1u << 11) == 0x1p-53);
    assert_true(gbsi_uniform(0x80000000u, 0) == 0.5);
    assert_true(gbsi_uniform(UINT32_MAX, UINT32_MAX) == 1.0 - 0x1p-53);
}

/* Returns floor(word n / 2^64), computed with 128 bits. */
static uint32_t below_exactly(uint32_t high, uint32_t low, uint32_t n)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    return (uint32_t)((wide)((uint64_t)high << 32 | low) * n >> 64);
#else
    return gbsi_below(high, low, n);
#endif
}

static void below_is_the_floor(void **state)
{
    (void)state;
    static const uint32_t edge[] = {0, 1, 2, 3, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFEu, UINT32_MAX};
    for (uint32_t i = 0; i < 8 * 8 * 8; i++) {
        uint32_t n = edge[i % 8] == 0 ? 6 : edge[i % 8];
        uint32_t high = edge[i / 8 % 8];
        uint32_t low = edge[i / 64];
        assert_int_equal(gbsi_below(high, low, n), below_exactly(high, low, n));
        assert_true(gbsi_below(high, low, n) < n);
    }
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t word[4];
        gbsi_philox(3, 0, 0, i, GBSI_PURPOSE_TEST, word);
        uint32_t n = word[2] >> word[3] % 32 | 1;
        assert_int_equal(gbsi_below(word[0], word[1], n), below_exactly(word[0], word[1], n));
    }
}

/* n does not divide 2^32: with a single word, the probabilities of some results would exceed
 * those of others by 2^-32 n. In this test the first word of each result is at the exact
 * boundary k 2^64 / n. */
static void below_has_no_bias(void **state)
{
    (void)state;
    static const uint32_t n_of[] = {3, 5, 6, 7, 1000003, 0xFFFFFFFBu};
    for (size_t i = 0; i < sizeof n_of / sizeof n_of[0]; i++) {
        uint32_t n = n_of[i];
        for (uint32_t step = 1; step < 50; step++) {
            uint32_t k = (uint32_t)((uint64_t)n * step / 50);
            if (k == 0) {
                continue;
            }
            /* the least 64-bit word with word n >= k 2^64, by long division */
            uint64_t q_high = ((uint64_t)k << 32) / n;
            uint64_t rest = ((uint64_t)k << 32) % n;
            uint64_t q_low = (rest << 32) / n;
            uint64_t word = (q_high << 32 | q_low) + ((rest << 32) % n != 0);
            assert_int_equal(gbsi_below((uint32_t)(word >> 32), (uint32_t)word, n), k);
            word--;
            assert_int_equal(gbsi_below((uint32_t)(word >> 32), (uint32_t)word, n), k - 1);
        }
    }
}

/* Fixed seed: chi-square statistic of 6 cells and 60000 draws, which exceeds 20.5 with
 * probability 0.001. */
static void below_is_uniform(void **state)
{
    (void)state;
    enum { N_CELLS = 6, N_DRAWS = 60000 };
    uint32_t count[N_CELLS] = {0};
    for (uint32_t i = 0; i < N_DRAWS; i++) {
        uint32_t word[4];
        gbsi_philox(11, 0, 0, i, GBSI_PURPOSE_TEST, word);
        count[gbsi_below(word[0], word[1], N_CELLS)]++;
    }
    double chi = 0.0;
    for (int k = 0; k < N_CELLS; k++) {
        double excess = (double)count[k] - (double)N_DRAWS / N_CELLS;
        chi += excess * excess / ((double)N_DRAWS / N_CELLS);
    }
    assert_true(chi < 20.5);
    assert_true(chi > 0.0);
}

/* The last place that has its own words; the words of the next place would be those of place 0. */
static void places_are_bounded(void **state)
{
    (void)state;
    gbs_error err = {GBS_OK, ""};
    uint32_t word[4];
    gbsi_philox(7, 3, 5, UINT32_MAX, GBSI_PURPOSE_UPDATE, word);
    assert_int_equal(gbsi_word(7, 3, 5, GBSI_MOST_PLACES - 1, GBSI_PURPOSE_UPDATE), word[3]);
    assert_int_equal((uint32_t)(GBSI_MOST_PLACES / 4), 0);
    assert_int_equal(gbsi_places_check(0, &err), GBS_OK);
    assert_int_equal(gbsi_places_check(GBSI_MOST_PLACES, &err), GBS_OK);
    assert_int_equal(gbsi_places_check(GBSI_MOST_PLACES + 1, &err), GBS_ERR_LIMIT);
    assert_string_equal(err.message, "a pass of 17179869185 updates: beyond 17179869184 the random "
                                     "numbers of a pass would repeat");
    assert_int_equal(gbsi_places_check(UINT64_MAX, NULL), GBS_ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_vectors),  cmocka_unit_test(places_are_bounded),
        cmocka_unit_test(lanes_equal_scalar), cmocka_unit_test(chains_do_not_depend_on_packing),
        cmocka_unit_test(uniforms),           cmocka_unit_test(below_is_the_floor),
        cmocka_unit_test(below_has_no_bias),  cmocka_unit_test(below_is_uniform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
