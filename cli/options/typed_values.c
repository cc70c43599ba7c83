/* SPDX-License-Identifier: Apache-2.0 */
/* Reads numbers as users type them. The program never calls setlocale(), so that strtod() reads
 * numbers in the C locale. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"

/* Reads the digits at the start of text. @return the first character after the digits; NULL if
 * there are no digits or the number is too large. */
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

/* Reads a number with strtod(), but refuses white space, hexadecimal numbers, "inf" and "nan",
 * which strtod() also accepts. */
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
