/* SPDX-License-Identifier: Apache-2.0 */
#include "text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "decimal/decimal.h"

static const gbs_read_options default_options = {0};

/* @return for a text with NUL bytes, the kind of binary file that it is, for the message that
 * refuses it; NULL if it may be a text with a stray NUL. */
static const char *name_binary(const gbsi_text *text)
{
    const unsigned char *b = (const unsigned char *)text->begin;
    const size_t n = (size_t)(text->end - text->begin);
    if (n >= 2 && ((b[0] == 0xff && b[1] == 0xfe) || (b[0] == 0xfe && b[1] == 0xff) ||
                   (b[0] == 0) != (b[1] == 0))) {
        return "UTF-16, expected UTF-8: save the file as UTF-8";
    }
    if (n >= 4 && memcmp(b, "PK\3\4", 4) == 0) {
        return "a ZIP archive, expected a text file: unpack it first";
    }
    if (n >= 262 && memcmp(b + 257, "ustar", 5) == 0) {
        return "a tar archive, expected a text file: unpack it first";
    }
    return NULL;
}

/* Turns carriage returns into line feeds if they are the only ends of lines, as in files of old
 * Macintosh programs. Otherwise a comment would last until the end of the file. Bytes that the
 * input does not own cannot be changed; readers that need lines refuse them. A file with a line
 * feed is searched only up to the first one. */
static void end_lines(const gbsi_input *input)
{
    char *at = input->owned;
    if (at == NULL || input->bytes != at || memchr(at, '\n', input->n) != NULL) {
        return;
    }
    const char *end = at + input->n;
    while ((at = memchr(at, '\r', (size_t)(end - at))) != NULL) {
        *at = '\n';
    }
}

gbs_status gbsi_text_open(gbsi_text *text, const gbsi_input *input, const gbs_read_options *options,
                          gbs_error *err)
{
    static const char mark[3] = {'\xef', '\xbb', '\xbf'};
    gbsi_text opened = {.name = input->name,
                        .begin = input->bytes,
                        .at = input->bytes,
                        .end = input->n == 0 ? input->bytes : input->bytes + input->n,
                        .options = options == NULL ? &default_options : options,
                        .watch = gbsi_watch_current()};
    if (input->n >= sizeof mark && memcmp(input->bytes, mark, sizeof mark) == 0) {
        opened.begin += sizeof mark;
        opened.at = opened.begin;
    }
    const char *nul =
        opened.at == opened.end ? NULL : memchr(opened.at, 0, gbsi_text_left(&opened));
    if (nul != NULL) {
        const char *kind = name_binary(&opened);
        const char *at = kind == NULL ? nul : opened.begin;
        return gbsi_text_fail(&opened, (gbsi_token){at, 1}, err, "found %s",
                              kind == NULL ? "a NUL byte, expected text" : kind);
    }
    end_lines(input);
    *text = opened;
    return GBS_OK;
}

size_t gbsi_text_left(const gbsi_text *text)
{
    return (size_t)(text->end - text->at);
}

gbsi_token gbsi_text_next(gbsi_text *text)
{
    const char *at = text->at;
    const char *end = text->end;
    /* the byte 0 needs no rule, because no text contains a NUL */
    const char ends = text->is_glued ? text->comment : 0;
    for (;;) {
        while (at < end && gbsi_is_blank(*at)) {
            at++;
        }
        if (at == end || text->comment == 0 || *at != text->comment) {
            break;
        }
        while (at < end && *at != '\n') {
            at++;
        }
    }
    gbsi_token token = {.at = at};
    while (at < end && !gbsi_is_blank(*at) && *at != ends) {
        at++;
    }
    token.n = (size_t)(at - token.at);
    text->at = at;
    return token;
}

gbsi_token gbsi_text_peek(const gbsi_text *text)
{
    gbsi_text copy = *text;
    return gbsi_text_next(&copy);
}

bool gbsi_token_is(gbsi_token token, const char *word)
{
    return token.n == strlen(word) && memcmp(token.at, word, token.n) == 0;
}

bool gbsi_token_is_any_case(gbsi_token token, const char *word)
{
    if (token.n != strlen(word)) {
        return false;
    }
    for (size_t i = 0; i < token.n; i++) {
        char c = token.at[i];
        if ((c >= 'a' && c <= 'z' ? c - 32 : c) != word[i]) {
            return false;
        }
    }
    return true;
}

size_t gbsi_utf8_length(const char *text, size_t n)
{
    const unsigned char *b = (const unsigned char *)text;
    if (n == 0) {
        return 0;
    }
    if (b[0] < 0x80) {
        return 1;
    }
    size_t length = b[0] >= 0xf0 ? 4 : b[0] >= 0xe0 ? 3 : 2;
    if (b[0] < 0xc2 || b[0] > 0xf4 || n < length) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((b[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool overlong = (b[0] == 0xe0 && b[1] < 0xa0) || (b[0] == 0xf0 && b[1] < 0x90);
    bool surrogate = b[0] == 0xed && b[1] >= 0xa0;
    bool beyond = b[0] == 0xf4 && b[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : length;
}

bool gbsi_is_control(const char *text, size_t n)
{
    const unsigned char *b = (const unsigned char *)text;
    /* C1 control characters (U+0080 to U+009f) move cursors as well. */
    return n > 0 &&
           (b[0] < 0x20 || b[0] == 0x7f || (b[0] == 0xc2 && n > 1 && b[1] >= 0x80 && b[1] < 0xa0));
}

int gbsi_is_utf8(const char *text)
{
    size_t left = strlen(text);
    size_t n = 1;
    for (; left > 0 && n > 0; text += n, left -= n) {
        n = gbsi_utf8_length(text, left);
    }
    return left == 0 && n > 0;
}

size_t gbsi_unseen(const char *text, char *code)
{
    /* bidirectional controls and format characters without width (Unicode 15) */
    static const struct {
        unsigned from, to;
    } range[] = {{0xad, 0xad},     {0x61c, 0x61c},   {0x180e, 0x180e}, {0x200b, 0x200f},
                 {0x202a, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}};
    const unsigned char *b = (const unsigned char *)text;
    unsigned c = 0;
    size_t n = 0;
    if (text != NULL && b[0] >= 0xc2 && b[0] < 0xe0) {
        c = (b[0] & 0x1fu) << 6 | (b[1] & 0x3fu);
        n = 2;
    } else if (text != NULL && b[0] >= 0xe0 && b[0] < 0xf0 && b[1] != 0) {
        c = (b[0] & 0xfu) << 12 | (b[1] & 0x3fu) << 6 | (b[2] & 0x3fu);
        n = 3;
    }
    for (size_t i = 0; i < sizeof range / sizeof range[0]; i++) {
        if (n > 0 && c >= range[i].from && c <= range[i].to) {
            if (code != NULL) {
                (void)snprintf(code, 7, "\\u%04x", c & 0xffffu);
            }
            return n;
        }
    }
    return 0;
}

const char *gbsi_token_show(gbsi_token token, char shown[GBSI_SHOWN])
{
    const size_t most = 60; /* number of bytes after which the text is cut */
    if (token.n == 0) {
        return "the end of the file";
    }
    size_t length = 0;
    shown[length++] = '\'';
    for (size_t i = 0; i < token.n;) {
        if (length > most) {
            /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): bytes, not a string */
            memcpy(shown + length, "...", 3);
            length += 3;
            break;
        }
        unsigned char c = (unsigned char)token.at[i];
        size_t n = gbsi_utf8_length(token.at + i, token.n - i);
        if (n == 0 || gbsi_is_control(token.at + i, n) ||
            (n > 1 &&
             gbsi_unseen((char[4]){token.at[i], token.at[i + 1], n > 2 ? token.at[i + 2] : '\0'},
                         NULL) > 0)) {
            length += (size_t)snprintf(shown + length, 5, "\\x%02x", c);
            i++;
            continue;
        }
        memcpy(shown + length, token.at + i, n);
        length += n;
        i += n;
    }
    memcpy(shown + length, "'", 2);
    return shown;
}

/* Writes "NAME:LINE:COLUMN: " into message. @return its length. */
static size_t write_place(const gbsi_text *text, gbsi_token token, char *message, size_t size)
{
    size_t line = 1;
    const char *start = text->begin;
    for (const char *at = start; at < token.at; at++) {
        if (*at == '\n') {
            line++;
            start = at + 1;
        }
    }
    size_t column = 1;
    for (const char *at = start; at < token.at; column++) {
        const size_t length = gbsi_utf8_length(at, (size_t)(token.at - at));
        at += length == 0 ? 1 : length;
    }
    int n = snprintf(message, size, "%s:%zu:%zu: ", text->name, line, column);
    return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

static gbs_status fail_at(const gbsi_text *text, gbsi_token token, gbs_error *err,
                          const char *format, va_list arguments)
{
    if (err != NULL) {
        size_t n = write_place(text, token, err->message, sizeof err->message);
        (void)vsnprintf(err->message + n, sizeof err->message - n, format, arguments);
        err->status = GBS_ERR_FORMAT;
    }
    return GBS_ERR_FORMAT;
}

gbs_status gbsi_text_fail(const gbsi_text *text, gbsi_token token, gbs_error *err,
                          const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    gbs_status status = fail_at(text, token, err, format, arguments);
    va_end(arguments);
    return status;
}

gbs_status gbsi_text_unsupported(const gbsi_text *text, gbsi_token token, gbs_error *err,
                                 const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fail_at(text, token, err, format, arguments);
    va_end(arguments);
    if (err != NULL) {
        err->status = GBS_ERR_UNSUPPORTED;
    }
    return GBS_ERR_UNSUPPORTED;
}

gbs_status gbsi_text_unexpected(const gbsi_text *text, gbsi_token token, const char *expected,
                                gbs_error *err)
{
    char shown[GBSI_SHOWN];
    return gbsi_text_fail(text, token, err, "found %s, expected %s", gbsi_token_show(token, shown),
                          expected);
}

gbs_status gbsi_text_deviation(const gbsi_text *text, gbsi_token token, gbs_error *err,
                               const char *format, ...)
{
    gbs_error local = {0};
    bool lenient = text->options->lenient != 0;
    va_list arguments;
    va_start(arguments, format);
    gbs_status status = fail_at(text, token, lenient ? &local : err, format, arguments);
    va_end(arguments);
    if (!lenient) {
        return status;
    }
    if (text->options->warn != NULL) {
        text->options->warn(text->options->context, local.message);
    }
    return GBS_OK;
}

gbs_status gbsi_text_expect_end(gbsi_text *text, const char *last, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    gbsi_token token = gbsi_text_next(text);
    if (token.n == 0) {
        return GBS_OK;
    }
    return gbsi_text_deviation(text, token, err, "found %s, expected the end of the file after %s",
                               gbsi_token_show(token, shown), last);
}

gbs_status gbsi_text_blame(const gbsi_text *text, gbsi_token token, gbs_status status,
                           gbs_error *err)
{
    if (status != GBS_ERR_ARGUMENT && status != GBS_ERR_LIMIT) {
        return status;
    }
    if (status == GBS_ERR_ARGUMENT) {
        status = GBS_ERR_FORMAT;
    }
    if (err != NULL) {
        gbs_error inner = *err;
        size_t n = write_place(text, token, err->message, sizeof err->message);
        (void)snprintf(err->message + n, sizeof err->message - n, "%s", inner.message);
        err->status = status;
    }
    return status;
}

void gbsi_text_warn(const gbsi_text *text, const char *format, ...)
{
    if (text->options->warn == NULL) {
        return;
    }
    char message[1024];
    int n = snprintf(message, sizeof message, "%s: ", text->name);
    size_t length = n < 0 ? 0 : (size_t)n < sizeof message ? (size_t)n : sizeof message - 1;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message + length, sizeof message - length, format, arguments);
    va_end(arguments);
    text->options->warn(text->options->context, message);
}

gbsi_token gbsi_text_at(const gbsi_text *text, const char *at)
{
    gbsi_text copy = *text;
    copy.at = at;
    return gbsi_text_next(&copy);
}

/* @return the start of the next token, if no comment begins before it. */
static const char *skip_blanks(const gbsi_text *text)
{
    const char *at = text->at;
    while (at < text->end && gbsi_is_blank(*at)) {
        at++;
    }
    return at;
}

gbs_status gbsi_text_integer(gbsi_text *text, const char *expected, uint64_t max, uint64_t *value,
                             gbs_error *err)
{
    char shown[GBSI_SHOWN];
    uint64_t common = 0;
    if (gbsi_watch_spend(text->watch, 4)) {
        return gbsi_watch_fail(err, "reading the model");
    }
    const char *behind = gbsi_integer_scan(skip_blanks(text), text->end, &common);
    if (behind != NULL && common <= max) {
        text->at = behind;
        *value = common;
        return GBS_OK;
    }
    gbsi_token token = gbsi_text_next(text);
    bool too_large = false;
    if (gbsi_integer_read(token.at, token.n, max, value, &too_large)) {
        return GBS_OK;
    }
    if (too_large) {
        return gbsi_text_fail(text, token, err, "found %s, expected %s of at most %llu",
                              gbsi_token_show(token, shown), expected, (unsigned long long)max);
    }
    return gbsi_text_unexpected(text, token, expected, err);
}

gbs_status gbsi_text_variable(gbsi_text *text, uint32_t n, uint32_t *variable, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    uint64_t value = 0;
    const gbsi_token token = gbsi_text_peek(text);
    GBSI_PASS(gbsi_text_integer(text, "a variable", UINT64_MAX, &value, err));
    if (value >= n) {
        return gbsi_text_fail(text, token, err, "found variable %s, expected less than %u",
                              gbsi_token_show(token, shown), n);
    }
    *variable = (uint32_t)value;
    return GBS_OK;
}

gbs_status gbsi_text_count(gbsi_text *text, const char *expected, size_t least_bytes,
                           uint64_t *value, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    uint64_t count = 0;
    const char *before = text->at;
    GBSI_PASS(gbsi_text_integer(text, expected, UINT64_MAX, &count, err));
    /* A separator precedes the first item, and no separator needs to follow the last item. */
    size_t left = gbsi_text_left(text);
    if (count > left / least_bytes) {
        gbsi_token token = gbsi_text_at(text, before);
        return gbsi_text_fail(text, token, err,
                              "found %s as %s, but the %zu bytes left of the file cannot hold more "
                              "than %zu",
                              gbsi_token_show(token, shown), expected, left, left / least_bytes);
    }
    *value = count;
    return GBS_OK;
}

gbs_status gbsi_text_double(gbsi_text *text, const char *expected, double *value, size_t *underflow,
                            gbs_error *err)
{
    char shown[GBSI_SHOWN];
    if (gbsi_watch_spend(text->watch, 8)) {
        return gbsi_watch_fail(err, "reading the model");
    }
    const char *behind = gbsi_decimal_scan(skip_blanks(text), text->end, value);
    if (behind != NULL) {
        text->at = behind;
        return GBS_OK;
    }
    gbsi_token token = gbsi_text_next(text);
    switch (gbsi_decimal_read(token.at, token.n, value)) {
    case GBSI_DECIMAL_OK:
        return GBS_OK;
    case GBSI_DECIMAL_UNDERFLOW:
        if (underflow != NULL) {
            (*underflow)++;
        }
        return GBS_OK;
    case GBSI_DECIMAL_OVERFLOW:
        return gbsi_text_fail(text, token, err, "found %s, beyond the largest double, expected %s",
                              gbsi_token_show(token, shown), expected);
    case GBSI_DECIMAL_BAD:
        break;
    }
    return gbsi_text_unexpected(text, token, expected, err);
}
