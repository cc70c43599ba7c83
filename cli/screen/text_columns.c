/* SPDX-License-Identifier: Apache-2.0 */
/* Formats text in columns of a terminal. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

const char *cli_seen(const char *text, char *to, size_t size)
{
    char code[7];
    size_t n = 0;
    const char *at = text;
    while (*at != '\0' && gbsi_unseen(at, NULL) == 0) {
        at++;
    }
    if (*at == '\0') {
        return text;
    }
    while (*text != '\0' && n + sizeof code < size) {
        const size_t unseen = gbsi_unseen(text, code);
        if (unseen > 0) {
            memcpy(to + n, code, sizeof code);
            n += sizeof code - 1;
            text += unseen;
        } else {
            to[n++] = *text++;
        }
    }
    to[n] = '\0';
    return to;
}

int cli_columns_of(const char *text)
{
    int n = 0;
    char code[7];
    for (; *text != '\0'; ++text) {
        n += ((unsigned char)*text & 0xC0) != 0x80;
        n += gbsi_unseen(text, code) > 0 ? (int)sizeof code - 2 : 0;
    }
    return n;
}

void cli_put_column(gbs_output *output, const char *text, int width)
{
    char part[1024];
    char seen_text[1024];
    const int n = cli_columns_of(text);
    text = cli_seen(text, seen_text, sizeof seen_text);
    if (n <= width) {
        gbsi_output_text(output, text);
        for (int i = n; i < width; ++i) {
            gbsi_output_text(output, " ");
        }
        return;
    }
    size_t bytes = 0;
    for (int seen = 0; bytes + 3 < sizeof part; ++bytes) {
        seen += ((unsigned char)text[bytes] & 0xC0) != 0x80;
        if (seen > width - 2) {
            break;
        }
        part[bytes] = text[bytes];
    }
    memcpy(part + bytes, "..", 3);
    gbsi_output_text(output, part);
}

void cli_put_hanging(gbs_output *output, const char *text, int column, int indent, int width)
{
    char seen[4096];
    text = cli_seen(text, seen, sizeof seen);
    while (*text != '\0') {
        const size_t blanks = strspn(text, " ");
        const size_t n = blanks + strcspn(text + blanks, " ");
        int wide = 0;
        for (size_t i = 0; i < n; ++i) {
            wide += ((unsigned char)text[i] & 0xC0) != 0x80;
        }
        if (column > indent && column + wide > width) {
            gbsi_output_text(output, "\n");
            cli_put_right(output, "", indent);
            column = indent - (int)blanks;
            text += blanks;
            gbsi_output_bytes(output, text, n - blanks);
            text += n - blanks;
        } else {
            gbsi_output_bytes(output, text, n);
            text += n;
        }
        column += wide;
    }
    gbsi_output_text(output, "\n");
}

void cli_put_wrapped(gbs_output *output, const char *text)
{
    cli_put_hanging(output, text, 0, 2, cli_terminal_width() - 1);
}

void cli_put_line(gbs_output *output, int width, const char *title, const char *format, ...)
{
    char text[256];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text, sizeof text, format, values);
    va_end(values);
    cli_put_column(output, title, width);
    gbsi_output_text(output, " ");
    cli_put_hanging(output, text, width + 1, width + 1, cli_line_width());
}

void cli_put_right(gbs_output *output, const char *text, int width)
{
    for (int i = cli_columns_of(text); i < width; ++i) {
        gbsi_output_text(output, " ");
    }
    char seen[1024];
    gbsi_output_text(output, cli_seen(text, seen, sizeof seen));
}

int cli_speaks_unicode(void)
{
    static const char *const name[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof name / sizeof name[0]; ++i) {
        const char *value = getenv(name[i]);
        if (value != NULL && value[0] != '\0') {
            return strstr(value, "UTF-8") != NULL || strstr(value, "utf8") != NULL ||
                   strstr(value, "UTF8") != NULL || strstr(value, "utf-8") != NULL;
        }
    }
    return 0;
}
