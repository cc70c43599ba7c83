/* SPDX-License-Identifier: Apache-2.0 */
#include "decimal/decimal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/test_random.h"
#include "base/test_row.h"
#include "decimal/wide.h"

static uint64_t bits_of(double value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double from_bits(uint64_t bits)
{
    double value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Scans the text, followed by a blank and by as many bytes as a scan reads, at the end of an
 * allocation.
 * @return whether the text was scanned up to this blank. */
static bool scan(const char *text, size_t n, char behind, double *value, uint64_t *integer)
{
    const size_t room = 63;
    char *copy = malloc(n + 1 + room);
    assert_non_null(copy);
    memcpy(copy, text, n);
    copy[n] = behind;
    memset(copy + n + 1, '7', room);
    const char *end = copy + n + 1 + room;
    const char *at = integer == NULL ? gbsi_decimal_scan(copy, end, value)
                                     : gbsi_integer_scan(copy, end, integer);
    const bool found = at != NULL;
    assert_true(!found || at == copy + n);
    free(copy);
    return found;
}

static int n_scanned;

/* Compares with the C library of the test machine, which rounds correctly in the C locale. */
static void check_read(const char *text)
{
    double value = 0;
    gbsi_decimal_status status = gbsi_decimal_read(text, strlen(text), &value);
    assert_int_not_equal(status, GBSI_DECIMAL_BAD);
    double expected = strtod(text, NULL);
    if (bits_of(expected) != bits_of(value)) {
        fail_msg("%s: %a, expected %a", text, value, expected);
    }
    double scanned = 7;
    if (scan(text, strlen(text), " \n\t\r"[strlen(text) % 4], &scanned, NULL)) {
        n_scanned++;
        assert_true(bits_of(scanned) == bits_of(value));
    } else {
        assert_true(scanned == 7);
    }
    assert_false(scan(text, strlen(text), 'x', &scanned, NULL));
}

/* Tests products with the compiler's integers of 128 bits, or, without such integers, with the
 * carries of (2^64 - 1)^2. */
static void products(void **state)
{
    (void)state;
    uint64_t seed = 1;
    const gbsi_wide largest = gbsi_product_by_halves(UINT64_MAX, UINT64_MAX);
    assert_true(largest.high == UINT64_MAX - 1 && largest.low == 1);
    for (int i = 0; i < 100000; i++) {
        const uint64_t a = next_random(&seed) >> i % 64;
        const uint64_t b = next_random(&seed) >> i % 63;
        const gbsi_wide expected = gbsi_product(a, b);
        const gbsi_wide found = gbsi_product_by_halves(a, b);
        assert_true(found.high == expected.high && found.low == expected.low);
    }
}

static void read_random_doubles(void **state)
{
    (void)state;
    uint64_t seed = 1;
    char text[64];
    for (int i = 0; i < 100000; i++) {
        double value = from_bits(next_random(&seed));
        if (value != value || value - value != 0) {
            continue;
        }
        int precision = 1 + i % 24;
        (void)snprintf(text, sizeof text, "%.*e", precision, value);
        check_read(text);
    }
}

static void read_everyday_numbers(void **state)
{
    (void)state;
    uint64_t seed = 2;
    char text[64];
    const int before = n_scanned;
    for (int i = 0; i < 100000; i++) {
        double value = (double)(next_random(&seed) >> 11) * 0x1p-53 * (i % 3 == 0 ? 100.0 : 1.0);
        (void)snprintf(text, sizeof text, "%.*g", 1 + i % 19, value);
        check_read(text);
    }
    assert_true(n_scanned > before + 98000);
}

/* Reads a point halfway between two doubles with all its digits, and points slightly above and
 * below. */
static void read_halfway_points(void **state)
{
    (void)state;
    uint64_t seed = 3;
    static char text[1200];
    for (int i = 0; i < 3000; i++) {
        uint64_t bits = next_random(&seed) >> 1;
        bits = i % 4 == 0 ? bits >> 12 : bits; /* every fourth number is subnormal */
        if (bits >> 52 >= 0x7fe) {
            continue;
        }
        /* A long double represents the point halfway between most doubles; the others are
         * skipped. */
        long double middle = ((long double)from_bits(bits) + from_bits(bits + 1)) / 2;
        (void)snprintf(text, sizeof text - 2, "%.780Le", middle);
        check_read(text);
        char *exponent = strchr(text, 'e');
        assert_non_null(exponent);
        exponent[-1] = '1';
        check_read(text);
    }
}

static void read_special_cases(void **state)
{
    (void)state;
    static const char *const text[] = {
        "0",
        "-0",
        "+1",
        "1.",
        ".5",
        "1e-3",
        "1E3",
        "1e+3",
        "00012",
        "0.000",
        "0e99999999999999999999",
        "inf",
        "-INF",
        "+Infinity",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "1.7976931348623157e308",
        "4.9406564584124654e-324",
        "9007199254740993",
        "9007199254740992.9999999999999999",
        "9007199254740993.00000000000000000000000000000000000000000000000000001",
        "1e22",
        "1e23",
        "8.5e22",
        "0.1000000000000000055511151231257827021181583404541015625",
        "123456789012345678901234567890e-29",
        "6.631236846766476e-316",
        "3.518437208883201171875e13",
        "100000000000000016777215",
        "100000000000000016777216",
        "5e-324",
        "1e-323",
        "89255e-22",
        "104110013277974872254e-225",
    };
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        test_row("%s", text[i]);
        check_read(text[i]);
    }
}

static void read_ranges(void **state)
{
    (void)state;
    double value = 0;
    assert_int_equal(gbsi_decimal_read("1e309", 5, &value), GBSI_DECIMAL_OVERFLOW);
    assert_int_equal(gbsi_decimal_read("-1e99999999999999999999", 23, &value),
                     GBSI_DECIMAL_OVERFLOW);
    assert_true(value < -1e308);
    assert_int_equal(gbsi_decimal_read("1.7976931348623159e308", 22, &value),
                     GBSI_DECIMAL_OVERFLOW);
    assert_int_equal(gbsi_decimal_read("2e-324", 6, &value), GBSI_DECIMAL_UNDERFLOW);
    assert_true(value == 0);
    assert_int_equal(gbsi_decimal_read("1e-99999999999999999999", 23, &value),
                     GBSI_DECIMAL_UNDERFLOW);
    assert_int_equal(gbsi_decimal_read("3e-324", 6, &value), GBSI_DECIMAL_OK);
    assert_true(value == 5e-324);
    assert_int_equal(gbsi_decimal_read("nan", 3, &value), GBSI_DECIMAL_OK);
    assert_true(value != value);
}

/* A million zeros before and after the digits cancel with the exponent. */
static void read_long_numbers(void **state)
{
    (void)state;
    const size_t zeros = 1000000;
    char *text = malloc(zeros + 32);
    assert_non_null(text);
    double value = 0;
    memset(text, '0', zeros + 32);
    text[1] = '.';
    size_t length = zeros + 2;
    length += (size_t)snprintf(text + length, 30, "25e%zu", zeros);
    assert_int_equal(gbsi_decimal_read(text, length, &value), GBSI_DECIMAL_OK);
    assert_true(value == 0.25);
    memset(text, '0', zeros + 32);
    text[0] = '3';
    length = zeros + 1;
    length += (size_t)snprintf(text + length, 30, "e-%zu", zeros);
    assert_int_equal(gbsi_decimal_read(text, length, &value), GBSI_DECIMAL_OK);
    assert_true(value == 3);
    free(text);
}

static void refuse_what_is_no_number(void **state)
{
    (void)state;
    static const char *const text[] = {"",        "+",     "-",    ".",     "e5",  "1e",    "1e+",
                                       "1..2",    "1.2.3", "0x10", "1,5",   "1 ",  " 1",    "--1",
                                       "infinit", "in",    "nanx", "1e5.0", "1_0", "in\xe9"};
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        double value = 7;
        test_row("'%s'", text[i]);
        assert_int_equal(gbsi_decimal_read(text[i], strlen(text[i]), &value), GBSI_DECIMAL_BAD);
        if (strcmp(text[i], "1 ") != 0) {
            assert_false(scan(text[i], strlen(text[i]), ' ', &value, NULL));
        }
        assert_true(value == 7);
    }
}

static void integers(void **state)
{
    (void)state;
    uint64_t value = 7;
    bool large = false;
    assert_true(gbsi_integer_read("18446744073709551615", 20, UINT64_MAX, &value, &large));
    assert_true(value == UINT64_MAX);
    assert_false(gbsi_integer_read("18446744073709551616", 20, UINT64_MAX, &value, &large));
    assert_true(large);
    assert_true(gbsi_integer_read("+0012", 5, 12, &value, &large));
    assert_int_equal(value, 12);
    assert_false(gbsi_integer_read("13", 2, 12, &value, &large));
    assert_true(large);
    assert_false(gbsi_integer_read("5", 1, 3, &value, &large));
    assert_true(large);
    assert_true(gbsi_integer_read("0", 1, 0, &value, &large));
    assert_int_equal(value, 0);
    static const char *const bad[] = {
        "", "+", "-1", "3x", "3.0", "1e3", "99999999999999999999999x"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        test_row("'%s'", bad[i]);
        assert_false(gbsi_integer_read(bad[i], strlen(bad[i]), UINT64_MAX, &value, &large));
        assert_false(large);
    }
}

/* Eight digits are read at a time; the test puts any byte at any of sixteen places. */
static void scanned_integers(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 20; n++) {
        for (size_t at = 0; at < n; at++) {
            for (int byte = 0; byte < 256; byte++) {
                char text[32] = "12345678901234567890";
                uint64_t scanned = 7;
                uint64_t value = 0;
                bool large = false;
                text[at] = (char)byte;
                const bool digits = byte >= '0' && byte <= '9';
                if (byte == 0 || byte == ' ' || (byte >= '\t' && byte <= '\r')) {
                    continue;
                }
                assert_true(scan(text, n, ' ', NULL, &scanned) == (digits && n <= 19));
                if (digits && n <= 19) {
                    assert_true(gbsi_integer_read(text, n, UINT64_MAX, &value, &large));
                    assert_true(value == scanned);
                }
            }
        }
    }
}

static int significant(const char *text)
{
    int n = 0;
    int zeros = 0;
    for (; *text != 0 && *text != 'e'; text++) {
        if (*text == '0') {
            zeros += n != 0;
        } else if (*text >= '1' && *text <= '9') {
            n += zeros + 1;
            zeros = 0;
        }
    }
    return n;
}

/* Checks that the text reads back, that no shorter text does, and that it equals the output of
 * the C library with this number of digits. The last check is skipped for powers of two, whose
 * closest decimal may lie outside the rounding interval. */
static void check_write(double value)
{
    char text[32];
    char other[64];
    size_t length = gbsi_format_double(value, text);
    assert_int_equal(length, strlen(text));
    double back = 0;
    assert_int_equal(gbsi_decimal_read(text, length, &back), GBSI_DECIMAL_OK);
    if (bits_of(back) != bits_of(value)) {
        fail_msg("%s for %a", text, value);
    }
    int n = significant(text);
    if (n > 1) {
        (void)snprintf(other, sizeof other, "%.*e", n - 2, value);
        if (strtod(other, NULL) == value) {
            fail_msg("%s is not the shortest: %s", text, other);
        }
    }
    (void)snprintf(other, sizeof other, "%.*e", n - 1, value);
    if (strtod(other, NULL) == value) {
        double same = 0;
        (void)snprintf(other, sizeof other, "%.*e", n - 1, value);
        assert_int_equal(gbsi_decimal_read(other, strlen(other), &same), GBSI_DECIMAL_OK);
        char digits[32];
        size_t k = 0;
        for (const char *c = text; *c != 0 && *c != 'e'; c++) {
            if (*c >= '0' && *c <= '9' && (k > 0 || *c != '0')) {
                digits[k++] = *c;
            }
        }
        digits[k] = 0;
        size_t j = 0;
        for (const char *c = other; j < (size_t)n; c++) {
            if (*c >= '0' && *c <= '9' && digits[j++] != *c) {
                fail_msg("%s is not the closest: %s", text, other);
            }
        }
    }
}

static void write_random_doubles(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = next_random(&seed) & ~((uint64_t)1 << 63);
        if (bits >> 52 != 0x7ff) {
            check_write(from_bits(bits));
        }
        check_write(from_bits(bits >> 12)); /* subnormal numbers */
    }
    for (int i = 0; i < 100000; i++) {
        double value = (double)(1 + (next_random(&seed) >> 11)) * 0x1p-53;
        check_write(i % 2 == 0 ? value : value * 1e5);
        check_write((double)(next_random(&seed) % 1000000) / 1e4 + 1);
    }
}

static void write_powers(void **state)
{
    (void)state;
    for (uint64_t biased = 1; biased < 0x7ff; biased++) {
        check_write(from_bits(biased << 52));
        check_write(from_bits((biased << 52) + 1));
        check_write(from_bits((biased << 52) - 1));
    }
    for (int bit = 0; bit < 52; bit++) {
        check_write(from_bits((uint64_t)1 << bit));
    }
    char text[32];
    for (int e = -320; e < 309; e++) {
        (void)snprintf(text, sizeof text, "1e%d", e);
        check_write(strtod(text, NULL));
    }
}

static void write_text(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } expected[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {100, "100"},
        {1e16, "10000000000000000"},
        {1e17, "1e17"},
        {1e-5, "0.00001"},
        {1e-6, "1e-6"},
        {1.5e-7, "1.5e-7"},
        {5e-324, "5e-324"},
        {1.7976931348623157e308, "1.7976931348623157e308"},
        {0.1 + 0.2, "0.30000000000000004"},
        {-1.2345678901234567e-5, "-0.000012345678901234568"},
        {123456789012345680.0, "1.2345678901234568e17"},
        {5.684341886080802e-14, "5.684341886080802e-14"},
        {9007199254740992.0, "9007199254740992"},
        {2.5e10, "25000000000"},
    };
    char text[32];
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        test_row("%s", expected[i].text);
        assert_int_equal(gbsi_format_double(expected[i].value, text), strlen(expected[i].text));
        assert_string_equal(text, expected[i].text);
    }
    test_no_row();
    assert_int_equal(gbsi_format_double(from_bits(0x7ff0000000000000u), text), 3);
    assert_string_equal(text, "inf");
    assert_int_equal(gbsi_format_double(from_bits(0xfff0000000000000u), text), 4);
    assert_string_equal(text, "-inf");
    assert_int_equal(gbsi_format_double(from_bits(0xfff8000000000001u), text), 3);
    assert_string_equal(text, "nan");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),
        cmocka_unit_test(read_random_doubles),
        cmocka_unit_test(read_everyday_numbers),
        cmocka_unit_test(read_halfway_points),
        cmocka_unit_test(read_special_cases),
        cmocka_unit_test(read_ranges),
        cmocka_unit_test(read_long_numbers),
        cmocka_unit_test(refuse_what_is_no_number),
        cmocka_unit_test(integers),
        cmocka_unit_test(scanned_integers),
        cmocka_unit_test(write_random_doubles),
        cmocka_unit_test(write_powers),
        cmocka_unit_test(write_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
