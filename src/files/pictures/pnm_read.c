/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads portable any-map, P1 to P6, as netpbm's pages pbm(5), pgm(5) and ppm(5) describe it. The
 * header has the magic, the width, the height and the largest sample, which bitmaps do not have;
 * white space and comments separate them. Samples follow as text, or as binary numbers behind
 * exactly one byte of white space. A comment may begin in the middle of a token, and it ends with
 * the line, whose end belongs to it. A comment behind the last number of a header is therefore read
 * as the one byte of white space.
 */
#include <string.h>

#include "decimal/decimal.h"
#include "pictures/image_file.h"
#include "text/text.h"

typedef struct pnm {
    gbsi_text text;
    const gbs_image_read_options *options;
    size_t n_file;
    char magic;         /* '1' to '6' */
    uint32_t maxval;    /* 1 for bitmaps */
    const char *behind; /* the byte behind the last number of the header */
    gbsi_token width_at;
    uint64_t width, height;
} pnm;

static bool is_plain(const pnm *p)
{
    return p->magic <= '3';
}

static gbs_image_kind kind_of(const pnm *p)
{
    static const gbs_image_kind kinds[] = {GBS_IMAGE_BITMAP, GBS_IMAGE_GREY, GBS_IMAGE_COLOR};
    return kinds[(p->magic - '1') % 3];
}

static uint32_t n_channels(const pnm *p)
{
    return kind_of(p) == GBS_IMAGE_COLOR ? 3 : 1;
}

bool gbsi_is_pnm(const gbsi_input *input)
{
    const char *b = input->bytes;
    return input->n >= 3 && b[0] == 'P' && b[1] >= '1' && b[1] <= '6' &&
           (gbsi_is_blank(b[2]) || b[2] == '#');
}

/* ---- tokens ------------------------------------------------------------------------------ */

static void skip_comment(gbsi_text *text)
{
    const char *line_end = memchr(text->at, '\n', gbsi_text_left(text));
    text->at = line_end == NULL ? text->end : line_end + 1;
}

static void skip_blanks(gbsi_text *text)
{
    while (text->at < text->end && (gbsi_is_blank(*text->at) || *text->at == '#')) {
        if (*text->at == '#') {
            skip_comment(text);
        } else {
            text->at++;
        }
    }
}

static gbsi_token next_token(gbsi_text *text)
{
    skip_blanks(text);
    gbsi_token token = {.at = text->at};
    while (text->at < text->end && !gbsi_is_blank(*text->at) && *text->at != '#') {
        text->at++;
    }
    token.n = (size_t)(text->at - token.at);
    return token;
}

static gbs_status number(const gbsi_text *text, gbsi_token token, const char *expected,
                         uint64_t max, uint64_t *value, gbs_error *err)
{
    char shown[GBSI_SHOWN];
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

/* ---- header ------------------------------------------------------------------------------ */

/* Reads the one byte of white space before binary samples. */
static gbs_status read_separator(pnm *p, gbs_error *err)
{
    p->behind = p->text.at;
    if (p->text.at == p->text.end) {
        return gbsi_text_unexpected(&p->text, (gbsi_token){p->text.at, 0},
                                    "one byte of white space and the samples", err);
    }
    if (*p->text.at == '#') {
        skip_comment(&p->text);
    } else {
        p->text.at++;
    }
    return GBS_OK;
}

static gbs_status read_header(pnm *p, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint64_t maxval = 1;
    p->magic = p->text.at[1];
    p->text.at += 2;
    p->width_at = next_token(&p->text);
    GBSI_TRY(number(&p->text, p->width_at, "the width", UINT64_MAX, &p->width, err));
    GBSI_TRY(number(&p->text, next_token(&p->text), "the height", UINT64_MAX, &p->height, err));
    status = gbsi_image_check_size(p->width, p->height, n_channels(p), p->n_file, p->options, err);
    GBSI_TRY(gbsi_text_blame(&p->text, p->width_at, status, err));
    if (kind_of(p) != GBS_IMAGE_BITMAP) {
        gbsi_token token = next_token(&p->text);
        GBSI_TRY(number(&p->text, token, "the largest sample", 65535, &maxval, err));
        if (maxval == 0) {
            return gbsi_text_unexpected(&p->text, token, "the largest sample, 1 to 65535", err);
        }
    }
    p->maxval = (uint32_t)maxval;
    status = is_plain(p) ? GBS_OK : read_separator(p, err);

cleanup:
    return status;
}

/* ---- samples ----------------------------------------------------------------------------- */

static gbs_status above(const pnm *p, gbsi_token token, uint32_t value, gbs_error *err)
{
    return gbsi_text_fail(&p->text, token, err, "found a sample of %u, expected at most %u", value,
                          p->maxval);
}

/* Counts the work on samples, some thousands at a time. */
static gbs_status look(size_t sample, gbs_error *err)
{
    enum { AT_ONCE = 4096 };
    return sample % AT_ONCE == 0 ? gbsi_image_work(AT_ONCE, err) : GBS_OK;
}

static gbs_status read_plain(pnm *p, uint16_t *sample, size_t n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char shown[GBSI_SHOWN];
    gbsi_text *text = &p->text;
    for (size_t i = 0; i < n; i++) {
        uint64_t value = 0;
        GBSI_TRY(look(i, err));
        if (p->magic == '1') { /* samples of P1 are single digits, which need no separators */
            skip_blanks(text);
            gbsi_token token = {text->at, text->at < text->end};
            if (token.n == 0 || (*token.at != '0' && *token.at != '1')) {
                return gbsi_text_unexpected(text, token, "a pixel: 0 or 1", err);
            }
            value = *text->at++ == '1';
        } else {
            gbsi_token token = next_token(text);
            GBSI_TRY(number(text, token, "a sample", UINT32_MAX, &value, err));
            if (value > p->maxval) {
                return above(p, token, (uint32_t)value, err);
            }
        }
        sample[i] = (uint16_t)value;
    }
    gbsi_token rest = next_token(text);
    if (rest.n != 0) {
        status = gbsi_text_fail(text, rest, err,
                                "found %s, expected the end of the file after the last sample",
                                gbsi_token_show(rest, shown));
    }

cleanup:
    return status;
}

static gbs_status read_bits(const pnm *p, uint16_t *sample, gbs_error *err)
{
    const unsigned char *bytes = (const unsigned char *)p->text.at;
    for (uint64_t y = 0; y < p->height; y++) {
        GBSI_PASS(gbsi_image_work(p->width, err));
        for (uint64_t x = 0; x < p->width; x++) {
            sample[y * p->width + x] = bytes[x / 8] >> (7 - x % 8) & 1;
        }
        bytes += (p->width + 7) / 8;
    }
    return GBS_OK;
}

static gbs_status read_bytes(const pnm *p, uint16_t *sample, size_t n, gbs_error *err)
{
    const unsigned char *bytes = (const unsigned char *)p->text.at;
    size_t n_bytes = p->maxval > 255 ? 2 : 1;
    for (size_t i = 0; i < n; i++) {
        const unsigned char *b = bytes + i * n_bytes;
        GBSI_PASS(look(i, err));
        uint32_t value = n_bytes == 2 ? (uint32_t)b[0] << 8 | b[1] : b[0];
        if (value > p->maxval) {
            return gbsi_fail(
                err, GBS_ERR_FORMAT, "%s: byte %zu: found a sample of %u, expected at most %u",
                p->text.name, (size_t)((const char *)b - p->text.begin), value, p->maxval);
        }
        sample[i] = (uint16_t)value;
    }
    return GBS_OK;
}

/* Checks the bytes behind the samples of a binary file. */
static gbs_status check_rest(const pnm *p, size_t needed, gbs_error *err)
{
    const char *rest = p->text.at + needed;
    size_t n = gbsi_text_left(&p->text) - needed;
    if (n == 1 && p->behind[0] == '\r' && p->behind[1] == '\n') {
        return gbsi_text_fail(&p->text, (gbsi_token){p->behind, 2}, err,
                              "found CR LF behind the header and one byte too many, expected a "
                              "single byte of white space: somebody changed the line ends, which "
                              "shifts the whole picture by one byte");
    }
    if (n >= 2 && rest[0] == 'P' && rest[1] >= '1' && rest[1] <= '7') {
        gbsi_image_warn(p->options, p->text.name, "holds several pictures; only the first is read");
        return GBS_OK;
    }
    while (n > 0 && gbsi_is_blank(*rest)) {
        rest++;
        n--;
    }
    return n == 0 ? GBS_OK
                  : gbsi_fail(err, GBS_ERR_FORMAT,
                              "%s: byte %zu: found %zu more bytes, expected the end of the file "
                              "after the last sample",
                              p->text.name, (size_t)(rest - p->text.begin), n);
}

/* Checks that the rest of the file holds at least the bytes that the samples need. If bytes follow
 * binary samples, check_rest() refuses them. */
static gbs_status check_length(const pnm *p, size_t needed, gbs_error *err)
{
    size_t left = gbsi_text_left(&p->text);
    if (left < needed) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: byte %zu: found the end of the file, expected samples for %llu x "
                         "%llu pixels: at least %zu bytes, of which %zu are there",
                         p->text.name, p->n_file, (unsigned long long)p->width,
                         (unsigned long long)p->height, needed, left);
    }
    return GBS_OK;
}

static size_t least_bytes(const pnm *p, size_t n)
{
    switch (p->magic) {
    case '1':
        return n;
    case '2':
    case '3':
        return 2 * n - 1;
    case '4':
        return (size_t)((p->width + 7) / 8 * p->height);
    default:
        return n * (p->maxval > 255 ? 2 : 1);
    }
}

static gbs_status read_samples(pnm *p, uint16_t *sample, size_t n, size_t needed, gbs_error *err)
{
    if (is_plain(p)) {
        return read_plain(p, sample, n, err);
    }
    gbs_status status = check_rest(p, needed, err);
    if (status == GBS_OK && p->magic == '4') {
        status = read_bits(p, sample, err);
    } else if (status == GBS_OK) {
        status = read_bytes(p, sample, n, err);
    }
    return status;
}

gbs_status gbsi_pnm_read(const gbsi_input *input, const gbs_image_read_options *options,
                         gbs_image *image, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_image made = {0};
    pnm p = {.options = options, .n_file = input->n};
    p.text = (gbsi_text){.name = input->name,
                         .begin = input->bytes,
                         .at = input->bytes,
                         .end = input->bytes + input->n};
    GBSI_TRY(read_header(&p, err));
    size_t n = (size_t)(p.width * p.height) * n_channels(&p);
    size_t needed = least_bytes(&p, n);
    GBSI_TRY(check_length(&p, needed, err));
    GBSI_TRY(gbsi_image_new(input->name, kind_of(&p), (uint32_t)p.width, (uint32_t)p.height,
                            p.maxval, 0, &made, err));
    GBSI_TRY(read_samples(&p, made.sample, n, needed, err));
    *image = made;
    made.sample = NULL;

cleanup:
    gbs_image_free(&made);
    return status;
}
