/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as users type them. The program never calls setlocale(), so strtod() reads C. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

/* Digits at the start of text. @return the first character after them, NULL without or too many. */
static const char *leading_uint(const char *text, uint64_t *value)
{
    if (text[0] < '0' || text[0] > '9') {
        return NULL;
    }
    char *end = NULL;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (errno != 0) {
        return NULL;
    }
    *value = v;
    return end;
}

int cli_parse_uint(const char *text, uint64_t *value)
{
    uint64_t v = 0;
    const char *end = leading_uint(text, &v);
    if (end == NULL || *end != '\0') {
        return 0;
    }
    *value = v;
    return 1;
}

/* strtod() also takes white space, hexadecimal, "inf" and "nan": not here. */
static const char *leading_real(const char *text, double *value)
{
    size_t sign = text[0] == '-' || text[0] == '+' ? 1 : 0;
    if (strchr("0123456789.", text[sign]) == NULL || text[sign] == '\0' ||
        (text[sign] == '0' && (text[sign + 1] == 'x' || text[sign + 1] == 'X'))) {
        return NULL;
    }
    char *end = NULL;
    double v = strtod(text, &end);
    if (end == text || !isfinite(v)) {
        return NULL;
    }
    *value = v;
    return end;
}

int cli_parse_real(const char *text, double *value)
{
    double v = 0.0;
    const char *end = leading_real(text, &v);
    if (end == NULL || *end != '\0') {
        return 0;
    }
    *value = v;
    return 1;
}

int cli_parse_size(const char *text, uint64_t *value)
{
    static const char LETTERS[] = "KMGT";
    uint64_t v = 0;
    const char *end = leading_uint(text, &v);
    if (end == NULL) {
        return 0;
    }
    if (*end != '\0') {
        const char *letter = strchr(LETTERS, *end >= 'a' ? *end - 'a' + 'A' : *end);
        if (letter == NULL ||
            (strcmp(end + 1, "") != 0 && strcmp(end + 1, "B") != 0 && strcmp(end + 1, "iB") != 0)) {
            return 0;
        }
        unsigned shift = 10 * (unsigned)(letter - LETTERS + 1);
        if (v > UINT64_MAX >> shift) {
            return 0;
        }
        v <<= shift;
    }
    *value = v;
    return 1;
}

int cli_parse_duration(const char *text, double *value)
{
    static const struct {
        const char *suffix;
        double seconds;
    } units[] = {{"", 1.0}, {"s", 1.0}, {"m", 60.0}, {"h", 3600.0}, {"d", 86400.0}};
    double v = 0.0;
    const char *end = leading_real(text, &v);
    if (end == NULL) {
        return 0;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(end, units[i].suffix) == 0) {
            *value = v * units[i].seconds;
            return 1;
        }
    }
    return 0;
}
