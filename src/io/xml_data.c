/* SPDX-License-Identifier: Apache-2.0 */
/* Character data. Most of it stands in the file as it is meant and is borrowed; what holds
 * references, comments or CDATA sections is copied to an arena. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "io/xml.h"

void gbsi_xml_arena_free(gbsi_xml_arena *arena)
{
    gbsi_free(arena->bytes);
    *arena = (gbsi_xml_arena){0};
}

static bool starts(const char *at, const char *end, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(end - at) >= n && memcmp(at, word, n) == 0;
}

/* The first place from `at` on where word stands; NULL: none. */
static const char *find(const char *at, const char *end, const char *word)
{
    while (at < end && (at = memchr(at, word[0], (size_t)(end - at))) != NULL) {
        if (starts(at, end, word)) {
            return at;
        }
        at++;
    }
    return NULL;
}

/* Comments, processing instructions and CDATA sections within character data. */
static const struct {
    const char *begin;
    const char *end;
} inserts[] = {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}};

#define N_INSERTS 3
#define CDATA     1

/* Which of them begins at `at`; N_INSERTS: none. *after is behind its end, NULL if it has none. */
static size_t insert_at(const char *at, const char *end, const char **after)
{
    for (size_t i = 0; i < N_INSERTS; i++) {
        if (starts(at, end, inserts[i].begin)) {
            *after = find(at + strlen(inserts[i].begin), end, inserts[i].end);
            *after = *after == NULL ? NULL : *after + strlen(inserts[i].end);
            return i;
        }
    }
    return N_INSERTS;
}

static gbs_status refuse_open(const gbsi_text *text, const char *at, size_t insert, gbs_error *err)
{
    return gbsi_text_fail(text, (gbsi_token){at, 1}, err,
                          "found '%s' that does not end, expected '%s'", inserts[insert].begin,
                          inserts[insert].end);
}

/* From behind a start tag to the '<' of the next tag.
 * @param plain out: nothing in it needs decoding. */
static gbs_status find_end(gbsi_text *text, bool *plain, gbs_error *err)
{
    *plain = true;
    while (text->at < text->end) {
        if (*text->at == '&') {
            *plain = false;
        } else if (*text->at == '<') {
            const char *after = NULL;
            size_t insert = insert_at(text->at, text->end, &after);
            if (insert == N_INSERTS) {
                return GBS_OK;
            }
            if (after == NULL) {
                return refuse_open(text, text->at, insert, err);
            }
            *plain = false;
            text->at = after - 1;
        }
        text->at++;
    }
    return GBS_OK;
}

/* ---- decoding ---------------------------------------------------------------------------- */

typedef struct decoder {
    const gbsi_text *text;
    gbsi_xml_arena *arena;
    size_t begin; /* in the arena */
    size_t kept;  /* behind the last that is no blank */
} decoder;

static void put(decoder *d, const char *bytes, size_t n, bool keep)
{
    if (!keep && d->arena->n == d->begin) {
        return; /* blanks in front */
    }
    assert(n <= d->arena->capacity - d->arena->n);
    /* cppcheck-suppress uninitvar ; callers fill what they pass */
    memcpy(d->arena->bytes + d->arena->n, bytes, n);
    d->arena->n += n;
    d->kept = keep ? d->arena->n : d->kept;
}

/* Characters that XML knows (2.2). */
static bool is_character(uint32_t c)
{
    return c == 0x9 || c == 0xa || c == 0xd || (c >= 0x20 && c <= 0xd7ff) ||
           (c >= 0xe000 && c <= 0xfffd) || (c >= 0x10000 && c <= 0x10ffff);
}

static size_t encode_utf8(uint32_t c, char bytes[4])
{
    if (c < 0x80) {
        bytes[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; c >>= 6) {
        bytes[i] = (char)(0x80 | (c & 0x3f));
    }
    bytes[0] = (char)((n == 2 ? 0xc0u : n == 3 ? 0xe0u : 0xf0u) | c);
    return n;
}

/* #10 or #xA, without & and ; (4.1). */
static bool read_number(gbsi_token reference, uint32_t *c)
{
    bool hex = reference.n > 1 && reference.at[1] == 'x';
    size_t i = hex ? 2 : 1;
    *c = 0;
    if (i == reference.n) {
        return false;
    }
    for (; i < reference.n; i++) {
        static const char digits[] = "0123456789abcdef";
        char letter = reference.at[i];
        letter = letter >= 'A' && letter <= 'F' ? (char)(letter + 32) : letter;
        const char *digit = memchr(digits, letter, hex ? 16 : 10);
        if (digit == NULL || *c > 0x10ffff) {
            return false;
        }
        *c = *c * (hex ? 16 : 10) + (uint32_t)(digit - digits);
    }
    return is_character(*c);
}

/* &lt; and the like, at which `at` stands. @param after out: behind its semicolon. */
static gbs_status decode_reference(decoder *d, const char *at, const char *end, const char **after,
                                   gbs_error *err)
{
    static const struct {
        const char *name;
        char c;
    } entities[] = {{"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"apos", '\''}, {"quot", '"'}};
    const char *semicolon = memchr(at, ';', (size_t)(end - at));
    gbsi_token name = {at + 1, semicolon == NULL ? 0 : (size_t)(semicolon - at) - 1};
    char bytes[4];
    uint32_t c = 0;
    *after = semicolon == NULL ? end : semicolon + 1;
    if (name.n > 0 && name.at[0] == '#' && read_number(name, &c)) {
        put(d, bytes, encode_utf8(c, bytes), true);
        return GBS_OK;
    }
    for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++) {
        if (gbsi_token_is(name, entities[i].name)) {
            put(d, &entities[i].c, 1, true);
            return GBS_OK;
        }
    }
    return gbsi_text_unexpected(
        d->text, (gbsi_token){at, semicolon == NULL ? 1 : name.n + 2},
        "&lt; &gt; &amp; &apos; &quot; or a number such as &#38; (no entity is expanded)", err);
}

static gbs_status decode(decoder *d, gbsi_token raw, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const char *end = raw.at + raw.n;
    for (const char *at = raw.at; at < end;) {
        const char *after = NULL;
        if (*at == '&') {
            GBSI_TRY(decode_reference(d, at, end, &after, err));
            at = after;
            continue;
        }
        size_t insert = *at == '<' ? insert_at(at, end, &after) : N_INSERTS;
        if (insert == N_INSERTS || after == NULL) { /* never NULL: find_end() saw each one's end */
            put(d, at, 1, !gbsi_is_blank(*at));
            at++;
            continue;
        }
        if (insert == CDATA) {
            put(d, at + 9, (size_t)(after - at) - 12, true);
        }
        at = after;
    }

cleanup:
    return status;
}

static gbs_status decode_to(const gbsi_text *text, gbsi_token raw, gbsi_xml_arena *arena,
                            gbsi_token *meant, gbs_error *err)
{
    gbs_status status = GBS_OK;
    if (arena->bytes == NULL) {
        size_t capacity = (size_t)(text->end - text->begin);
        arena->bytes = gbsi_alloc(capacity);
        if (arena->bytes == NULL) {
            return gbsi_no_memory(err, text->name, capacity);
        }
        arena->capacity = capacity;
    }
    decoder d = {.text = text, .arena = arena, .begin = arena->n, .kept = arena->n};
    GBSI_TRY(decode(&d, raw, err));
    arena->n = d.kept;
    *meant = (gbsi_token){arena->bytes + d.begin, d.kept - d.begin};

cleanup:
    return status;
}

/* ---- the calls --------------------------------------------------------------------------- */

static gbsi_token trim(gbsi_token token)
{
    while (token.n > 0 && gbsi_is_blank(*token.at)) {
        token.at++;
        token.n--;
    }
    while (token.n > 0 && gbsi_is_blank(token.at[token.n - 1])) {
        token.n--;
    }
    return token;
}

/* The character data of a tag as it stands, and its end tag. */
static gbs_status pass_data(gbsi_text *text, const gbsi_xml_tag *tag, gbsi_token *raw, bool *plain,
                            gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_xml_tag end;
    const char *begin = text->at;
    *raw = (gbsi_token){begin, 0};
    *plain = true;
    if (tag->empty) {
        return GBS_OK;
    }
    GBSI_TRY(find_end(text, plain, err));
    raw->n = (size_t)(text->at - begin);
    GBSI_TRY(gbsi_xml_next_tag(text, &end, err));
    if (end.kind != '/' || end.name.n != tag->name.n ||
        memcmp(end.name.at, tag->name.at, tag->name.n) != 0) {
        char expected[80];
        (void)snprintf(expected, sizeof expected, "</%.*s>",
                       (int)(tag->name.n < 64 ? tag->name.n : 64), tag->name.at);
        return gbsi_xml_unexpected(text, &end, expected, err);
    }

cleanup:
    return status;
}

gbs_status gbsi_xml_data(gbsi_text *text, const gbsi_xml_tag *tag, gbsi_xml_arena *arena,
                         gbsi_token *meant, gbsi_token *shown, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_token raw = {0};
    bool plain = true;
    GBSI_TRY(pass_data(text, tag, &raw, &plain, err));
    *shown = trim(raw);
    if (plain) {
        *meant = *shown;
    } else {
        GBSI_TRY(decode_to(text, raw, arena, meant, err));
    }

cleanup:
    return status;
}

gbs_status gbsi_xml_skip_data(gbsi_text *text, const gbsi_xml_tag *tag, gbs_error *err)
{
    gbsi_token raw = {0};
    bool plain = true;
    return pass_data(text, tag, &raw, &plain, err);
}

gbs_status gbsi_xml_word(gbsi_text *text, gbsi_token *word, gbs_error *err)
{
    for (;;) {
        const char *after = NULL;
        while (text->at < text->end && gbsi_is_blank(*text->at)) {
            text->at++;
        }
        size_t insert = text->at < text->end ? insert_at(text->at, text->end, &after) : N_INSERTS;
        if (insert == N_INSERTS || insert == CDATA) {
            break;
        }
        if (after == NULL) {
            return refuse_open(text, text->at, insert, err);
        }
        text->at = after;
    }
    const char *at = text->at;
    while (at < text->end && *at != '<' && !gbsi_is_blank(*at)) {
        at++;
    }
    *word = (gbsi_token){text->at, (size_t)(at - text->at)};
    text->at = at;
    return GBS_OK;
}
