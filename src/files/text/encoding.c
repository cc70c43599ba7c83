/* SPDX-License-Identifier: Apache-2.0 */
/* Converts text that is not UTF-8. Programs written around 2000 use the encoding of their
 * machine, ISO-8859-1 or windows-1252. windows-1252 has letters where ISO-8859-1 has control
 * characters that nobody writes, so one table reads either encoding. XML declares its encoding;
 * other formats do not. */
#include "base/plural.h"
#include "text/input.h"

#include <string.h>

#include "base/memory.h"
#include "text/text.h"

/* Code points of the bytes 0x80 to 0x9f of windows-1252, 0 for undefined bytes. */
static const uint16_t windows[32] = {
    0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017d, 0,      0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178,
};

static unsigned character(unsigned char byte)
{
    return byte >= 0x80 && byte < 0xa0 ? windows[byte - 0x80] : byte;
}

/* Writes a character as UTF-8. @return the number of bytes written, at most 3. */
static size_t write_character(unsigned c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | (c >> 6));
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    out[0] = (char)(0xe0 | (c >> 12));
    out[1] = (char)(0x80 | ((c >> 6) & 0x3f));
    out[2] = (char)(0x80 | (c & 0x3f));
    return 3;
}

/* Counts of the bytes with values of at least 0x80. */
typedef struct census {
    size_t n_utf8;       /* number of well-formed UTF-8 sequences */
    size_t n_other;      /* number of bytes outside such sequences */
    const char *first;   /* first byte outside a well-formed sequence */
    const char *nowhere; /* first such byte that windows-1252 does not define either, or NULL */
} census;

static census count_bytes(const char *bytes, size_t n, bool utf8)
{
    census c = {0};
    for (size_t i = 0; i < n;) {
        uint64_t eight = 0;
        if (i + sizeof eight <= n) {
            memcpy(&eight, bytes + i, sizeof eight);
            if ((eight & 0x8080808080808080U) == 0) {
                i += sizeof eight;
                continue;
            }
        }
        const size_t length =
            utf8 || (unsigned char)bytes[i] < 0x80 ? gbsi_utf8_length(bytes + i, n - i) : 0;
        if (length == 0) {
            c.first = c.n_other++ == 0 ? bytes + i : c.first;
            if (c.nowhere == NULL && character((unsigned char)bytes[i]) == 0) {
                c.nowhere = bytes + i;
            }
        }
        c.n_utf8 += length > 1;
        i += length == 0 ? 1 : length;
    }
    return c;
}

/* Converts text to UTF-8. @param utf8 true: well-formed UTF-8 is kept; false: every byte is one
 * character. */
static gbs_status transcode(gbsi_input *input, const census *c, bool utf8, gbs_error *err)
{
    const size_t most = input->n + 2 * c->n_other;
    char *out = gbsi_alloc(most);
    size_t length = 0;
    GBSI_PASS(GBSI_HAVE(err, input->name, out));
    for (size_t i = 0; i < input->n;) {
        const unsigned char byte = (unsigned char)input->bytes[i];
        size_t kept = utf8 || byte < 0x80 ? gbsi_utf8_length(input->bytes + i, input->n - i) : 0;
        if (kept == 0) {
            length += write_character(character(byte), out + length);
            kept = 1;
        } else {
            memcpy(out + length, input->bytes + i, kept);
            length += kept;
        }
        i += kept;
    }
    gbsi_free(input->owned);
    input->owned = gbsi_input_shrink(out, length);
    input->bytes = input->owned;
    input->n = length;
    return GBS_OK;
}

/* @return the value of encoding= in <?xml ...?>, empty if the file does not declare an encoding. */
static gbsi_token declared_encoding(const gbsi_input *input)
{
    const gbsi_token none = {0};
    if (input->n == 0) {
        return none;
    }
    gbsi_text text = {.at = input->bytes, .end = input->bytes + input->n};
    const gbsi_token first = gbsi_text_next(&text);
    const char *at = text.at;
    const char *end = memchr(at, '>', gbsi_text_left(&text));
    if (!gbsi_token_is(first, "<?xml") || end == NULL) {
        return none;
    }
    static const char word[] = "encoding";
    const size_t n = sizeof word - 1;
    while ((size_t)(end - at) > n && memcmp(at, word, n) != 0) {
        at++;
    }
    at += (size_t)(end - at) > n ? n : 0;
    while (at < end && (gbsi_is_blank(*at) || *at == '=')) {
        at++;
    }
    const char *close = at < end && (*at == '"' || *at == '\'')
                            ? memchr(at + 1, *at, (size_t)(end - at) - 1)
                            : NULL;
    if (close == NULL) {
        return none;
    }
    return (gbsi_token){at + 1, (size_t)(close - at) - 1};
}

bool gbsi_encoding_is_latin(gbsi_token name)
{
    static const char *const names[] = {"ISO-8859-1", "ISO8859-1", "ISO_8859-1",   "LATIN1",
                                        "LATIN-1",    "L1",        "WINDOWS-1252", "CP1252"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (gbsi_token_is_any_case(name, names[i])) {
            return true;
        }
    }
    return false;
}

/* Warns about, or refuses, bytes that are not UTF-8 in a text that declares no other encoding. */
static gbs_status judge(const gbsi_text *text, const census *c, gbs_error *err)
{
    const gbsi_token place = {c->first, 1};
    char shown[GBSI_SHOWN];
    if (c->n_utf8 > 0) {
        return gbsi_text_deviation(text, place, err,
                                   "found the byte %s, which is no UTF-8, in a file with %zu "
                                   "characters that are, expected one encoding: save it as UTF-8",
                                   gbsi_token_show(place, shown), c->n_utf8);
    }
    gbsi_text_warn(text,
                   "%zu byte%s no UTF-8, the first %s: read as Latin-1 (windows-1252); save the "
                   "file as UTF-8 if letters come out wrong",
                   c->n_other, gbsi_plural_of(c->n_other, " is", "s are"),
                   gbsi_token_show(place, shown));
    return GBS_OK;
}

gbs_status gbsi_input_decode(gbsi_input *input, const gbs_read_options *options, gbs_error *err)
{
    static const gbs_read_options none = {0};
    const gbsi_text text = {
        .name = input->name, .begin = input->bytes, .options = options == NULL ? &none : options};
    const bool latin = gbsi_encoding_is_latin(declared_encoding(input));
    const census c = count_bytes(input->bytes, input->n, !latin);
    char shown[GBSI_SHOWN];
    if (c.n_other == 0 || memchr(input->bytes, 0, input->n) != NULL) {
        /* a file with NUL bytes is not text */
        return GBS_OK;
    }
    if (c.nowhere != NULL) {
        const gbsi_token place = {c.nowhere, 1};
        return gbsi_text_fail(&text, place, err,
                              "found the byte %s, which is no UTF-8 and no letter of Latin-1 "
                              "(windows-1252) either: save the file as UTF-8",
                              gbsi_token_show(place, shown));
    }
    if (!latin) {
        GBSI_PASS(judge(&text, &c, err));
    }
    return transcode(input, &c, !latin, err);
}
