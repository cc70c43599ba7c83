/* SPDX-License-Identifier: Apache-2.0 */
/* Extensible Markup Language (XML) 1.0, fifth edition, W3C 2008; section numbers below are of it.
 * Names are runs without the characters that end them; that they begin with a letter is checked,
 * the rest of the tables of letters is left to those who write them. */
#include "io/xml.h"

#include <stdio.h>
#include <string.h>

static bool starts(const gbsi_text *text, const char *word)
{
    size_t n = strlen(word);
    return gbsi_text_left(text) >= n && memcmp(text->at, word, n) == 0;
}

/* On to behind the next `end`, from behind `begin`, at which text stands. */
static gbs_status pass(gbsi_text *text, const char *begin, const char *end, gbs_error *err)
{
    size_t n = strlen(end);
    gbsi_token place = {text->at, strlen(begin)};
    const char *at = text->at + place.n;
    for (;;) {
        at = at < text->end ? memchr(at, end[0], (size_t)(text->end - at)) : NULL;
        if (at == NULL || (size_t)(text->end - at) < n) {
            return gbsi_text_fail(text, place, err, "found '%s' that does not end, expected '%s'",
                                  begin, end);
        }
        if (memcmp(at, end, n) == 0) {
            text->at = at + n;
            return GBS_OK;
        }
        at++;
    }
}

static void skip_blanks(gbsi_text *text)
{
    while (text->at < text->end && gbsi_is_blank(*text->at)) {
        text->at++;
    }
}

/* Blanks, comments and processing instructions ("Misc", 2.8). */
static gbs_status skip_misc(gbsi_text *text, gbs_error *err)
{
    gbs_status status = GBS_OK;
    for (;;) {
        skip_blanks(text);
        if (starts(text, "<!--")) {
            GBSI_TRY(pass(text, "<!--", "-->", err));
        } else if (starts(text, "<?")) {
            GBSI_TRY(pass(text, "<?", "?>", err));
        } else {
            return GBS_OK;
        }
    }

cleanup:
    return status;
}

static gbs_status cut_short(const gbsi_text *text, const char *expected, gbs_error *err)
{
    size_t n = text->at < text->end ? 1 : 0;
    return gbsi_text_unexpected(text, (gbsi_token){text->at, n}, expected, err);
}

/* ---- prolog ------------------------------------------------------------------------------ */

/* Bytes are taken for UTF-8. Another encoding is fine as long as nothing but ASCII is used. */
static gbs_status check_encoding(const gbsi_text *text, gbsi_token declaration, gbs_error *err)
{
    gbsi_token value = {0};
    gbsi_xml_tag tag = {.attributes = declaration};
    if (!gbsi_xml_attribute(&tag, "encoding", &value) || gbsi_token_is_any_case(value, "UTF-8") ||
        gbsi_token_is_any_case(value, "US-ASCII")) {
        return GBS_OK;
    }
    for (const char *at = text->begin; at < text->end; at++) {
        if ((unsigned char)*at >= 0x80) {
            (void)gbsi_text_unexpected(text, value, "the encoding UTF-8 or US-ASCII", err);
            if (err != NULL) {
                err->status = GBS_ERR_UNSUPPORTED;
            }
            return GBS_ERR_UNSUPPORTED;
        }
    }
    return GBS_OK;
}

/* From "<!" or "<" to behind the '>' that ends it, or to a '[' if one may come; quotes hide. */
static gbs_status pass_declaration(gbsi_text *text, bool subset, gbs_error *err)
{
    gbsi_token place = {text->at, 2};
    while (text->at < text->end) {
        char c = *text->at++;
        if (c == '>') {
            return GBS_OK;
        }
        if (c == '[' && subset) {
            text->at--;
            return GBS_OK;
        }
        if (c == '"' || c == '\'') {
            const char *end = memchr(text->at, c, gbsi_text_left(text));
            text->at = end == NULL ? text->end : end + 1;
        }
    }
    return gbsi_text_fail(text, place, err, "found a declaration that does not end, expected '>'");
}

/* [ ... ] of a document type declaration (2.8, 28b), passed over. */
static gbs_status pass_subset(gbsi_text *text, gbs_error *err)
{
    gbs_status status = GBS_OK;
    text->at++;
    for (;;) {
        GBSI_TRY(skip_misc(text, err));
        if (starts(text, "]")) {
            text->at++;
            return GBS_OK;
        }
        if (starts(text, "<!")) {
            GBSI_TRY(pass_declaration(text, false, err));
        } else if (starts(text, "%")) {
            GBSI_TRY(pass(text, "%", ";", err));
        } else {
            return cut_short(text, "a declaration or ']'", err);
        }
    }

cleanup:
    return status;
}

gbs_status gbsi_xml_prolog(gbsi_text *text, gbs_error *err)
{
    gbs_status status = GBS_OK;
    if (starts(text, "<?xml") && gbsi_text_left(text) > 5 && gbsi_is_blank(text->at[5])) {
        const char *begin = text->at + 5;
        GBSI_TRY(pass(text, "<?xml", "?>", err));
        gbsi_token inside = {begin, (size_t)(text->at - 2 - begin)};
        GBSI_TRY(check_encoding(text, inside, err));
    }
    GBSI_TRY(skip_misc(text, err));
    if (starts(text, "<!DOCTYPE")) {
        GBSI_TRY(pass_declaration(text, true, err));
        if (starts(text, "[")) {
            GBSI_TRY(pass_subset(text, err));
            skip_blanks(text);
            if (!starts(text, ">")) {
                return cut_short(text, "'>' of the document type", err);
            }
            text->at++;
        }
    }
    status = skip_misc(text, err);

cleanup:
    return status;
}

/* ---- tags -------------------------------------------------------------------------------- */

static bool ends_name(char c)
{
    return gbsi_is_blank(c) || strchr("<>/=\"'&?!", c) != NULL;
}

static gbs_status read_name(gbsi_text *text, const char *expected, gbsi_token *name, gbs_error *err)
{
    const char *at = text->at;
    bool letter =
        at < text->end && !ends_name(*at) && (*at < '0' || *at > '9') && *at != '-' && *at != '.';
    if (!letter) {
        return cut_short(text, expected, err);
    }
    while (at < text->end && !ends_name(*at)) {
        at++;
    }
    *name = (gbsi_token){text->at, (size_t)(at - text->at)};
    text->at = at;
    return GBS_OK;
}

/* name = "value" */
static gbs_status read_attribute(gbsi_text *text, gbsi_token *name, gbsi_token *value,
                                 gbs_error *err)
{
    gbs_status status = GBS_OK;
    GBSI_TRY(read_name(text, "an attribute, '/>' or '>'", name, err));
    skip_blanks(text);
    if (!starts(text, "=")) {
        return cut_short(text, "'=' and the value of the attribute", err);
    }
    text->at++;
    skip_blanks(text);
    if (!starts(text, "\"") && !starts(text, "'")) {
        return cut_short(text, "a value in quotes", err);
    }
    char quote = *text->at++;
    const char *end = memchr(text->at, quote, gbsi_text_left(text));
    if (end == NULL) {
        return gbsi_text_fail(text, (gbsi_token){text->at - 1, 1}, err,
                              "found a quote that does not end");
    }
    *value = (gbsi_token){text->at, (size_t)(end - text->at)};
    const char *less = value->n == 0 ? NULL : memchr(value->at, '<', value->n);
    if (less != NULL) {
        return gbsi_text_unexpected(text, (gbsi_token){less, 1}, "no '<' in an attribute", err);
    }
    text->at = end + 1;

cleanup:
    return status;
}

/* Behind the name of a start tag. */
static gbs_status read_attributes(gbsi_text *text, gbsi_xml_tag *tag, gbs_error *err)
{
    gbs_status status = GBS_OK;
    tag->attributes.at = text->at;
    for (;;) {
        gbsi_token name = {0};
        gbsi_token value = {0};
        const char *before = text->at;
        skip_blanks(text);
        tag->attributes.n = (size_t)(text->at - tag->attributes.at);
        tag->empty = starts(text, "/>");
        if (tag->empty || starts(text, ">")) {
            text->at += tag->empty ? 2 : 1;
            return GBS_OK;
        }
        if (before == text->at) {
            return cut_short(text, "a blank, '/>' or '>'", err);
        }
        GBSI_TRY(read_attribute(text, &name, &value, err));
    }

cleanup:
    return status;
}

gbs_status gbsi_xml_next_tag(gbsi_text *text, gbsi_xml_tag *tag, gbs_error *err)
{
    gbs_status status = GBS_OK;
    GBSI_TRY(skip_misc(text, err));
    *tag = (gbsi_xml_tag){.name = {text->at, 0}};
    if (text->at == text->end) {
        return GBS_OK;
    }
    if (*text->at != '<') {
        return gbsi_text_unexpected(text, gbsi_text_peek(text), "a tag", err);
    }
    text->at++;
    tag->kind = '<';
    if (starts(text, "/")) {
        text->at++;
        tag->kind = '/';
    }
    GBSI_TRY(read_name(text, "the name of a tag", &tag->name, err));
    if (tag->kind == '<') {
        return read_attributes(text, tag, err);
    }
    skip_blanks(text);
    if (!starts(text, ">")) {
        return cut_short(text, "'>'", err);
    }
    text->at++;

cleanup:
    return status;
}

bool gbsi_xml_is(const gbsi_xml_tag *tag, char kind, const char *name)
{
    return tag->kind == kind && gbsi_token_is(tag->name, name);
}

gbs_status gbsi_xml_unexpected(const gbsi_text *text, const gbsi_xml_tag *tag, const char *expected,
                               gbs_error *err)
{
    if (tag->kind == 0) {
        return gbsi_text_unexpected(text, tag->name, expected, err);
    }
    size_t before = tag->kind == '/' ? 2 : 1;
    return gbsi_text_unexpected(text, (gbsi_token){tag->name.at - before, tag->name.n + before},
                                expected, err);
}

bool gbsi_xml_attribute(const gbsi_xml_tag *tag, const char *name, gbsi_token *value)
{
    gbsi_text text = {.at = tag->attributes.at, .end = tag->attributes.at + tag->attributes.n};
    gbsi_token found = {0};
    for (;;) {
        skip_blanks(&text);
        if (text.at == text.end || read_attribute(&text, &found, value, NULL) < 0) {
            return false;
        }
        if (gbsi_token_is(found, name)) {
            return true;
        }
    }
}
