/* SPDX-License-Identifier: Apache-2.0 */
/* Reads whole numbers as a person types them. The text has digits, and may have a decimal fraction,
 * a power of ten, and a letter for a power of 1000. The arithmetic is exact, in integers. */
#include "options/needs.h"

typedef struct typed {
    const char *at;
    uint64_t digits; /* all digits of the text as one number, without the decimal point */
    int exponent;    /* the number is digits * 10^exponent */
    bool fits;       /* whether `digits` is below 2^64 */
    bool any;
} typed;

static void read_digits(typed *t, int exponent_of_each)
{
    for (; *t->at >= '0' && *t->at <= '9'; ++t->at) {
        const uint64_t digit = (uint64_t)(*t->at - '0');
        t->fits = t->fits && t->digits <= (UINT64_MAX - digit) / 10;
        t->digits = t->fits ? 10 * t->digits + digit : 0;
        t->exponent += exponent_of_each;
        t->any = true;
    }
}

/* Reads an exponent such as "e6" or "e+6". Exponents that are too large for any 64-bit number are
 * not read exactly. */
static void read_exponent(typed *t)
{
    int exponent = 0;
    if (*t->at != 'e' && *t->at != 'E') {
        return;
    }
    const char *at = t->at + 1 + (t->at[1] == '+');
    if (*at < '0' || *at > '9') {
        return;
    }
    for (; *at >= '0' && *at <= '9'; ++at) {
        exponent = exponent < 1000 ? 10 * exponent + (*at - '0') : exponent;
    }
    t->exponent += exponent;
    t->at = at;
}

static void read_letter(typed *t)
{
    const char c = *t->at;
    const int power = c == 'k' || c == 'K' ? 3 : c == 'M' ? 6 : c == 'G' ? 9 : 0;
    t->exponent += power;
    t->at += power > 0;
}

bool gbsi_count_read(const char *text, uint64_t *value)
{
    typed t = {.at = text, .fits = true};
    read_digits(&t, 0);
    if (*t.at == '.') {
        ++t.at;
        read_digits(&t, -1);
    }
    if (!t.any || !t.fits) {
        return false;
    }
    read_exponent(&t);
    read_letter(&t);
    if (*t.at != '\0') {
        return false;
    }
    for (; t.exponent < 0 && t.digits % 10 == 0; ++t.exponent) {
        if (t.digits == 0) {
            break;
        }
        t.digits /= 10;
    }
    for (; t.exponent > 0 && t.digits != 0; --t.exponent) {
        if (t.digits > UINT64_MAX / 10) {
            return false;
        }
        t.digits *= 10;
    }
    if (t.exponent < 0 && t.digits != 0) {
        return false; /* the number is not whole */
    }
    *value = t.digits;
    return true;
}
