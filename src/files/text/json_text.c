/* SPDX-License-Identifier: Apache-2.0 */
#include "text/json_text.h"

#include <stdint.h>
#include <string.h>

static bool read_hex(const char *at, const char *end, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++) {
        if (at + i >= end) {
            return false;
        }
        const char c = at[i];
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0) {
            return false;
        }
        *code = *code << 4 | (uint32_t)digit;
    }
    return true;
}

static void append(char *text, size_t *n_text, uint32_t c)
{
    unsigned char *p = (unsigned char *)text + *n_text;
    const int n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char first[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (int i = n - 1; i > 0; i--) {
        p[i] = (unsigned char)(0x80 | (c & 0x3f));
        c >>= 6;
    }
    p[0] = (unsigned char)(first[n] | c);
    *n_text += (size_t)n;
}

bool gbsi_json_escape(const char **at, const char *end, char *text, size_t *n)
{
    static const char names[] = "\"\\/bfnrt";
    static const char meant[] = "\"\\/\b\f\n\r\t";
    const char *t = *at;
    uint32_t code = 0;
    uint32_t low = 0;
    const char *name = t < end ? strchr(names, *t) : NULL;
    if (name != NULL && *name != 0) {
        text[(*n)++] = meant[name - names];
        *at = t + 1;
        return true;
    }
    if (t == end || *t != 'u' || !read_hex(t + 1, end, &code) || code == 0) {
        return false;
    }
    t += 5;
    if (code >= 0xd800 && code < 0xdc00) { /* the first half of a surrogate pair */
        if (end - t < 6 || t[0] != '\\' || t[1] != 'u' || !read_hex(t + 2, end, &low) ||
            low < 0xdc00 || low > 0xdfff) {
            return false;
        }
        t += 6;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code <= 0xdfff) {
        return false;
    }
    append(text, n, code);
    *at = t;
    return true;
}
