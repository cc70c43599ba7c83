/* SPDX-License-Identifier: Apache-2.0 */
/* Tests whole periods, the published sequences, and the searches against their definitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rng/cud.h"

/* Largest degree whose whole period is walked. */
enum { MOST_WALKED = 16 };

static gbsi_cud cud_of(gbs_cud_scheme scheme, uint32_t bits)
{
    gbsi_cud cud;
    const uint64_t polynomial = gbsi_cud_polynomial(bits);
    gbsi_cud_init(&cud, scheme, bits, polynomial, gbsi_cud_offset(scheme, bits, polynomial));
    return cud;
}

/* The states printed by Yamashita & Suzuki (2019), section 7. Their 1 + x^3 + x^5 in delays is
 * x^5 + x^2 + 1 here, shifted right. */
static void printed_states(void **state)
{
    (void)state;
    static const uint32_t printed[] = {1, 16, 8, 4, 18, 9, 20, 26, 13, 6, 19};
    gbsi_cud cud;
    assert_int_equal(gbsi_cud_polynomial(5), 1u << 5 | 1u << 2 | 1u);
    gbsi_cud_init(&cud, GBS_CUD_TRIBBLE, 5, gbsi_cud_polynomial(5), 1);
    for (uint32_t n = 0; n < sizeof printed / sizeof printed[0]; ++n) {
        assert_int_equal(gbsi_cud_word(&cud, n), printed[n] << 27);
    }
    /* the published delays are 11 and 18 */
    assert_int_equal(gbsi_cud_polynomial(18), 1u << 18 | 1u << 7 | 1u);
    assert_int_equal(gbsi_cud_offset(GBS_CUD_TRIBBLE, 18, gbsi_cud_polynomial(18)), 10);
}

/* Computes the bits from the recurrence, and reads them at every g-th place. */
static void follows_the_recurrence(void **state)
{
    (void)state;
    for (uint32_t m = GBSI_CUD_LEAST_BITS; m <= 10; ++m) {
        for (int scheme = GBS_CUD_TRIBBLE; scheme <= GBS_CUD_CHEN; ++scheme) {
            const gbsi_cud cud = cud_of((gbs_cud_scheme)scheme, m);
            const uint64_t n_bits = cud.period + 64;
            uint8_t *bit = calloc(n_bits, 1);
            bit[0] = 1;
            for (uint64_t t = m; t < n_bits; ++t) {
                for (uint32_t j = 0; j < m; ++j) {
                    bit[t] ^= (uint8_t)(bit[t - m + j] & (cud.polynomial >> j & 1u));
                }
            }
            uint32_t word = gbsi_cud_word(&cud, 0);
            for (uint64_t n = 0; n < cud.period; ++n) {
                const uint64_t t = n * cud.offset % cud.period;
                uint32_t expected = 0;
                for (uint32_t j = 0; j < (scheme == GBS_CUD_TRIBBLE ? m : 32); ++j) {
                    const uint64_t at = scheme == GBS_CUD_TRIBBLE ? t + m - 1 - j : t + j;
                    expected |= (uint32_t)bit[at] << (31 - j);
                }
                assert_int_equal(word, expected);
                assert_int_equal(gbsi_cud_word(&cud, n), expected);
                word = gbsi_cud_next(&cud, word);
            }
            free(bit);
        }
    }
}

/* A period has every state except 0 once; then it begins again. */
static void whole_periods(void **state)
{
    (void)state;
    for (uint32_t m = GBSI_CUD_LEAST_BITS; m <= MOST_WALKED; ++m) {
        for (int scheme = GBS_CUD_TRIBBLE; scheme <= GBS_CUD_CHEN; ++scheme) {
            const gbsi_cud cud = cud_of((gbs_cud_scheme)scheme, m);
            uint8_t *seen = calloc((size_t)cud.period + 1, 1);
            const uint32_t first = gbsi_cud_word(&cud, 0);
            uint32_t word = first;
            for (uint64_t n = 0; n < cud.period; ++n) {
                const uint32_t lead = word >> (32 - m);
                assert_true(lead != 0 && !seen[lead]);
                seen[lead] = 1;
                word = gbsi_cud_next(&cud, word);
            }
            assert_int_equal(word, first);
            free(seen);
        }
    }
}

/* A polynomial is primitive if and only if the walk through its states has the full period. */
static void primitive_by_walking(void **state)
{
    (void)state;
    uint32_t n_primitive = 0;
    for (uint64_t p = 5; p < 1u << 9; p += 2) {
        uint32_t m = 0;
        while (p >> (m + 1) != 0) {
            ++m;
        }
        uint64_t order = 1;
        for (uint64_t r = gbsi_cud_power(1, p); r != 1; ++order) {
            r = gbsi_cud_multiply(r, gbsi_cud_power(1, p), p);
            assert_true(order < 1000);
        }
        assert_int_equal(gbsi_cud_is_primitive(p), order == gbsi_cud_period(m));
        n_primitive += gbsi_cud_is_primitive(p);
    }
    /* the number of primitive polynomials of degree m is phi(2^m - 1) / m: 1, 2, 2, 6, 6, 18, 16
     * for m = 2 .. 8 */
    assert_int_equal(n_primitive, 51);
    assert_false(gbsi_cud_is_primitive(6));
}

/* For every degree, checks that the polynomial has the fewest terms, and that the offset is the
 * least one that satisfies its conditions. */
static void searches(void **state)
{
    (void)state;
    /* degrees without a primitive trinomial (Zierler & Brillhart 1968) */
    static const uint32_t five[] = {8, 12, 13, 14, 16, 19, 24, 26, 27, 30, 32};
    for (uint32_t m = GBSI_CUD_LEAST_BITS; m <= GBSI_CUD_MOST_BITS; ++m) {
        const uint64_t p = gbsi_cud_polynomial(m);
        uint32_t terms = 0;
        uint32_t expected = 3;
        for (uint64_t rest = p; rest != 0; rest >>= 1) {
            terms += (uint32_t)(rest & 1u);
        }
        for (size_t i = 0; i < sizeof five / sizeof five[0]; ++i) {
            expected = five[i] == m ? 5 : expected;
        }
        assert_true(p >> m == 1 && gbsi_cud_is_primitive(p));
        assert_int_equal(terms, expected);
        const uint64_t tribble = gbsi_cud_offset(GBS_CUD_TRIBBLE, m, p);
        const uint64_t chen = gbsi_cud_offset(GBS_CUD_CHEN, m, p);
        assert_true(2 * tribble >= m + 2 && gbsi_gcd(tribble, gbsi_cud_period(m)) == 1);
        assert_int_equal(gbsi_gcd(chen, gbsi_cud_period(m)), 1);
        assert_int_equal(gbsi_cud_defects(m, p, chen), 0);
    }
}

/* If a step of N numbers has defects with the least offset, another offset is chosen. */
static void offsets_for_numbers(void **state)
{
    (void)state;
    enum { M = 5 };
    const uint64_t p = gbsi_cud_polynomial(M);
    const uint64_t period = gbsi_cud_period(M);
    uint32_t n_moved = 0;
    for (uint64_t n = 1; n <= 2 * period; ++n) {
        const uint64_t g = gbsi_cud_offset_for(GBS_CUD_TRIBBLE, M, p, n);
        const uint64_t least = gbsi_cud_offset(GBS_CUD_TRIBBLE, M, p);
        const uint64_t step = g * n % period;
        assert_true(g >= least);
        assert_true(n % period == 0 ? g == least : step != 14 && step != 17);
        n_moved += g != least;
    }
    assert_int_equal(n_moved, 2 * 6); /* steps of 1, 13, 14, 17, 18 and 30 have defects */
    for (uint32_t m = GBSI_CUD_LEAST_BITS; m <= GBSI_CUD_MOST_BITS; m += 7) {
        const uint64_t q = gbsi_cud_polynomial(m);
        const uint64_t g = gbsi_cud_offset_for(GBS_CUD_CHEN, m, q, 1000);
        assert_true(gbsi_gcd(g, gbsi_cud_period(m)) == 1 && gbsi_cud_defects(m, q, g) == 0);
    }
}

/* Counts defects directly: pairs of successive words over the period and the zero state. */
static void defects_by_counting(void **state)
{
    (void)state;
    enum { M = 6 };
    const uint64_t p = gbsi_cud_polynomial(M);
    uint32_t n_whole = 0;
    for (uint64_t g = 1; g < gbsi_cud_period(M); ++g) {
        uint32_t defects = 0;
        if (gbsi_gcd(g, gbsi_cud_period(M)) != 1) {
            continue;
        }
        gbsi_cud cud;
        gbsi_cud_init(&cud, GBS_CUD_CHEN, M, p, g);
        for (uint32_t v = 1; v <= M; ++v) {
            uint32_t k = 0;
            bool even = true;
            while (even && k < M / v) {
                ++k;
                uint32_t count[1u << M] = {1}; /* the zero state */
                for (uint64_t n = 0; n < cud.period; ++n) {
                    uint32_t index = 0;
                    for (uint32_t i = 0; i < k; ++i) {
                        index = index << v | gbsi_cud_word(&cud, n + i) >> (32 - v);
                    }
                    ++count[index];
                }
                for (uint32_t i = 0; i < 1u << (k * v); ++i) {
                    even = even && count[i] == 1u << (M - k * v);
                }
            }
            defects += M / v - (even ? k : k - 1);
        }
        assert_int_equal(defects, gbsi_cud_defects(M, p, g));
        n_whole += defects == 0;
    }
    assert_true(n_whole > 2);
}

/* ---- published parameters, if the files exist
 * ------------------------------------------------- */

static FILE *open_data(const char *name)
{
    static const char *const places[] = {NULL, "../../shared/data", "../shared/data"};
    FILE *file = NULL;
    for (size_t i = 0; file == NULL && i < sizeof places / sizeof places[0]; ++i) {
        char path[1024];
        const char *place = i == 0 ? getenv("GIBBSITE_TEST_DATA") : places[i];
        if (place != NULL) {
            (void)snprintf(path, sizeof path, "%s/cud/%s", place, name);
            file = fopen(path, "r");
        }
    }
    if (file == NULL) {
        print_message("skipped: no %s (GIBBSITE_TEST_DATA, ../shared/data)\n", name);
    }
    return file;
}

static uint64_t coefficients(const char *text)
{
    uint64_t p = 0;
    for (uint32_t j = 0; text[j] == '0' || text[j] == '1'; ++j) {
        p |= (uint64_t)(text[j] == '1') << j;
    }
    return p;
}

/* Checks the rows "m, step, p, q = x^step mod p" of a table. @return the number of rows. */
static uint32_t check_table(FILE *file, bool distributed)
{
    char line[256];
    uint32_t n = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        unsigned m = 0;
        unsigned long long g = 0;
        char p_text[64];
        char q_text[64];
        if (sscanf(line, "%u %llu %63[01] %63[01]", &m, &g, p_text, q_text) != 4) { // NOLINT
            continue;
        }
        const uint64_t p = coefficients(p_text);
        assert_true(p >> m == 1 && gbsi_cud_is_primitive(p));
        assert_int_equal(gbsi_gcd(g, gbsi_cud_period(m)), 1);
        assert_int_equal(gbsi_cud_power(g, p), coefficients(q_text));
        if (distributed) { /* the offsets are fully equidistributed, as in this library */
            assert_int_equal(gbsi_cud_defects(m, p, g), 0);
        }
        ++n;
    }
    return n;
}

static void published_tables(void **state)
{
    (void)state;
    FILE *chen = open_data("chen2012_lfsr.tsv");
    if (chen == NULL) {
        skip();
    }
    assert_int_equal(check_table(chen, true), 23);
    (void)fclose(chen);
    FILE *harase = open_data("harase2021_lfsr.tsv");
    assert_non_null(harase);
    assert_int_equal(check_table(harase, false), 25);
    (void)fclose(harase);
}

/* The sample output of the generator published with Harase (2021), J. Comput. Appl. Math. 384:
 * 32 bits every 146 bits. It starts one bit after the sequence of this library. */
static void published_output(void **state)
{
    (void)state;
    const uint64_t p = coefficients("1111100100111");
    gbsi_cud cud;
    double u = 0.0;
    uint32_t n = 0;
    FILE *file = open_data("harase_m12_output.txt");
    if (file == NULL) {
        skip();
    }
    gbsi_cud_init(&cud, GBS_CUD_CHEN, 12, p, 146);
    uint64_t start = 0; /* number that is read at t = 1 */
    while (start * 146 % cud.period != 1) {
        ++start;
    }
    while (fscanf(file, "%lf", &u) == 1) { // NOLINT(cert-err34-c)
        assert_true(fabs(u - gbsi_cud_word(&cud, start + n) * 0x1p-32) < 6e-9);
        ++n;
    }
    (void)fclose(file);
    assert_int_equal(n, 4095);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printed_states),
        cmocka_unit_test(follows_the_recurrence),
        cmocka_unit_test(whole_periods),
        cmocka_unit_test(primitive_by_walking),
        cmocka_unit_test(searches),
        cmocka_unit_test(offsets_for_numbers),
        cmocka_unit_test(defects_by_counting),
        cmocka_unit_test(published_tables),
        cmocka_unit_test(published_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
