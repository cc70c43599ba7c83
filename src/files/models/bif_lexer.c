/* SPDX-License-Identifier: Apache-2.0 */
#include "models/bif.h"

#include <string.h>

static bool starts(const gbsi_text *text, const char *two)
{
    return gbsi_text_left(text) >= 2 && text->at[0] == two[0] && text->at[1] == two[1];
}

/* Whether a comment begins at `at`, inside a word. Not every // begins a comment, because a state
 * may be named N//A. */
static bool begins_comment(const char *at, const char *end, gbsi_bif_place place)
{
    if (end - at < 2 || at[0] != '/') {
        return false;
    }
    return at[1] == '*' || (at[1] == '/' && (place == GBSI_BIF_NUMBER || end - at == 2 ||
                                             gbsi_is_blank(at[2]) || at[2] == '"'));
}

static gbs_status skip_blanks(gbsi_text *text, gbsi_bif_place place, gbs_error *err)
{
    while (text->at < text->end) {
        char c = *text->at;
        if (gbsi_is_blank(c) || c == ',' || (c == '|' && place != GBSI_BIF_STATE)) {
            text->at++;
        } else if (starts(text, "//")) {
            const char *line = memchr(text->at, '\n', gbsi_text_left(text));
            text->at = line == NULL ? text->end : line + 1;
        } else if (starts(text, "/*")) {
            const char *begin = text->at;
            text->at += 2;
            while (text->at < text->end && !starts(text, "*/")) {
                text->at++;
            }
            if (text->at == text->end) {
                return gbsi_text_fail(text, (gbsi_token){begin, 2}, err,
                                      "found a comment that does not end, expected '*/'");
            }
            text->at += 2;
        } else {
            break;
        }
    }
    return GBS_OK;
}

static bool is_punctuation(char c, gbsi_bif_place place)
{
    return c == '{' || c == '}' || c == '(' || c == ')' || c == ';' ||
           (place == GBSI_BIF_TYPE && (c == '[' || c == ']'));
}

static bool ends_word(char c, gbsi_bif_place place)
{
    return gbsi_is_blank(c) || c == ',' || c == '"' || is_punctuation(c, place) ||
           (c == '|' && place != GBSI_BIF_STATE);
}

static gbs_status read_quoted(gbsi_text *text, gbsi_bif_token *token, gbs_error *err)
{
    const char *begin = text->at;
    const char *at = begin + 1;
    while (at < text->end && *at != '"' && *at != '\n') {
        at++;
    }
    token->kind = 'q';
    token->text = (gbsi_token){begin + 1, (size_t)(at - begin) - 1};
    token->shown = (gbsi_token){begin, (size_t)(at - begin) + 1};
    if (at == text->end || *at == '\n') {
        return gbsi_text_fail(text, (gbsi_token){begin, 1}, err,
                              "found a quote that does not end, expected '\"' on the same line");
    }
    if (token->text.n == 0) {
        return gbsi_text_unexpected(text, token->shown, "a name in the quotes", err);
    }
    text->at = at + 1;
    return GBS_OK;
}

gbs_status gbsi_bif_next(gbsi_text *text, gbsi_bif_place place, gbsi_bif_token *token,
                         gbs_error *err)
{
    GBSI_PASS(skip_blanks(text, place, err));
    const char *at = text->at;
    if (at < text->end && *at == '"') {
        return read_quoted(text, token, err);
    }
    *token = (gbsi_bif_token){.text = {at, 0}, .shown = {at, 0}};
    if (at == text->end) {
        return GBS_OK;
    }
    if (is_punctuation(*at, place)) {
        token->kind = *at++;
    } else {
        token->kind = 'w';
        while (at < text->end && !ends_word(*at, place) && !begins_comment(at, text->end, place)) {
            at++;
        }
    }
    token->text.n = (size_t)(at - text->at);
    token->shown = token->text;
    text->at = at;
    return GBS_OK;
}

gbs_status gbsi_bif_expect(gbsi_text *text, gbsi_bif_place place, char kind, gbs_error *err)
{
    gbsi_bif_token token;
    GBSI_PASS(gbsi_bif_next(text, place, &token, err));
    if (token.kind != kind) {
        char expected[4] = {'\'', kind, '\'', 0};
        return gbsi_text_unexpected(text, token.shown, expected, err);
    }
    return GBS_OK;
}

gbs_status gbsi_bif_name(gbsi_text *text, gbsi_bif_place place, const char *expected,
                         gbsi_token *name, gbs_error *err)
{
    gbsi_bif_token token;
    GBSI_PASS(gbsi_bif_next(text, place, &token, err));
    if (token.kind != 'w' && token.kind != 'q') {
        return gbsi_text_unexpected(text, token.shown, expected, err);
    }
    *name = token.text;
    return GBS_OK;
}

gbs_status gbsi_bif_skip_property(gbsi_text *text, gbs_error *err)
{
    const char *at = text->at;
    while (at < text->end && *at != ';') {
        if (*at++ == '"') {
            const char *quote = at;
            while (quote < text->end && *quote != '"' && *quote != '\n') {
                quote++;
            }
            at = quote < text->end && *quote == '"' ? quote + 1 : at;
        }
    }
    if (at == text->end) {
        return gbsi_text_fail(text, (gbsi_token){text->at, 1}, err,
                              "found a property that does not end, expected ';'");
    }
    text->at = at + 1;
    return GBS_OK;
}

bool gbsi_bif_is_word(const gbsi_bif_token *token, const char *word)
{
    return token->kind == 'w' && token->text.n == strlen(word) &&
           gbsi_equal_any_case(token->text.at, word, token->text.n);
}
