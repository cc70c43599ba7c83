/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "decimal/decimal.h"
#include "text/output.h"
#include "text/text.h"

void gbsi_output_text(gbs_output *output, const char *text)
{
    gbsi_output_bytes(output, text, text == NULL ? 0 : strlen(text));
}

void gbsi_output_uint(gbs_output *output, uint64_t value)
{
    char backward[20];
    size_t n = sizeof backward;
    do {
        backward[--n] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    gbsi_output_bytes(output, backward + n, sizeof backward - n);
}

void gbsi_output_double(gbs_output *output, double value)
{
    char text[32];
    gbsi_output_decimal(output, text, gbsi_format_double(value, text));
}

static void write_zeros(gbs_output *output, int n)
{
    static const char zeros[] = "00000000000000000000000000000000";
    const int most = (int)sizeof zeros - 1;
    for (; n > 0; n -= most) {
        gbsi_output_bytes(output, zeros, (size_t)(n < most ? n : most));
    }
}

void gbsi_output_decimal(gbs_output *output, const char *text, size_t n)
{
    /* cppcheck-suppress uninitvar ; gbsi_format_double() wrote n bytes of it */
    const char *e = memchr(text, 'e', n);
    if (!gbsi_output_has_fixed_floats(output) || e == NULL) { /* "inf" and "nan" have no e */
        gbsi_output_bytes(output, text, n);
        return;
    }
    char digit[32];
    int n_digits = 0;
    int n_before = 0; /* number of digits before the decimal point */
    bool after = false;
    for (const char *at = text + (*text == '-' ? 1 : 0); at < e; at++) {
        if (*at == '.') {
            after = true;
        } else {
            digit[n_digits++] = *at;
            n_before += after ? 0 : 1;
        }
    }
    bool below_one = e[1] == '-';
    int exponent = 0;
    for (const char *at = e + 1 + (below_one || e[1] == '+' ? 1 : 0); at < text + n; at++) {
        exponent = 10 * exponent + (*at - '0');
    }
    n_before += below_one ? -exponent : exponent;
    gbsi_output_text(output, *text == '-' ? "-" : "");
    if (n_before <= 0) {
        gbsi_output_text(output, "0.");
        write_zeros(output, -n_before);
        gbsi_output_bytes(output, digit, (size_t)n_digits);
        return;
    }
    int whole = n_digits < n_before ? n_digits : n_before;
    gbsi_output_bytes(output, digit, (size_t)whole);
    write_zeros(output, n_before - whole);
    if (whole < n_digits) {
        gbsi_output_text(output, ".");
        gbsi_output_bytes(output, digit + whole, (size_t)(n_digits - whole));
    }
}

void gbsi_output_json_double(gbs_output *output, double value)
{
    if (value - value == 0) { /* false for infinity and NaN, for which value - value is NaN */
        gbsi_output_double(output, value);
    } else {
        gbsi_output_text(output, "null");
    }
}

/* Writes a character of a JSON string (RFC 8259, section 7).
 * @return the number of bytes of text taken. */
static size_t write_json_character(gbs_output *output, const char *text, size_t n)
{
    static const char hex[] = "0123456789abcdef";
    static const char named[] = "\"\\\b\f\n\r\t";
    static const char letter[] = "\"\\bfnrt";
    const char *found = strchr(named, *text);
    if (found != NULL) {
        char escape[2] = {'\\', letter[found - named]};
        gbsi_output_bytes(output, escape, sizeof escape);
        return 1;
    }
    unsigned char c = (unsigned char)*text;
    if (c < 0x20 || c == 0x7f) {
        char escape[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
        gbsi_output_bytes(output, escape, sizeof escape);
        return 1;
    }
    size_t length = gbsi_utf8_length(text, n);
    if (length == 0) {
        gbsi_output_text(output, "\\ufffd");
        return 1;
    }
    gbsi_output_bytes(output, text, length);
    return length;
}

void gbsi_output_json_string(gbs_output *output, const char *text)
{
    size_t n = text == NULL ? 0 : strlen(text);
    gbsi_output_text(output, "\"");
    while (n > 0) {
        size_t taken = write_json_character(output, text, n);
        text += taken;
        n -= taken;
    }
    gbsi_output_text(output, "\"");
}

static _Atomic bool csv_safe;

void gbsi_set_csv_safe(int safe)
{
    csv_safe = safe != 0;
}

void gbsi_output_csv_field(gbs_output *output, const char *text)
{
    if (text == NULL) {
        return;
    }
    const char *mark =
        csv_safe && text[0] != '\0' && strchr("=+@-\t\r", text[0]) != NULL ? "'" : "";
    if (strpbrk(text, ",\"\r\n") == NULL) {
        gbsi_output_text(output, mark);
        gbsi_output_text(output, text);
        return;
    }
    gbsi_output_text(output, "\"");
    gbsi_output_text(output, mark);
    for (const char *quote = strchr(text, '"'); quote != NULL; quote = strchr(text, '"')) {
        gbsi_output_bytes(output, text, (size_t)(quote - text) + 1);
        gbsi_output_text(output, "\"");
        text = quote + 1;
    }
    gbsi_output_text(output, text);
    gbsi_output_text(output, "\"");
}
