/* SPDX-License-Identifier: Apache-2.0 */
#include "drawings/pen.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "text/output.h"
#include "text/text.h"

/* Colours of Okabe & Ito (2008), with darker ones where text needs the contrast. */
const char *const gbsi_light[GBSI_N_LIGHT] = {"#0072b2", "#d55e00", "#009e73", "#b5578f",
                                              "#e69f00", "#56b4e9", "#000000", "#767676"};

void gbsi_put_palette(gbs_output *output, const char *root)
{
    static const char *const dark[GBSI_N_LIGHT] = {"#4aa8dd", "#ff8a3d", "#2fc79d", "#e59fc6",
                                                   "#ffbf47", "#9bd6f7", "#f2f2f2", "#9a9a9a"};
    gbsi_put(output, "%s{--paper:#ffffff;--ink:#1c1c1c;--soft:#595959;--grid:#e3e3e3", root);
    for (int c = 0; c < GBSI_N_LIGHT; c++) {
        gbsi_put(output, ";--c%d:%s", c, gbsi_light[c]);
    }
    gbsi_put(output,
             "}\n@media (prefers-color-scheme:dark){%s{--paper:#16181c;"
             "--ink:#ececec;--soft:#b0b0b0;--grid:#33373d",
             root);
    for (int c = 0; c < GBSI_N_LIGHT; c++) {
        gbsi_put(output, ";--c%d:%s", c, dark[c]);
    }
    gbsi_output_text(output, "}}\n");
}

const char *gbsi_chart_number(double value, char *text)
{
    const double tenths = fabs(value) * 10.0 + 0.5;
    const unsigned long long n = tenths < 1e15 ? (unsigned long long)tenths : 0;
    (void)snprintf(text, 24, "%s%llu.%llu", value < 0.0 && n > 0 ? "-" : "", n / 10, n % 10);
    return text;
}

void gbsi_put(gbs_output *output, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    gbsi_output_text(output, text);
}

void gbsi_put_escaped(gbs_output *output, const char *text)
{
    const char *end = text + strlen(text);
    char code[7];
    while (text < end) {
        const size_t n = gbsi_utf8_length(text, (size_t)(end - text));
        const bool space = *text == '\n' || *text == '\t';
        const char *entity = *text == '&'   ? "&amp;"
                             : *text == '<' ? "&lt;"
                             : *text == '>' ? "&gt;"
                             : *text == '"' ? "&quot;"
                                            : NULL;
        /* U+FFFE and U+FFFF are no characters of XML */
        const bool bad = n == 3 && memcmp(text, "\xef\xbf", 2) == 0 && (text[2] & 0x7e) == 0x3e;
        if (n == 0 || bad || (gbsi_is_control(text, n) && !space)) {
            gbsi_output_text(output, "\xef\xbf\xbd");
        } else if (gbsi_unseen(text, code) == n) {
            gbsi_output_text(output, code);
        } else if (entity != NULL) {
            gbsi_output_text(output, entity);
        } else {
            gbsi_output_bytes(output, text, n);
        }
        text += n == 0 ? 1 : n;
    }
}

void gbsi_put_text(gbs_output *output, const char *style, double x, double y, const char *text)
{
    gbsi_put(output, "<text class=\"%s\" x=\"%s\" y=\"%s\">", style, N(x), N(y));
    gbsi_put_escaped(output, text);
    gbsi_output_text(output, "</text>\n");
}

double gbsi_text_width(const char *text, double size)
{
    double ems = 0.0;
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c >= 0x80 && *c < 0xc0) {
            continue; /* continuation byte of a UTF-8 character */
        }
        ems += *c >= 0xe3                                                                   ? 1.0
               : *c == 'i' || *c == 'l' || *c == '.' || *c == ',' || *c == ' ' || *c == '1' ? 0.36
               : *c == 'm' || *c == 'w' || *c == 'M' || *c == 'W'                           ? 0.88
               : *c >= 'A' && *c <= 'Z'                                                     ? 0.70
                                                                                            : 0.58;
    }
    return ems * size;
}
