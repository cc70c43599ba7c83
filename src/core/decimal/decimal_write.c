/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of a double to the shortest decimal that reads back to this double.
 *
 * Doubles between 1e-11 and 1e17 that are not powers of two are written with 128-bit integers. The
 * code computes 17 digits exactly. It then rounds to 15, 16 or 17 digits, and takes the smallest of
 * these numbers for which the digits read back as the same double. Different decimals of up to 15
 * digits are read as different doubles. If a decimal of 15 digits reads back, it is therefore the
 * shortest decimal once the zeros at its end are dropped. The distances to the doubles above and
 * below are equal, unless the double is a power of two. If any decimal of n digits reads back, the
 * closest decimal of n digits therefore does too.
 *
 * All other doubles need large integers: Steele & White (1990), "How to print floating-point
 * numbers accurately", PLDI, in the form of Burger & Dybvig (1996), PLDI. */
#include <assert.h>
#include <string.h>

#include "decimal/decimal.h"
#include "decimal/wide.h"
#include "gibbsite/io.h"

/* value = mantissa * 2^exponent2 */
typedef struct binary {
    uint64_t mantissa;
    int exponent2;
    bool power_of_2; /* whether the distance to the double below is half the distance to the double
                        above */
} binary;

static uint64_t bits_of(double value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static binary split(double value)
{
    uint64_t bits = bits_of(value);
    uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
    int biased = (int)(bits >> 52 & 0x7ff);
    binary b = {.mantissa = fraction, .exponent2 = -1074};
    if (biased != 0) {
        b.mantissa |= (uint64_t)1 << 52;
        b.exponent2 = biased - 1075;
        b.power_of_2 = fraction == 0 && biased > 1;
    }
    return b;
}

/* Stores the number integer * 10^scale as a decimal, without the zeros at the end of its digits. */
static void set_digits(gbsi_digits *digits, uint64_t integer, int scale)
{
    char backward[20] = {0};
    int n = 0;
    for (; integer != 0; integer /= 10) {
        backward[n++] = (char)('0' + integer % 10);
    }
    digits->exponent = n + scale;
    int zeros = 0;
    while (backward[zeros] == '0') {
        zeros++;
    }
    digits->n = n - zeros;
    assert(digits->n >= 1 && digits->n <= 17);
    for (int i = 0; i < digits->n; i++) {
        digits->digit[i] = backward[n - 1 - i];
    }
}

/* Stores a decimal if it reads back as `value`. @return whether they do. */
static bool take_if_back(gbsi_digits *digits, uint64_t integer, int scale, double value)
{
    bool back = gbsi_decimal_value(integer, scale) == value;
    if (back) {
        set_digits(digits, integer, scale);
    }
    return back;
}

/* Returns floor(value * 10^scale). @param left out: whether a remainder is left. Exact, because
 * 5^27 < 2^63. */
static uint64_t scaled(const binary *b, int scale, bool *left)
{
    uint64_t five = 1;
    for (int i = 0; i < scale; i++) {
        five *= 5;
    }
    const gbsi_wide product = gbsi_product(b->mantissa, five);
    const int shift = b->exponent2 + scale; /* the remaining part of the product fits into 64 bits
                                             */
    assert(shift > -128 && shift < 64);
    if (shift >= 0) {
        *left = false;
        return product.low << shift;
    }
    if (shift <= -64) {
        const uint64_t whole = shift == -64 ? product.high : product.high >> (-shift - 64);
        *left = product.low != 0 || (shift < -64 && whole << (-shift - 64) != product.high);
        return whole;
    }
    *left = product.low << (64 + shift) != 0;
    return product.high << (64 + shift) | product.low >> -shift;
}

/* Returns the 17 digits of a value rounded to a multiple of `unit`. */
static uint64_t rounded(uint64_t seventeen, bool left, uint64_t unit)
{
    uint64_t quotient = seventeen / unit;
    uint64_t rest = seventeen % unit;
    bool up = rest * 2 > unit || (rest * 2 == unit && (left || (quotient & 1) != 0));
    return quotient + up;
}

static bool shortest_in_range(double value, gbsi_digits *digits)
{
    static const double power[] = {1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2,
                                   1e-1,  1e0,   1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,
                                   1e9,   1e10,  1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17};
    const uint64_t least = 10000000000000000u; /* 10^16 */
    binary b = split(value);
    if (b.power_of_2 || value < power[0] || value >= power[28]) {
        return false;
    }
    int magnitude = 0;
    while (value >= power[magnitude + 1]) {
        magnitude++;
    }
    /* value * 10^scale is in [10^16, 10^17), except for rounded powers of ten */
    int scale = 27 - magnitude;
    bool left = false;
    uint64_t seventeen = scaled(&b, scale, &left);
    if (seventeen < least || seventeen >= 10 * least) {
        return false;
    }
    if (take_if_back(digits, rounded(seventeen, left, 100), 2 - scale, value) ||
        take_if_back(digits, rounded(seventeen, left, 10), 1 - scale, value)) {
        return true;
    }
    /* Rounds to 17 digits: compares the remainder with one half. */
    bool half_left = false;
    uint64_t doubled = 0;
    b.exponent2++;
    doubled = scaled(&b, scale, &half_left);
    bool up = (doubled & 1) != 0 && (half_left || (seventeen & 1) != 0);
    set_digits(digits, seventeen + up, -scale);
    return true;
}

/* State of the generation of the shortest digits: value = r / s; the distances to the neighbouring
 * doubles are 2 m_plus / s above and 2 m_minus / s below. */
typedef struct generator {
    gbsi_big r;
    gbsi_big s;
    gbsi_big m_plus;
    gbsi_big m_minus;
    bool even; /* whether the two ends of the rounding interval also read back as the value */
} generator;

static void start_generator(generator *g, const binary *b)
{
    uint32_t extra = b->power_of_2 ? 2 : 1;
    gbsi_big_set(&g->r, b->mantissa);
    gbsi_big_set(&g->s, 1);
    gbsi_big_set(&g->m_plus, b->power_of_2 ? 2 : 1);
    gbsi_big_set(&g->m_minus, 1);
    gbsi_big_shift_left(&g->r, extra);
    gbsi_big_shift_left(&g->s, extra);
    if (b->exponent2 >= 0) {
        gbsi_big_shift_left(&g->r, (uint32_t)b->exponent2);
        gbsi_big_shift_left(&g->m_plus, (uint32_t)b->exponent2);
        gbsi_big_shift_left(&g->m_minus, (uint32_t)b->exponent2);
    } else {
        gbsi_big_shift_left(&g->s, (uint32_t)-b->exponent2);
    }
    g->even = (b->mantissa & 1) == 0;
}

static void times_10(generator *g)
{
    gbsi_big_multiply_add(&g->r, 10, 0);
    gbsi_big_multiply_add(&g->m_plus, 10, 0);
    gbsi_big_multiply_add(&g->m_minus, 10, 0);
}

/* Returns whether r + m_plus reaches s, which means that the upper end of the rounding interval is
 * at or above 1. */
static bool reaches(const generator *g)
{
    gbsi_big sum = g->r;
    gbsi_big_add(&sum, &g->m_plus);
    return gbsi_big_compare(&sum, &g->s) >= (g->even ? 0 : 1);
}

/* Scales r and s until the value is in [1/10, 1) * 10^k. @return k. */
static int scale_generator(generator *g, const binary *b)
{
    int top = b->exponent2 - 1; /* floor(log2 value) */
    for (uint64_t m = b->mantissa; m != 0; m >>= 1) {
        top++;
    }
    /* 78913 / 2^18 is less than log10 2 by at most 10^-6; k is therefore right or too small by one.
     * The added powers of two make the quotient of a negative number round down. */
    int k = top * 78913;
    k = (k + (512 << 18)) / (1 << 18) - 512;
    if (k >= 0) {
        gbsi_big_multiply_pow10(&g->s, (uint32_t)k);
    } else {
        gbsi_big_multiply_pow10(&g->r, (uint32_t)-k);
        gbsi_big_multiply_pow10(&g->m_plus, (uint32_t)-k);
        gbsi_big_multiply_pow10(&g->m_minus, (uint32_t)-k);
    }
    while (reaches(g)) {
        gbsi_big_multiply_add(&g->s, 10, 0);
        k++;
    }
    return k;
}

static void shortest_exact(double value, gbsi_digits *digits)
{
    generator g;
    binary b = split(value);
    start_generator(&g, &b);
    digits->exponent = scale_generator(&g, &b);
    digits->n = 0;
    for (;;) {
        times_10(&g);
        int digit = 0;
        while (gbsi_big_compare(&g.r, &g.s) >= 0) {
            gbsi_big_subtract(&g.r, &g.s);
            digit++;
        }
        bool low = gbsi_big_compare(&g.r, &g.m_minus) < (g.even ? 1 : 0);
        bool high = reaches(&g);
        if (low || high) {
            gbsi_big_shift_left(&g.r, 1);
            /* Decimals with either digit are inside the rounding interval: takes the nearer digit
             * or, if both are equally near, the even digit. */
            int half = gbsi_big_compare(&g.r, &g.s);
            digit += high && (!low || half > 0 || (half == 0 && (digit & 1) != 0));
        }
        assert(digit <= 9 && digits->n < 17);
        digits->digit[digits->n++] = (char)('0' + digit);
        if (low || high) {
            return;
        }
    }
}

void gbsi_digits_shortest(double value, gbsi_digits *digits)
{
    if (!shortest_in_range(value, digits)) {
        shortest_exact(value, digits);
    }
}

uint64_t gbsi_digits_integer(const gbsi_digits *digits, int *exponent10)
{
    uint64_t integer = 0;
    for (int i = 0; i < digits->n; i++) {
        integer = integer * 10 + (uint64_t)(digits->digit[i] - '0');
    }
    *exponent10 = digits->exponent - digits->n;
    return integer;
}

static size_t write_exponent(int exponent, char *text)
{
    size_t length = 0;
    text[length++] = 'e';
    if (exponent < 0) {
        text[length++] = '-';
        exponent = -exponent;
    }
    for (int unit = exponent >= 100 ? 100 : exponent >= 10 ? 10 : 1; unit != 0; unit /= 10) {
        text[length++] = (char)('0' + exponent / unit % 10);
    }
    return length;
}

/* Writes a number in the form d.ddde-7. */
static size_t write_scientific(const gbsi_digits *digits, char *text)
{
    size_t n = (size_t)digits->n;
    size_t length = 0;
    text[length++] = digits->digit[0];
    if (n > 1) {
        text[length++] = '.';
        memcpy(text + length, digits->digit + 1, n - 1);
        length += n - 1;
    }
    return length + write_exponent(digits->exponent - 1, text + length);
}

static size_t write_positional(const gbsi_digits *digits, char *text)
{
    size_t length = 0;
    int point = digits->exponent;
    if (point <= 0) {
        /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): bytes, not a string */
        memcpy(text, "0.", 2);
        memset(text + 2, '0', (size_t)-point);
        length = (size_t)(2 - point);
    }
    for (int i = 0; i < digits->n || i < point; i++) {
        if (i == point && point > 0) {
            text[length++] = '.';
        }
        text[length++] = i < digits->n ? digits->digit[i] : '0';
    }
    return length;
}

size_t gbsi_digits_write(const gbsi_digits *digits, bool negative, char *text)
{
    size_t length = 0;
    if (negative) {
        text[length++] = '-';
    }
    /* Numbers from 1e-5 up to 17 digits are written without an exponent. The longest has
     * "-0.0000" and 17 digits. */
    bool positional = digits->exponent > -5 && digits->exponent <= 17;
    length += positional ? write_positional(digits, text + length)
                         : write_scientific(digits, text + length);
    text[length] = 0;
    return length;
}

size_t gbsi_format_double(double value, char *text)
{
    if (text == NULL) {
        return 0;
    }
    uint64_t bits = bits_of(value);
    bool negative = bits >> 63 != 0;
    uint64_t magnitude = bits & ~((uint64_t)1 << 63);
    const uint64_t infinite = 0x7ff0000000000000u;
    if (magnitude > infinite) {
        memcpy(text, "nan", 4);
        return 3;
    }
    if (magnitude == infinite || magnitude == 0) {
        const char *word = magnitude == 0 ? "-0" : "-inf";
        word += !negative;
        memcpy(text, word, strlen(word) + 1);
        return strlen(word);
    }
    gbsi_digits digits;
    gbsi_digits_shortest(negative ? -value : value, &digits);
    return gbsi_digits_write(&digits, negative, text);
}
