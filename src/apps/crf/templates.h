/* SPDX-License-Identifier: Apache-2.0 */
/* Feature templates are lines in which %x[row,column] stands for a text near a token. */
#ifndef GBSI_CRF_TEMPLATES_H
#define GBSI_CRF_TEMPLATES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "gibbsite/crf.h"
#include "text/text.h"

/* ---- sequences.c ---------------------------------------------------------------------------- */

struct gbs_sequences {
    char *name;  /* name of the file */
    char *bytes; /* bytes of the file, in which each text ends with 0 */
    uint32_t n_columns;
    size_t n, n_tokens;
    size_t *first;        /* [n + 1] first token of each sequence */
    const char **text;    /* [n_tokens][n_columns] texts, which point into `bytes` */
    uint64_t *line;       /* [n_tokens] number of the token's line, from 1 */
    size_t text_capacity; /* allocated entries of `text` while the file is read */
    size_t line_capacity, first_capacity;
};

/* ---- templates.c ---------------------------------------------------------------------------- */

typedef enum gbsi_piece_kind {
    GBSI_PIECE_WORDS,   /* text without a macro */
    GBSI_PIECE_TEXT,    /* %x: the text */
    GBSI_PIECE_MATCHED, /* %m: the part of the text that a pattern matches */
    GBSI_PIECE_TEST,    /* %t: "true" or "false": whether the pattern matches */
} gbsi_piece_kind;

typedef struct gbsi_piece {
    gbsi_piece_kind kind;
    bool lower;    /* whether the text is changed to small letters */
    bool absolute; /* whether the row is counted from the beginning of the sequence; a negative row
                      is counted from the end */
    int32_t row;
    uint32_t column;
    const char *at; /* [n] words or pattern; points into `line` */
    size_t n;
} gbsi_piece;

typedef struct gbsi_template {
    char *line; /* [n] line of the template, owned */
    size_t n;
    gbsi_piece *piece; /* [n_pieces] pieces, owned */
    size_t n_pieces, capacity;
} gbsi_template;

/* The templates of a model. Zero-initialise the struct, then set `style`. */
typedef struct gbsi_templates {
    gbs_template_style style;
    gbsi_template *of; /* [n] templates */
    size_t n, capacity;
    uint32_t n_columns; /* number of columns that the templates need */
    bool links;         /* whether some templates define links or features of links */
} gbsi_templates;

/* The first character of a feature says which labels its weights depend on. With u the weights
 * depend on the label of the token, with b on this label and the previous label. With * the feature
 * has both kinds of weights. A template with s gives features of the labels of two linked tokens
 * [M65]. Two tokens of a sequence are linked if their texts after = are equal and not empty. */
static inline bool gbsi_has_unigram(char first)
{
    return first == 'U' || first == 'u' || first == '*';
}
static inline bool gbsi_has_bigram(char first)
{
    return first == 'B' || first == 'b' || first == '*';
}
static inline bool gbsi_has_link(char first)
{
    return first == 's' || first == 'S';
}
static inline bool gbsi_is_key(char first)
{
    return first == '=';
}
/* @return whether a feature has a weight for each pair of labels. */
static inline bool gbsi_has_pairs(char first)
{
    return gbsi_has_bigram(first) || gbsi_has_link(first);
}

/* Adds a template. @param line the template. @param text the text that contains the line, for
 * messages. */
gbs_status gbsi_templates_add(gbsi_templates *templates, const gbsi_text *text, gbsi_token line,
                              gbs_error *err);
void gbsi_templates_free(gbsi_templates *templates);
/* Checks that templates with features of links and templates that define links are either both
 * present or both absent. @param at position for the message. */
gbs_status gbsi_templates_check(const gbsi_templates *templates, const gbsi_text *text,
                                gbsi_token at, gbs_error *err);

/* The text of an expanded template. Zero-initialise the struct. */
typedef struct gbsi_expansion {
    char *at; /* [n] text */
    size_t n, capacity;
    size_t *room; /* scratch memory of patterns */
    size_t room_capacity;
} gbsi_expansion;

void gbsi_expansion_free(gbsi_expansion *expansion);

/* Makes the text of a template's feature at a token of the sequence [first, end). */
gbs_status gbsi_template_expand(const gbsi_templates *templates, size_t k,
                                const gbs_sequences *data, size_t first, size_t end, size_t token,
                                gbsi_expansion *out, gbs_error *err);

/* ---- pattern.c ------------------------------------------------------------------------------ */

/* The patterns of Wapiti's templates. Any character stands for itself; "." for any character; \a
 * for letters, \d digits, \l small letters, \u capitals, \w letters and digits, \p punctuation, \s
 * white space, and the same letter in capitals for every character outside that class. \ in front
 * of any other character makes it stand for itself. "*" behind a character matches any number of
 * this character, and "?" matches one or none. "^" at the beginning and "$" at the end tie the
 * pattern to the ends of the text. All classes are sets of ASCII characters. */
/* @return NULL, or the position of a "*" or "?" that follows no character. */
const char *gbsi_pattern_check(const char *pattern, size_t n);

/* Finds the first match of the pattern in a text. "*" matches as few characters as possible, and
 * "?" one character if possible. @param room [n + n_text + 1] scratch. @return false if the pattern
 * does not match; the outputs are then 0. */
bool gbsi_pattern_find(const char *pattern, size_t n, const char *text, size_t n_text, size_t *room,
                       size_t *begin, size_t *length);

#endif
