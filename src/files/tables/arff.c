/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the header of ARFF files, as Weka writes them: "@relation NAME", "@attribute NAME TYPE"
 * for each column, "@data". A type is a word, or a list of values in braces. Lines that begin
 * with % are comments. */
#include <string.h>
#include <strings.h>

#include "tables/sheet_internal.h"

static bool is_inner_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(gbsi_text *t)
{
    while (t->at < t->end && is_inner_blank(*t->at)) {
        t->at++;
    }
}

static void skip_line(gbsi_text *t)
{
    const char *end = memchr(t->at, '\n', gbsi_text_left(t));
    t->at = end == NULL ? t->end : end + 1;
}

/* Skips empty lines and comments. */
static void skip_to_line(gbsi_text *t)
{
    for (skip_blanks(t); t->at < t->end && (*t->at == '\n' || *t->at == '%'); skip_blanks(t)) {
        skip_line(t);
    }
}

/* Reads a word of letters, which may begin with @. */
static gbsi_token read_word(gbsi_text *t)
{
    gbsi_token word = {t->at, 0};
    while (t->at < t->end && !is_inner_blank(*t->at) && *t->at != '\n' && *t->at != '{') {
        t->at++;
        word.n++;
    }
    return word;
}

static bool is_word(gbsi_token word, const char *text)
{
    return word.n == strlen(text) && strncasecmp(word.at, text, word.n) == 0;
}

bool gbsi_arff_begins(const gbsi_text *text)
{
    gbsi_text t = *text;
    skip_to_line(&t);
    return is_word(read_word(&t), "@relation");
}

gbs_status gbsi_arff_quoted(gbsi_sheet *s, gbs_error *err)
{
    gbsi_text *t = &s->text;
    const char *begin = t->at;
    const char quote = *t->at++;
    while (t->at < t->end && *t->at != quote && *t->at != '\n') {
        t->at += *t->at == '\\' && t->at + 1 < t->end && t->at[1] != '\n';
        GBSI_PASS(gbsi_sheet_add_bytes(s, t->at, 1, err));
        t->at++;
    }
    if (t->at == t->end || *t->at != quote) {
        return gbsi_text_fail(t, (gbsi_token){begin, 1}, err,
                              "found the end of the line in a text that begins with %c, expected "
                              "%c that ends it",
                              quote, quote);
    }
    t->at++;
    return GBS_OK;
}

/* Reads a type. @param numeric out: whether the type is a word instead of a list of values. */
static gbs_status read_type(gbsi_text *t, bool *numeric, gbs_error *err)
{
    static const char *const types[] = {"numeric", "real", "integer", "string", "date"};
    skip_blanks(t);
    const gbsi_token at = {t->at, 1};
    *numeric = at.at == t->end || *at.at != '{';
    if (!*numeric) {
        const char *line = memchr(t->at, '\n', gbsi_text_left(t));
        const size_t n = line == NULL ? gbsi_text_left(t) : (size_t)(line - t->at);
        return memchr(t->at, '}', n) != NULL
                   ? GBS_OK
                   : gbsi_text_fail(t, at, err,
                                    "found a list of values that does not end on its line, "
                                    "expected '}'");
    }
    const gbsi_token type = read_word(t);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (is_word(type, types[i])) {
            return GBS_OK;
        }
    }
    return gbsi_text_unexpected(t, type,
                                "a list of values in braces, or numeric, real, integer, string or "
                                "date",
                                err);
}

static gbs_status read_attribute(gbsi_sheet *s, gbs_error *err)
{
    gbsi_text *t = &s->text;
    bool numeric = false;
    skip_blanks(t);
    const char *place = t->at;
    const size_t first = s->n_bytes;
    const bool quoted = t->at < t->end && (*t->at == '\'' || *t->at == '"');
    if (quoted) {
        GBSI_PASS(gbsi_arff_quoted(s, err));
    } else {
        const gbsi_token name = read_word(t);
        GBSI_PASS(gbsi_sheet_add_bytes(s, name.at, name.n, err));
    }
    if (s->n_bytes == first) {
        return gbsi_text_unexpected(t, (gbsi_token){place, 0}, "the name of an attribute", err);
    }
    GBSI_PASS(gbsi_sheet_add_cell(s, place, first, quoted, err));
    GBSI_PASS(read_type(t, &numeric, err));
    ((gbsi_cell *)s->row_cells)[s->n_cells - 1].numeric = numeric;
    return GBS_OK;
}

gbs_status gbsi_arff_header(gbsi_sheet *s, gbs_error *err)
{
    gbsi_text *t = &s->text;
    s->is_arff = true;
    s->separator = ',';
    t->comment = '%';
    s->n_cells = 0;
    s->n_bytes = 0;
    for (skip_to_line(t); t->at < t->end; skip_to_line(t)) {
        const gbsi_token word = read_word(t);
        if (is_word(word, "@data")) {
            skip_line(t);
            break;
        }
        if (is_word(word, "@attribute")) {
            GBSI_PASS(read_attribute(s, err));
        } else if (!is_word(word, "@relation")) {
            return gbsi_text_unexpected(t, word, "@attribute or @data", err);
        }
        skip_line(t);
    }
    return s->n_cells > 0 ? GBS_OK
                          : gbsi_text_unexpected(t, (gbsi_token){t->at, 0},
                                                 "an @attribute for each column", err);
}
