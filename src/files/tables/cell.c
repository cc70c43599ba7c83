/* SPDX-License-Identifier: Apache-2.0 */
/* Interprets the cells of a table, and tells whether two column names mean the same column. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "decimal/decimal.h"
#include "tables/sheet.h"

/* Texts that mean a missing value. The first one is the empty cell. */
static const char *const missing_sign[GBSI_MISSING_SIGNS] = {
    "",  "NA", "N/A", "NaN", "nan", "<NA>", "None", "NULL", "null",
    "?", ".",  "*",   "-",   "n/a", "#N/A", "na",   "Na",
};

const char *gbs_table_missing_sign(size_t i)
{
    return i < GBSI_MISSING_SIGNS ? missing_sign[i] : NULL;
}

int gbsi_find_missing(const char *text, size_t n)
{
    for (int i = 0; n <= 4 && i < GBSI_MISSING_SIGNS; i++) {
        if (text[0] == missing_sign[i][0] && strcmp(text, missing_sign[i]) == 0) {
            return i;
        }
    }
    return -1;
}

bool gbsi_nearly_missing(const char *text)
{
    bool nearly = false;
    for (int i = 1; i < GBSI_MISSING_SIGNS; i++) {
        nearly = nearly || (missing_sign[i][1] != '\0' && gbsi_alike_names(text, missing_sign[i]));
    }
    return nearly;
}

uint64_t gbsi_missing_text(const uint64_t n[GBSI_MISSING_SIGNS], char text[GBSI_MISSING_TEXT])
{
    size_t length = 0;
    uint64_t sum = 0;
    text[0] = '\0';
    for (int i = 0; i < GBSI_MISSING_SIGNS; i++) {
        /* each count takes at most 28 characters: 20 digits, and 8 for its sign and the
         * separators */
        sum += n[i];
        if (n[i] > 0) {
            length +=
                (size_t)snprintf(text + length, GBSI_MISSING_TEXT - length, "%s%" PRIu64 " %s",
                                 length > 0 ? ", " : "", n[i], i == 0 ? "empty" : missing_sign[i]);
        }
    }
    return sum;
}

/* Writes numbers such as "1e0" and "1.000e+00" (NumPy's form) as "1". */
static bool whole_of_exponent(const char *text, size_t n, char *whole)
{
    double number = 0.0;
    const bool is_whole = (memchr(text, 'e', n) != NULL || memchr(text, 'E', n) != NULL) &&
                          gbsi_decimal_read(text, n, &number) != GBSI_DECIMAL_BAD &&
                          number > -1e15 && number < 1e15 && number == (double)(int64_t)number;
    if (is_whole) {
        (void)snprintf(whole, GBSI_WHOLE, "%" PRId64, (int64_t)number);
    }
    return is_whole;
}

bool gbsi_whole_text(const char *text, size_t n, char *whole)
{
    size_t digits = text[0] == '-';
    whole[0] = '\0';
    while (text[digits] >= '0' && text[digits] <= '9') {
        digits++;
    }
    size_t at = digits;
    const char mark = text[at];
    if (mark == '.' || mark == ',') {
        at++;
        while (text[at] == '0') {
            at++;
        }
    }
    const size_t zeros = at - digits - (at > digits); /* 1,000 may mean a thousand */
    if (at != n && whole_of_exponent(text, n, whole)) {
        return true;
    }
    if (at != n || (mark == ',' && (zeros == 0 || zeros > 2)) || digits == (text[0] == '-') ||
        digits >= GBSI_WHOLE) {
        return false;
    }
    memcpy(whole, text, digits);
    whole[digits] = '\0';
    return true;
}

int gbsi_truth(const char *text)
{
    static const char *const words[] = {"False", "FALSE", "false", "True", "TRUE", "true"};
    for (int i = 0; i < 6; i++) {
        if (strcmp(text, words[i]) == 0) {
            return i / 3;
        }
    }
    return -1;
}

bool gbsi_cell_number(const gbsi_sheet *s, const gbsi_cell *cell, double *number)
{
    char point[64];
    const char *comma = s->separator == ',' ? NULL : memchr(cell->text, ',', cell->n);
    if (comma == NULL || cell->n >= sizeof point) {
        return gbsi_decimal_read(cell->text, cell->n, number) != GBSI_DECIMAL_BAD;
    }
    memcpy(point, cell->text, cell->n);
    point[comma - cell->text] = '.';
    return gbsi_decimal_read(point, cell->n, number) != GBSI_DECIMAL_BAD;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Goes through the significant characters of a name. Letters are changed to lower case. Quotes and
 * separators of words are skipped. @return the position behind the next significant character;
 * *letter is 0 at the end. */
static const char *next_letter(const char *at, char *letter)
{
    while (*at != '\0' && strchr(" \t._-`'\"", *at) != NULL) {
        at++;
    }
    *letter = (char)(*at >= 'A' && *at <= 'Z' ? *at + ('a' - 'A') : *at);
    return *at == '\0' ? at : at + 1;
}

bool gbsi_alike_names(const char *a, const char *b)
{
    char x = 0;
    char y = 0;
    do {
        a = next_letter(a, &x);
        b = next_letter(b, &y);
    } while (x == y && x != '\0');
    return x == y;
}

/* Whether a and b have digits, and these digits differ. */
static bool differ_in_digits(const char *a, const char *b)
{
    static const char digits[] = "0123456789";
    bool differ = false;
    bool any = false;
    for (;;) {
        a += strcspn(a, digits);
        b += strcspn(b, digits);
        if (*a == '\0' || *b == '\0') {
            return any && (differ || *a != *b);
        }
        any = true;
        differ = differ || *a != *b;
        a++;
        b++;
    }
}

/* @return the number of UTF-8 characters that begin in text[0 .. n). */
static size_t letters_in(const char *text, size_t n)
{
    size_t letters = 0;
    for (size_t i = 0; i < n; i++) {
        letters += (text[i] & 0xc0) != 0x80;
    }
    return letters;
}

enum { MOST_NAME = 256 };

/* Copies the significant characters of a name. @return their number, or MOST_NAME if there is
 * not enough room. */
static size_t fold(const char *name, char folded[MOST_NAME])
{
    size_t n = 0;
    char letter = 0;
    for (name = next_letter(name, &letter); letter != '\0' && n < MOST_NAME;
         name = next_letter(name, &letter)) {
        folded[n++] = letter;
    }
    return n;
}

/* Compares the significant characters of two names without their common beginning and end. The
 * names are close if at most one letter is left of each, or if two letters are left in reversed
 * order. Two different names of one letter are not close. */
bool gbsi_close_names(const char *a, const char *b)
{
    char p[MOST_NAME];
    char q[MOST_NAME];
    size_t n = fold(a, p);
    size_t m = fold(b, q);
    size_t begin = 0;
    if (n == MOST_NAME || m == MOST_NAME || n > m + 4 || m > n + 4) {
        return gbsi_alike_names(a, b);
    }
    if (differ_in_digits(a, b) || (letters_in(p, n) <= 1 && letters_in(q, m) <= 1)) {
        return n == m && memcmp(p, q, n) == 0;
    }
    while (begin < n && begin < m && p[begin] == q[begin]) {
        begin++;
    }
    while (n > begin && m > begin && p[n - 1] == q[m - 1]) {
        n--;
        m--;
    }
    const size_t i = begin;
    return (n - i == 2 && m - i == 2 && p[i] == q[i + 1] && p[i + 1] == q[i]) ||
           (letters_in(p + i, n - i) <= 1 && letters_in(q + i, m - i) <= 1);
}
