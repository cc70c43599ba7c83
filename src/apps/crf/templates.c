/* SPDX-License-Identifier: Apache-2.0 */
#include "crf/templates.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

#define MOST_ROW    1000000 /* largest row number, without its sign, in templates of Wapiti */
#define MOST_COLUMN 1000000u
#define CRFPP_ROW   8 /* largest row number, without its sign, that CRF++ allows */
#define WAPITI_NAMED \
    4 /* number of rows beyond each end of a sequence to which Wapiti gives names of their own */
#define BEYOND_SIZE 32 /* bytes of the name of a row beyond the ends of a sequence */

/* ---- reading ------------------------------------------------------------------------------- */

/* A line that is being read. Positions in messages refer to the text that contains the line. */
typedef struct reading {
    const gbsi_text *text;
    const char *at, *end;
    bool wapiti; /* whether the style is Wapiti's */
    gbs_error *err;
} reading;

static gbs_status unexpected(const reading *r, const char *expected)
{
    const size_t left = (size_t)(r->end - r->at);
    if (left == 0) {
        return gbsi_text_fail(r->text, (gbsi_token){r->at, 0}, r->err,
                              "found the end of the template, expected %s", expected);
    }
    return gbsi_text_unexpected(r->text, (gbsi_token){r->at, left}, expected, r->err);
}

static bool skips(reading *r, char c)
{
    const bool there = r->at < r->end && *r->at == c;
    r->at += there;
    return there;
}

/* Skips blanks inside a macro. Wapiti allows them, CRF++ does not. */
static void skip_blanks(reading *r)
{
    while (skips(r, ' ') || skips(r, '\t')) {
    }
}

static gbs_status expect(reading *r, char c, const char *expected)
{
    skip_blanks(r);
    return skips(r, c) ? GBS_OK : unexpected(r, expected);
}

static gbs_status read_number(reading *r, bool with_sign, int32_t most, const char *expected,
                              int32_t *value)
{
    const char *begin = r->at;
    skip_blanks(r);
    const bool negative = with_sign && skips(r, '-');
    int32_t magnitude = 0;
    r->at += with_sign && !negative && r->at < r->end && *r->at == '+';
    const char *digits = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9' && magnitude <= most) {
        magnitude = 10 * magnitude + (*r->at++ - '0');
    }
    if (r->at == digits || magnitude > most) {
        r->at = begin;
        return unexpected(r, expected);
    }
    *value = negative ? -magnitude : magnitude;
    return GBS_OK;
}

/* Reads "pattern" in quotes; a backslash escapes a quote in the pattern. */
static gbs_status read_pattern(reading *r, gbsi_piece *piece)
{
    GBSI_PASS(expect(r, ',', "a comma and a pattern in quotes"));
    GBSI_PASS(expect(r, '"', "a pattern in quotes"));
    piece->at = r->at;
    while (r->at < r->end && *r->at != '"') {
        r->at += *r->at == '\\' && r->end - r->at > 1 ? 2 : 1;
    }
    piece->n = (size_t)(r->at - piece->at);
    GBSI_PASS(expect(r, '"', "the quote that ends the pattern"));
    const char *bad = gbsi_pattern_check(piece->at, piece->n);
    if (bad != NULL) {
        r->at = bad;
        return unexpected(r, "a character of the pattern, or \\ in front of it");
    }
    return GBS_OK;
}

/* Reads "x[row,column]" or another macro, after "%". */
static gbs_status read_macro(reading *r, gbsi_piece *piece)
{
    static const char letters[] = "xmtXMT";
    static const gbsi_piece_kind kinds[] = {GBSI_PIECE_TEXT, GBSI_PIECE_MATCHED, GBSI_PIECE_TEST};
    const bool wapiti = r->wapiti;
    const char *letter =
        r->at < r->end ? memchr(letters, *r->at, wapiti ? sizeof letters - 1 : 1) : NULL;
    int32_t column = 0;
    if (letter == NULL) {
        return unexpected(r, wapiti ? "x, m or t, or one of these in capitals" : "x");
    }
    piece->kind = kinds[(letter - letters) % 3];
    piece->lower = letter >= letters + 3;
    r->at++;
    GBSI_PASS(expect(r, '[', "[row,column]"));
    skip_blanks(r);
    piece->absolute = wapiti && skips(r, '@');
    if (wapiti && r->at < r->end && *r->at == '*') {
        return gbsi_text_unsupported(r->text, (gbsi_token){r->at, 1}, r->err,
                                     "rows that a column names (*) are not supported");
    }
    GBSI_PASS(read_number(r, true, wapiti ? MOST_ROW : CRFPP_ROW,
                          wapiti ? "a row of at most 1000000 before or behind the token"
                                 : "a row from -8 to 8",
                          &piece->row));
    GBSI_PASS(expect(r, ',', "a comma and a column"));
    GBSI_PASS(read_number(r, false, (int32_t)MOST_COLUMN, "a column, a number from 0 to 1000000",
                          &column));
    piece->column = (uint32_t)column;
    if (piece->kind != GBSI_PIECE_TEXT) {
        GBSI_PASS(read_pattern(r, piece));
    }
    return expect(r, ']', "]");
}

static gbs_status read_pieces(reading *r, gbsi_template *t)
{
    while (r->at < r->end) {
        gbsi_piece piece = {.kind = GBSI_PIECE_WORDS, .at = r->at};
        if (skips(r, '%')) {
            GBSI_PASS(read_macro(r, &piece));
        } else {
            const char *percent = memchr(r->at, '%', (size_t)(r->end - r->at));
            r->at = percent == NULL ? r->end : percent;
            piece.n = (size_t)(r->at - piece.at);
        }
        GBSI_PASS(gbsi_reserve((void **)&t->piece, &t->capacity, t->n_pieces + 1, sizeof *t->piece,
                               "templates", r->err));
        t->piece[t->n_pieces++] = piece;
    }
    return GBS_OK;
}

static void template_free(gbsi_template *t)
{
    GBSI_FREE(t->line, t->piece);
}

gbs_status gbsi_templates_add(gbsi_templates *templates, const gbsi_text *text, gbsi_token line,
                              gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_template t = {.n = line.n};
    reading r = {.text = text,
                 .at = line.at,
                 .end = line.at + line.n,
                 .wapiti = templates->style == GBS_TEMPLATES_WAPITI,
                 .err = err};
    const char *const letters = r.wapiti ? "uUbB*sS=" : "UB";
    if (line.n == 0 || strchr(letters, line.at[0]) == NULL) {
        return unexpected(&r, r.wapiti ? "a template, which begins with u, b, *, s or ="
                                       : "a template, which begins with U or B");
    }
    GBSI_TRY(read_pieces(&r, &t));
    GBSI_TRY(gbsi_reserve((void **)&templates->of, &templates->capacity, templates->n + 1,
                          sizeof *templates->of, "templates", err));
    t.line = gbsi_alloc(line.n);
    GBSI_TRY(GBSI_HAVE(err, "templates", t.line));
    memcpy(t.line, line.at, line.n);
    for (size_t k = 0; k < t.n_pieces; k++) {
        gbsi_piece *piece = &t.piece[k];
        if (piece->at != NULL) {
            piece->at = t.line + (piece->at - line.at);
        }
        if (piece->kind != GBSI_PIECE_WORDS && piece->column >= templates->n_columns) {
            templates->n_columns = piece->column + 1;
        }
    }
    templates->of[templates->n++] = t;
    templates->links = templates->links || gbsi_has_link(t.line[0]) || gbsi_is_key(t.line[0]);
    return GBS_OK;

cleanup:
    template_free(&t);
    return status;
}

gbs_status gbsi_templates_check(const gbsi_templates *templates, const gbsi_text *text,
                                gbsi_token at, gbs_error *err)
{
    bool keys = false;
    bool features = false;
    for (size_t k = 0; k < templates->n; k++) {
        keys = keys || gbsi_is_key(templates->of[k].line[0]);
        features = features || gbsi_has_link(templates->of[k].line[0]);
    }
    if (keys != features) {
        return gbsi_text_fail(text, at, err, "found templates that begin with %s, expected also %s",
                              keys ? "=, which link tokens" : "s, of features of linked tokens",
                              keys ? "one of the features of linked tokens, which begins with s"
                                   : "one that says which tokens are linked, which begins with =");
    }
    return GBS_OK;
}

void gbsi_templates_free(gbsi_templates *templates)
{
    for (size_t k = 0; k < templates->n; k++) {
        template_free(&templates->of[k]);
    }
    gbsi_free(templates->of);
    *templates = (gbsi_templates){0};
}

/* ---- expanding ----------------------------------------------------------------------------- */

void gbsi_expansion_free(gbsi_expansion *expansion)
{
    GBSI_FREE(expansion->at, expansion->room);
}

static gbs_status append(gbsi_expansion *out, const char *at, size_t n, bool lower, gbs_error *err)
{
    GBSI_PASS(gbsi_reserve((void **)&out->at, &out->capacity, out->n + n, 1, "features", err));
    for (size_t i = 0; i < n; i++) {
        const bool capital = lower && at[i] >= 'A' && at[i] <= 'Z';
        out->at[out->n++] = (char)(capital ? at[i] - 'A' + 'a' : at[i]);
    }
    return GBS_OK;
}

/* Makes the name of a row beyond the ends of a sequence: _B-1, _B+1, ...; for Wapiti _x-1 to _x-4,
 * then _x-#. @param distance 1 for the row next to the sequence. */
static void name_beyond(gbs_template_style style, char sign, uint64_t distance,
                        char name[BEYOND_SIZE])
{
    if (style == GBS_TEMPLATES_WAPITI && distance > WAPITI_NAMED) {
        (void)snprintf(name, BEYOND_SIZE, "_x%c#", sign);
    } else {
        (void)snprintf(name, BEYOND_SIZE, "_%c%c%" PRIu64,
                       style == GBS_TEMPLATES_WAPITI ? 'x' : 'B', sign, distance);
    }
}

/* @return the text that a macro refers to. @param name memory for the name of a row beyond the
 * ends. */
static const char *text_at(gbs_template_style style, const gbsi_piece *piece,
                           const gbs_sequences *data, size_t first, size_t end, size_t token,
                           char name[BEYOND_SIZE])
{
    const int64_t n = (int64_t)(end - first);
    const int64_t here = (int64_t)(token - first);
    /* @1 is the first token of the sequence, @-1 the last */
    const int64_t row = !piece->absolute ? here + piece->row
                        : piece->row < 0 ? n + piece->row
                                         : (int64_t)piece->row - 1;
    if (row < 0) {
        name_beyond(style, '-', (uint64_t)-row, name);
        return name;
    }
    if (row >= n) {
        name_beyond(style, '+', (uint64_t)(row - n) + 1, name);
        return name;
    }
    return data->text[(first + (size_t)row) * data->n_columns + piece->column];
}

/* Replaces a text by the result of %m or %t. */
static gbs_status match(const gbsi_piece *piece, gbsi_expansion *out, const char **at, size_t *n,
                        gbs_error *err)
{
    size_t begin = 0;
    size_t length = 0;
    GBSI_PASS(gbsi_reserve((void **)&out->room, &out->room_capacity, piece->n + *n + 1,
                           sizeof *out->room, "patterns", err));
    const bool found = gbsi_pattern_find(piece->at, piece->n, *at, *n, out->room, &begin, &length);
    if (piece->kind == GBSI_PIECE_TEST) {
        *at = found ? "true" : "false";
        *n = strlen(*at);
    } else {
        *at += begin;
        *n = length;
    }
    return GBS_OK;
}

gbs_status gbsi_template_expand(const gbsi_templates *templates, size_t k,
                                const gbs_sequences *data, size_t first, size_t end, size_t token,
                                gbsi_expansion *out, gbs_error *err)
{
    const gbsi_template *t = &templates->of[k];
    char name[BEYOND_SIZE];
    out->n = 0;
    for (size_t i = 0; i < t->n_pieces; i++) {
        const gbsi_piece *piece = &t->piece[i];
        const char *at = piece->at;
        size_t n = piece->n;
        if (piece->kind != GBSI_PIECE_WORDS) {
            at = text_at(templates->style, piece, data, first, end, token, name);
            n = strlen(at);
        }
        if (piece->kind == GBSI_PIECE_TEST || piece->kind == GBSI_PIECE_MATCHED) {
            GBSI_PASS(match(piece, out, &at, &n, err));
        }
        GBSI_PASS(append(out, at, n, piece->lower, err));
    }
    return GBS_OK;
}
