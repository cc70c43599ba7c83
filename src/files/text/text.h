/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts text into tokens. The place of a token is its line and column, each counted from 1,
 * columns in characters. Places are counted only when a message needs them. */
#ifndef GBSI_TEXT_TEXT_H
#define GBSI_TEXT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/watch.h"
#include "gibbsite/io.h"
#include "text/input.h"

typedef struct gbsi_token {
    const char *at; /* first character, in the text; no 0 ends the token */
    size_t n;       /* number of bytes; 0 at the end of the file */
} gbsi_token;

/* A position in a text. With a copy of the struct, a caller can look ahead. */
typedef struct gbsi_text {
    const char *name;
    const char *begin;
    const char *at;
    const char *end;
    const gbs_read_options *options; /* never NULL */
    gbsi_watch *watch;               /* the time limit in force */
    /* a token that starts with this sign hides the rest of its line; 0: no such sign */
    char comment;
    bool is_glued; /* the comment sign also begins a comment within a word, and ends the word */
} gbsi_text;

/* Begins to read a text. Skips a byte-order mark and refuses NUL bytes. The input and the
 * options are borrowed; the options may be NULL. */
gbs_status gbsi_text_open(gbsi_text *text, const gbsi_input *input, const gbs_read_options *options,
                          gbs_error *err);

/* Whether c is a space, tab, CR, LF, FF or VT. */
static inline bool gbsi_is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* @return the next run of characters that are not blank, or the empty token at the end of the
 *   file. */
gbsi_token gbsi_text_next(gbsi_text *text);
gbsi_token gbsi_text_peek(const gbsi_text *text);
/* @return the token at or behind a position that text->at has had, for messages about tokens that
 *   were read. */
gbsi_token gbsi_text_at(const gbsi_text *text, const char *at);
size_t gbsi_text_left(const gbsi_text *text);           /* number of bytes left */
bool gbsi_token_is(gbsi_token token, const char *word); /* whether the token is exactly `word` */
bool gbsi_token_is_any_case(gbsi_token token, const char *word); /* `word` must be in capitals */

/* Reads a number, or fails with a message that says what was expected, such as "a state". */
gbs_status gbsi_text_integer(gbsi_text *text, const char *expected, uint64_t max, uint64_t *value,
                             gbs_error *err);
/* Reads the number of a variable. @param n number of variables of the model. */
gbs_status gbsi_text_variable(gbsi_text *text, uint32_t n, uint32_t *variable, gbs_error *err);
/* Reads a double, which may be infinite or NaN. *underflow (may be NULL) counts numbers that
 * round to zero. */
gbs_status gbsi_text_double(gbsi_text *text, const char *expected, double *value, size_t *underflow,
                            gbs_error *err);
/* Reads the number of items that follow, and compares it with the bytes left.
 * @param least_bytes smallest number of bytes of an item, including its separator. */
gbs_status gbsi_text_count(gbsi_text *text, const char *expected, size_t least_bytes,
                           uint64_t *value, gbs_error *err);

/* Fails with GBS_ERR_FORMAT and "NAME:LINE:COLUMN: ..." at a token. */
gbs_status gbsi_text_fail(const gbsi_text *text, gbsi_token token, gbs_error *err,
                          const char *format, ...) GBSI_PRINTF(4, 5);
/* Fails as gbsi_text_fail() does, but with GBS_ERR_UNSUPPORTED. For parts of a format that the
 * reader does not support. */
gbs_status gbsi_text_unsupported(const gbsi_text *text, gbsi_token token, gbs_error *err,
                                 const char *format, ...) GBSI_PRINTF(4, 5);
/* Fails with "found TOKEN, expected ...". The token may have any length and any bytes, and the
 * message shows it safely. */
gbs_status gbsi_text_unexpected(const gbsi_text *text, gbsi_token token, const char *expected,
                                gbs_error *err);
/* Reports a deviation from the format. Fails, or warns and returns GBS_OK if the options are
 * lenient. */
gbs_status gbsi_text_deviation(const gbsi_text *text, gbsi_token token, gbs_error *err,
                               const char *format, ...) GBSI_PRINTF(4, 5);
/* Reports a deviation unless only blanks follow. */
gbs_status gbsi_text_expect_end(gbsi_text *text, const char *last, gbs_error *err);
/* Adds the place in the file to a failure of a call that does not know the file.
 * GBS_ERR_ARGUMENT becomes GBS_ERR_FORMAT. The message of such a failure, and of GBS_ERR_LIMIT,
 * then begins with the place.
 * @param err the error as the call left it. */
gbs_status gbsi_text_blame(const gbsi_text *text, gbsi_token token, gbs_status status,
                           gbs_error *err);

/* Gives one warning that begins with the name of the file. */
void gbsi_text_warn(const gbsi_text *text, const char *format, ...) GBSI_PRINTF(2, 3);

/* Writes a token as a text for messages. The text is in quotes, has escapes for bytes that do not
 * print, and is cut if the token is long. */
#define GBSI_SHOWN 96
const char *gbsi_token_show(gbsi_token token, char shown[GBSI_SHOWN]);

/* @return the length of the well-formed UTF-8 sequence at the beginning of text[0 .. n); 0 if the
 *   text does not begin with one. Stray bytes, and overlong, surrogate or cut sequences, are not
 *   well-formed. */
size_t gbsi_utf8_length(const char *text, size_t n);
/* Whether gbsi_input_decode() reads the encoding of that name. */
bool gbsi_encoding_is_latin(gbsi_token name);
/* Whether text[0 .. n) begins with a character that ends lines or moves cursors. */
bool gbsi_is_control(const char *text, size_t n);

#endif
