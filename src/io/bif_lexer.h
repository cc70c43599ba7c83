/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of BIF 0.15. What ends a word depends on where it stands: state names may be any run such
 * as <5 or [1-2], and inside parentheses numbers are names. */
#ifndef GBSI_IO_BIF_LEXER_H
#define GBSI_IO_BIF_LEXER_H

#include "io/text.h"

typedef enum gbsi_bif_place {
    GBSI_BIF_PLAIN, /* '|' separates like ',' */
    GBSI_BIF_TYPE,  /* and '[' and ']' are tokens: type discrete[2] */
    GBSI_BIF_STATE, /* '|', '[' and ']' are letters */
} gbsi_bif_place;

typedef struct gbsi_bif_token {
    char kind;        /* 'w' word, 'q' quoted, 0 end of file, or one of {}();[] */
    gbsi_token text;  /* without quotes; empty at the end of the file */
    gbsi_token shown; /* for messages: with quotes */
} gbsi_bif_token;

/* Skips blanks, commas and comments. Fails on what is not closed, and on an empty name in quotes.
 */
gbs_status gbsi_bif_next(gbsi_text *text, gbsi_bif_place place, gbsi_bif_token *token,
                         gbs_error *err);
/* The same, and the token must be of that kind: '{', say. */
gbs_status gbsi_bif_expect(gbsi_text *text, gbsi_bif_place place, char kind, gbs_error *err);
/* A word or a quoted name. @param expected what it names, for the message. */
gbs_status gbsi_bif_name(gbsi_text *text, gbsi_bif_place place, const char *expected,
                         gbsi_token *name, gbs_error *err);
/* After the word property: on to the next semicolon. */
gbs_status gbsi_bif_skip_property(gbsi_text *text, gbs_error *err);
bool gbsi_bif_is_word(const gbsi_bif_token *token, const char *word);

#endif
