/* SPDX-License-Identifier: Apache-2.0 */
/* Converts decimals to double in up to three steps (Clinger (1990), "How to read floating point
 * numbers accurately", PLDI). Each step is tried only if the step before cannot decide. The steps
 * are: one exact operation on doubles; a product of 64-bit mantissas with an error bound (his
 * algorithm Bellerophon); exact division of large integers. */
#include "decimal/decimal.h"

#include <assert.h>
#include <string.h>

#include "decimal/wide.h"

/* The number in the text: digits * 10^exponent10, with 0 <= digits < 10^19. If `inexact` is true,
 * further nonzero digits follow in the text. */
typedef struct scanned {
    uint64_t leading;   /* the first 19 significant digits, as an integer */
    int64_t exponent10; /* exponent of the last digit in `leading` */
    bool inexact;       /* whether a nonzero digit follows the digits in `leading` */
    bool negative;
    const char *first; /* first significant digit; digits and at most one point follow up to `end`;
                          NULL if `leading` has all digits */
    const char *end;
} scanned;

/* 5^(28 j) for j = -13 .. 11, as mantissas rounded to 64 bits with the top bit set. */
static const uint64_t power_of_5[25] = {
    0xe1afa13afbd14d6eu, /* 5^-364 */
    0xe3e27a444d8d98b8u, /* 5^-336 */
    0xe61acf033d1a45dfu, /* 5^-308 */
    0xe858ad248f5c22cau, /* 5^-280 */
    0xea9c227723ee8bcbu, /* 5^-252 */
    0xece53cec4a314ebeu, /* 5^-224 */
    0xef340a98172aace5u, /* 5^-196 */
    0xf18899b1bc3f8ca2u, /* 5^-168 */
    0xf3e2f893dec3f126u, /* 5^-140 */
    0xf64335bcf065d37du, /* 5^-112 */
    0xf8a95fcf88747d94u, /* 5^-84 */
    0xfb158592be068d2fu, /* 5^-56 */
    0xfd87b5f28300ca0eu, /* 5^-28 */
    0x8000000000000000u, /* 5^0 */
    0x813f3978f8940984u, /* 5^28 */
    0x82818f1281ed44a0u, /* 5^56 */
    0x83c7088e1aab65dbu, /* 5^84 */
    0x850fadc09923329eu, /* 5^112 */
    0x865b86925b9bc5c2u, /* 5^140 */
    0x87aa9aff79042287u, /* 5^168 */
    0x88fcf317f22241e2u, /* 5^196 */
    0x8a5296ffe33cc930u, /* 5^224 */
    0x8bab8eefb6409c1au, /* 5^252 */
    0x8d07e33455637eb3u, /* 5^280 */
    0x8e679c2f5e44ff8fu, /* 5^308 */
};
#define POWER_STEP  28
#define POWER_FIRST (-13)

/* 5^0 .. 5^27; all are less than 2^63. */
static const uint64_t small_power_of_5[POWER_STEP] = {
    1u,
    5u,
    25u,
    125u,
    625u,
    3125u,
    15625u,
    78125u,
    390625u,
    1953125u,
    9765625u,
    48828125u,
    244140625u,
    1220703125u,
    6103515625u,
    30517578125u,
    152587890625u,
    762939453125u,
    3814697265625u,
    19073486328125u,
    95367431640625u,
    476837158203125u,
    2384185791015625u,
    11920928955078125u,
    59604644775390625u,
    298023223876953125u,
    1490116119384765625u,
    7450580596923828125u,
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool equals_word(const char *text, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++) {
        char c = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] + 32) : text[i];
        if (c == 0 || c != word[i]) {
            return false;
        }
    }
    return word[n] == 0;
}

static double from_bits(uint64_t bits)
{
    double value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double infinity(void)
{
    return from_bits(0x7ff0000000000000u);
}

/* Reads the digits and the point at the start of a text. @return the end of the digits; NULL if
 * there is no digit. */
static const char *scan_digits(const char *text, const char *end, scanned *s)
{
    const char *at = text;
    bool point = false;
    bool any = false;
    int n_taken = 0;
    for (; at < end; at++) {
        if (is_digit(*at)) {
            unsigned digit = (unsigned)(*at - '0');
            any = true;
            if (n_taken < 19) {
                if (s->first == NULL && digit != 0) {
                    s->first = at;
                }
                s->leading = s->leading * 10 + digit;
                n_taken += s->leading != 0;
                s->exponent10 -= point;
            } else {
                s->inexact = s->inexact || digit != 0;
                s->exponent10 += !point;
            }
        } else if (*at == '.' && !point) {
            point = true;
        } else {
            break;
        }
    }
    s->end = at;
    return any ? at : NULL;
}

/* Reads an exponent. An exponent so large that no text in memory has enough digits to compensate
 * for it is replaced by one large exponent. */
static const char *scan_exponent(const char *at, const char *end, int64_t *exponent)
{
    const int64_t enough = INT64_MAX / 64;
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) {
        at++;
    }
    if (at == end || !is_digit(*at)) {
        return NULL;
    }
    for (; at < end && is_digit(*at); at++) {
        if (*exponent < enough) {
            *exponent = *exponent * 10 + (*at - '0');
        }
    }
    if (negative) {
        *exponent = -*exponent;
    }
    return at;
}

static bool scan_number(const char *at, const char *end, scanned *s)
{
    at = scan_digits(at, end, s);
    if (at == NULL) {
        return false;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        int64_t exponent = 0;
        at = scan_exponent(at + 1, end, &exponent);
        if (at == NULL) {
            return false;
        }
        s->exponent10 += exponent;
    }
    return at == end;
}

/* Returns mantissa * 2^exponent2 rounded to the nearest double, ties to even; mantissa > 0. If
 * `sticky`, the exact value is slightly larger: its mantissa exceeds `mantissa` by a fraction in
 * (0, 1). The result is infinity or zero if the value is out of range. */
static double round_to_double(uint64_t mantissa, int exponent2, bool sticky)
{
    while (mantissa < (uint64_t)1 << 63) {
        mantissa <<= 1;
        exponent2--;
    }
    int top = exponent2 + 63; /* the value is in [2^top, 2^(top+1)) */
    if (top > 1023) {
        return infinity();
    }
    /* number of low bits that rounding removes */
    int drop = top >= -1022 ? 11 : 11 + (-1022 - top);
    if (drop > 64) {
        return 0;
    }
    uint64_t kept = drop == 64 ? 0 : mantissa >> drop;
    uint64_t rest = drop == 64 ? mantissa : mantissa & (((uint64_t)1 << drop) - 1);
    uint64_t half = (uint64_t)1 << (drop - 1);
    if (rest > half || (rest == half && (sticky || (kept & 1) != 0))) {
        kept++;
    }
    /* Because the parts are added, a carry out of the mantissa moves into the exponent; it may make
     * a subnormal number normal, or a finite number infinite. */
    uint64_t biased = top >= -1022 ? (uint64_t)(top + 1022) : 0;
    return from_bits((biased << 52) + kept);
}

/* Rounds a number exactly, with all its digits: divides two large integers to 62 bits or more, and
 * checks whether a remainder is left. */
static double read_exact(const scanned *s)
{
    /* The point halfway between two doubles has at most 767 significant digits. After the 800th
     * digit it therefore only matters whether any digit is nonzero. */
    const int most = 800;
    gbsi_big numerator;
    gbsi_big denominator;
    gbsi_big_set(&numerator, s->first == NULL ? s->leading : 0);
    int n = 0;
    bool more = false;
    int64_t exponent10 = s->exponent10;
    for (const char *at = s->first; at != s->end; at++) {
        if (!is_digit(*at)) {
            continue;
        }
        if (n < most) {
            gbsi_big_multiply_add(&numerator, 10, (uint32_t)(*at - '0'));
            n++;
            exponent10 -= n > 19;
        } else {
            more = more || *at != '0';
        }
    }
    if (more) {
        gbsi_big_multiply_add(&numerator, 10, 1);
        exponent10--;
    }
    gbsi_big_set(&denominator, 1);
    gbsi_big_multiply_pow10(exponent10 < 0 ? &denominator : &numerator,
                            (uint32_t)(exponent10 < 0 ? -exponent10 : exponent10));
    /* The quotient times 2^shift is in (2^62, 2^64). */
    int shift = 63 - (int)gbsi_big_bits(&numerator) + (int)gbsi_big_bits(&denominator);
    gbsi_big_shift_left(shift < 0 ? &denominator : &numerator,
                        (uint32_t)(shift < 0 ? -shift : shift));
    uint64_t quotient = 0;
    gbsi_big_shift_left(&denominator, 63);
    for (int bit = 63; bit >= 0; bit--) {
        if (gbsi_big_compare(&numerator, &denominator) >= 0) {
            gbsi_big_subtract(&numerator, &denominator);
            quotient |= (uint64_t)1 << bit;
        }
        gbsi_big_shift_left(&numerator, 1);
    }
    return round_to_double(quotient, -shift, numerator.n != 0);
}

static int leading_zeros(uint64_t x)
{
    return __builtin_clzll(x);
}

/* Returns the upper half of the product of two mantissas whose top bits are set, shifted so that
 * its top bit is set again. */
static uint64_t multiply(uint64_t a, uint64_t b, int *exponent2)
{
    const gbsi_wide product = gbsi_product(a, b);
    *exponent2 += 64;
    if (product.high >> 63 == 0) {
        *exponent2 -= 1;
        return product.high << 1 | product.low >> 63;
    }
    return product.high;
}

/* Computes leading * 10^e to 64 bits with an error bound; returns false if the bound leaves the
 * rounding open. The relative error has three sources. In units of 2^-63 they are 1 for each of the
 * two truncated products, 1/2 for the table, and 2^4 if digits were left out (leading >= 10^18 >
 * 2^59). For a mantissa below 2^64, such a unit is at most two units of the last place. */
static bool read_close(const scanned *s, double *value)
{
    int e = (int)s->exponent10;
    int step = (e - POWER_FIRST * POWER_STEP) / POWER_STEP + POWER_FIRST;
    int rest = e - step * POWER_STEP;
    assert(rest >= 0 && rest < POWER_STEP);
    const uint64_t five = small_power_of_5[rest];
    int exponent2 = e - leading_zeros(s->leading) - leading_zeros(five);
    uint64_t mantissa =
        multiply(s->leading << leading_zeros(s->leading), five << leading_zeros(five), &exponent2);
    /* floor(log2 10^n) = 217706 n >> 16 for |n| <= 400; adding 2^11 keeps it positive. */
    int n = step * POWER_STEP;
    exponent2 += (217706 * n + (2048 << 16)) / 65536 - 2048 - n - 63;
    mantissa = multiply(mantissa, power_of_5[step - POWER_FIRST], &exponent2);
    int top = exponent2 + 63;
    uint64_t error = s->inexact ? 48 : 8;
    uint64_t low = mantissa & 0x7ff;
    if (top <= -1022 || top >= 1023 || (low > 0x400 - error && low < 0x400 + error)) {
        return false;
    }
    *value = round_to_double(mantissa, exponent2, true);
    return true;
}

static double power_of_10(int exponent)
{
    static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    return exact[exponent];
}

static gbsi_decimal_status round_scanned(const scanned *s, double *value)
{
    int64_t e = s->exponent10;
    if (s->leading == 0) {
        *value = 0;
        return GBSI_DECIMAL_OK;
    }
    if (!s->inexact && s->leading <= (uint64_t)1 << 53 && e >= -22 && e <= 22) {
        double exact = (double)s->leading;
        *value = e < 0 ? exact / power_of_10((int)-e) : exact * power_of_10((int)e);
        return GBSI_DECIMAL_OK;
    }
    if (e > 309) {
        *value = infinity();
        return GBSI_DECIMAL_OVERFLOW;
    }
    if (e < -343) { /* the number is below 10^19 * 10^-344, which is less than half the smallest
                       subnormal */
        *value = 0;
        return GBSI_DECIMAL_UNDERFLOW;
    }
    if (!read_close(s, value)) {
        *value = read_exact(s);
    }
    if (*value == 0) {
        return GBSI_DECIMAL_UNDERFLOW;
    }
    return *value == infinity() ? GBSI_DECIMAL_OVERFLOW : GBSI_DECIMAL_OK;
}

double gbsi_decimal_value(uint64_t digits, int exponent10)
{
    const scanned s = {.leading = digits, .exponent10 = exponent10};
    double value = 0;
    (void)round_scanned(&s, &value);
    return value;
}

gbsi_decimal_status gbsi_decimal_read(const char *text, size_t n, double *value)
{
    const char *end = text + n;
    scanned s = {0};
    if (text < end && (*text == '-' || *text == '+')) {
        s.negative = *text == '-';
        text++;
    }
    gbsi_decimal_status status = GBSI_DECIMAL_OK;
    size_t left = (size_t)(end - text);
    if (scan_number(text, end, &s)) {
        status = round_scanned(&s, value);
    } else if (equals_word(text, left, "inf") || equals_word(text, left, "infinity")) {
        *value = infinity();
    } else if (equals_word(text, left, "nan")) {
        *value = from_bits(0x7ff8000000000000u);
    } else {
        return GBSI_DECIMAL_BAD;
    }
    if (s.negative) {
        *value = -*value;
    }
    return status;
}

/* ---- the common forms -------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Returns eight bytes as an integer, the first byte in the lowest place. */
static uint64_t load_eight(const char *at)
{
    uint64_t bytes = 0;
    /* compilers combine these loads into a single load if possible */
    for (unsigned i = 0; i < 8; i++) {
        bytes |= (uint64_t)(unsigned char)at[i] << (8 * i);
    }
    return bytes;
}

static bool eight_digits(uint64_t bytes)
{
    const uint64_t high = 0xf0f0f0f0f0f0f0f0u;
    /* the codes of '0' to '9' are 0x30 to 0x39; the upper half of each byte must be 3, also
     * after adding 6 */
    return (bytes & high) == 0x3030303030303030u &&
           ((bytes + 0x0606060606060606u) & high) == 0x3030303030303030u;
}

/* Adds up neighbouring digits in pairs, then fours, then all eight; the earlier digit has the
 * higher weight. */
static uint64_t value_of_eight(uint64_t bytes)
{
    bytes -= 0x3030303030303030u;
    bytes = (bytes * 10 + (bytes >> 8)) & 0x00ff00ff00ff00ffu;
    bytes = (bytes * 100 + (bytes >> 16)) & 0x0000ffff0000ffffu;
    return (bytes * 10000 + (bytes >> 32)) & 0xffffffffu;
}

/* Reads at most `most` digits at *at into sum, and moves *at behind them. @return false if more
 * digits follow. */
static bool scan_few(const char **at, size_t most, uint64_t *sum)
{
    const char *begin = *at;
    const char *p = begin;
    while ((size_t)(p - begin) + 8 <= most) {
        const uint64_t bytes = load_eight(p);
        if (!eight_digits(bytes)) {
            break;
        }
        *sum = *sum * 100000000u + value_of_eight(bytes);
        p += 8;
    }
    for (; is_digit(*p); p++) {
        if ((size_t)(p - begin) == most) {
            return false;
        }
        *sum = *sum * 10 + (uint64_t)(*p - '0');
    }
    *at = p;
    return true;
}

/* Reads [e [+-] up to three digits] and then a blank. */
static bool scan_tail(const char **at, int *exponent10)
{
    const char *p = *at;
    if (*p == 'e' || *p == 'E') {
        uint64_t exponent = 0;
        p++;
        const bool negative = *p == '-';
        p += *p == '-' || *p == '+';
        const char *digits = p;
        if (!scan_few(&p, 3, &exponent) || p == digits) {
            return false;
        }
        *exponent10 += negative ? -(int)exponent : (int)exponent;
    }
    *at = p;
    return is_blank(*p);
}

/* Rounds a number whose digits are all in `digits`; the fastest method that applies is used, and
 * all methods give the same value. */
static bool round_common(uint64_t digits, int exponent10, double *value)
{
    const scanned s = {.leading = digits, .exponent10 = exponent10};
    if (digits <= (uint64_t)1 << 53 && exponent10 >= -22 && exponent10 <= 22) {
        const double exact = (double)digits;
        *value =
            exponent10 < 0 ? exact / power_of_10(-exponent10) : exact * power_of_10(exponent10);
        return true;
    }
    /* true for numbers far from the smallest and the largest double */
    return digits != 0 && exponent10 > -300 && exponent10 < 280 && read_close(&s, value);
}

/* Largest number of bytes of a common form: a sign, a point, 19 + 8 digits, an exponent, a blank,
 * and the bytes beyond them that a load of eight bytes may read. */
#define COMMON_BYTES 64

const char *gbsi_decimal_scan(const char *at, const char *end, double *value)
{
    enum { MOST_DIGITS = 19, MOST_ZEROS = 8 }; /* 10^19 < 2^64 */
    if (end - at < COMMON_BYTES) {
        return NULL;
    }
    const bool negative = *at == '-';
    at += *at == '-' || *at == '+';
    uint64_t digits = 0;
    int exponent10 = 0;
    const char *begin = at;
    if (!scan_few(&at, MOST_DIGITS, &digits)) {
        return NULL;
    }
    size_t n_digits = (size_t)(at - begin);
    if (*at == '.') {
        const char *point = at++;
        if (digits == 0) { /* leading zeros do not count as digits */
            while (*at == '0' && at - point <= MOST_ZEROS) {
                at++;
            }
        }
        const size_t most = digits == 0 ? MOST_DIGITS : MOST_DIGITS - n_digits;
        if (!scan_few(&at, most, &digits)) {
            return NULL;
        }
        n_digits += (size_t)(at - point) - 1;
        exponent10 = -(int)(at - point - 1);
    }
    double size = 0;
    if (n_digits == 0 || !scan_tail(&at, &exponent10) || !round_common(digits, exponent10, &size)) {
        return NULL;
    }
    *value = negative ? -size : size;
    return at;
}

const char *gbsi_integer_scan(const char *at, const char *end, uint64_t *value)
{
    enum { MOST_DIGITS = 19 };
    uint64_t sum = 0;
    const char *begin = at;
    if (end - at < COMMON_BYTES || !scan_few(&at, MOST_DIGITS, &sum) || at == begin ||
        !is_blank(*at)) {
        return NULL;
    }
    *value = sum;
    return at;
}

bool gbsi_integer_read(const char *text, size_t n, uint64_t max, uint64_t *value, bool *too_large)
{
    *too_large = false;
    size_t i = n > 1 && text[0] == '+';
    if (i == n) {
        return false;
    }
    uint64_t sum = 0;
    for (; i < n; i++) {
        if (!is_digit(text[i])) {
            *too_large = false;
            return false;
        }
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (*too_large || sum > (max - (digit < max ? digit : max)) / 10 || digit > max) {
            /* the loop continues, because the text may turn out not to be an integer */
            *too_large = true;
            continue;
        }
        sum = sum * 10 + digit;
    }
    if (*too_large) {
        return false;
    }
    *value = sum;
    return true;
}
