/* SPDX-License-Identifier: Apache-2.0 */
/* Text cut into tokens. Places (line and column, both from 1, columns in characters) are
 * counted only when a message needs them. */
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
    const char *at; /* into the text, not ended by 0 */
    size_t n;       /* 0: the end of the file */
} gbsi_token;

/* A position in a text. May be copied to look ahead. */
typedef struct gbsi_text {
    const char *name;
    const char *begin;
    const char *at;
    const char *end;
    const gbs_read_options *options; /* never NULL */
    gbsi_watch *watch;               /* in force */
    char comment;  /* a token that starts so hides the rest of its line; 0: none */
    bool is_glued; /* the sign also begins a comment within a word, and ends the word */
} gbsi_text;

/* Skips a byte-order mark and refuses NUL bytes. Input and options (NULL is fine) are borrowed. */
gbs_status gbsi_text_open(gbsi_text *text, const gbsi_input *input, const gbs_read_options *options,
                          gbs_error *err);

/* Whether c is a space, tab, CR, LF, FF or VT. */
static inline bool gbsi_is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* @return the next run of characters without blanks; the empty token at the end of the file. */
gbsi_token gbsi_text_next(gbsi_text *text);
gbsi_token gbsi_text_peek(const gbsi_text *text);
/* @return the token at or behind a place where text->at has been: for messages about tokens that
 * were read. */
gbsi_token gbsi_text_at(const gbsi_text *text, const char *at);
size_t gbsi_text_left(const gbsi_text *text);                    /* bytes */
bool gbsi_token_is(gbsi_token token, const char *word);          /* letter by letter */
bool gbsi_token_is_any_case(gbsi_token token, const char *word); /* word in capitals */

/* Reads a number, or fails with a message that says what was expected, such as "a state". */
gbs_status gbsi_text_integer(gbsi_text *text, const char *expected, uint64_t max, uint64_t *value,
                             gbs_error *err);
/* Reads the number of a variable of a model of n. */
gbs_status gbsi_text_variable(gbsi_text *text, uint32_t n, uint32_t *variable, gbs_error *err);
/* Reads a double. *underflow (may be NULL) counts numbers that round to zero. Infinity and NaN
 * are read as such. */
gbs_status gbsi_text_double(gbsi_text *text, const char *expected, double *value, size_t *underflow,
                            gbs_error *err);
/* Reads the number of things that take at least least_bytes each (their separator included). */
gbs_status gbsi_text_count(gbsi_text *text, const char *expected, size_t least_bytes,
                           uint64_t *value, gbs_error *err);

/* Fails with GBS_ERR_FORMAT and "NAME:LINE:COLUMN: ..." at a token. */
gbs_status gbsi_text_fail(const gbsi_text *text, gbsi_token token, gbs_error *err,
                          const char *format, ...) GBSI_PRINTF(4, 5);
/* Fails as gbsi_text_fail() does, but with GBS_ERR_UNSUPPORTED: for parts of a format that are not
 * read here. */
gbs_status gbsi_text_unsupported(const gbsi_text *text, gbsi_token token, gbs_error *err,
                                 const char *format, ...) GBSI_PRINTF(4, 5);
/* Fails with "found TOKEN, expected ...", in which a token of any length and bytes is shown
 * safely. */
gbs_status gbsi_text_unexpected(const gbsi_text *text, gbsi_token token, const char *expected,
                                gbs_error *err);
/* Reports a deviation from the format: an error, or if lenient a warning, and GBS_OK is
 * returned. */
gbs_status gbsi_text_deviation(const gbsi_text *text, gbsi_token token, gbs_error *err,
                               const char *format, ...) GBSI_PRINTF(4, 5);
/* Fails unless nothing but blanks follows (a deviation). */
gbs_status gbsi_text_expect_end(gbsi_text *text, const char *last, gbs_error *err);
/* Adds the place in the file to a failure of a call that knows nothing of files. GBS_ERR_ARGUMENT
 * becomes GBS_ERR_FORMAT; the place comes in front of its message and of the message of
 * GBS_ERR_LIMIT. err is as the call left it. */
gbs_status gbsi_text_blame(const gbsi_text *text, gbsi_token token, gbs_status status,
                           gbs_error *err);

/* Gives one warning, with the name of the file in front. */
void gbsi_text_warn(const gbsi_text *text, const char *format, ...) GBSI_PRINTF(2, 3);

/* Makes a token fit for a message: quoted, bytes that do not print escaped, cut if long. */
#define GBSI_SHOWN 96
const char *gbsi_token_show(gbsi_token token, char shown[GBSI_SHOWN]);

/* @return the length of the well-formed UTF-8 sequence of a printable or other character at
 * text[0 .. n), 0 if there is none (stray, overlong, surrogate or cut bytes). */
size_t gbsi_utf8_length(const char *text, size_t n);
/* Whether gbsi_input_decode() reads the encoding of that name. */
bool gbsi_encoding_is_latin(gbsi_token name);
/* Whether one that begins text[0 .. n) ends lines or moves cursors. */
bool gbsi_is_control(const char *text, size_t n);

#endif
