/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json.h"

#include <string.h>

#include "base/memory.h"
#include "decimal/decimal.h"
#include "text/json_text.h"

enum { MOST_DEPTH = 64 };

/* Skips blanks, which are those of RFC 8259, section 2. @return the next character, 0 at the
 * end. */
static char look(gbsi_text *t)
{
    while (t->at < t->end &&
           (*t->at == ' ' || *t->at == '\t' || *t->at == '\n' || *t->at == '\r')) {
        t->at++;
    }
    return t->at < t->end ? *t->at : 0;
}

/* @return the word or the character at a place, for a message. */
static gbsi_token shown_at(const gbsi_text *t, const char *at)
{
    static const char ends[] = ",:]}[{\"";
    gbsi_token token = {at, 0};
    while (at + token.n < t->end && !gbsi_is_blank(at[token.n]) &&
           (token.n == 0 || strchr(ends, at[token.n]) == NULL)) {
        token.n++;
        if (strchr(ends, *at) != NULL) {
            break;
        }
    }
    return token;
}

static gbs_status unexpected(gbsi_text *t, const char *expected, gbs_error *err)
{
    (void)look(t);
    return gbsi_text_unexpected(t, shown_at(t, t->at), expected, err);
}

/* ---- strings --------------------------------------------------------------------------------- */

/* Reads a string into the pool. The pool has room for the whole file and a final 0 for each
 * value, because decoding makes no text longer. */
static gbs_status read_string(gbsi_json_file *f, const char *expected, const char **string,
                              gbs_error *err)
{
    gbsi_text *t = &f->text;
    if (look(t) != '"') {
        return unexpected(t, expected, err);
    }
    *string = f->pool + f->n_pool;
    for (t->at++; t->at < t->end && *t->at != '"';) {
        const char *begin = t->at;
        const size_t n = gbsi_utf8_length(t->at, (size_t)(t->end - t->at));
        if (*t->at == '\\') {
            t->at++;
            if (!gbsi_json_escape(&t->at, t->end, f->pool, &f->n_pool)) {
                return gbsi_text_unexpected(t, (gbsi_token){begin, 2 > t->end - begin ? 1 : 2},
                                            "an escape of JSON", err);
            }
        } else if (n == 0 || (unsigned char)*t->at < 0x20) {
            return gbsi_text_unexpected(t, (gbsi_token){begin, 1},
                                        "UTF-8 without control characters", err);
        } else {
            memcpy(f->pool + f->n_pool, t->at, n);
            f->n_pool += n;
            t->at += n;
        }
    }
    if (t->at == t->end) {
        return gbsi_text_unexpected(t, (gbsi_token){t->end, 0}, "'\"'", err);
    }
    t->at++;
    f->pool[f->n_pool++] = 0;
    return GBS_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

static const char *digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9') {
        at++;
    }
    return at;
}

/* Finds the end of a number by RFC 8259, section 6. @return the end, or NULL if there is no
 * number. */
static const char *number_end(const char *at, const char *end)
{
    at += at < end && *at == '-';
    const char *whole = at;
    at = digits(at, end);
    if (at == whole || (*whole == '0' && at > whole + 1)) {
        return NULL;
    }
    if (at < end && *at == '.') {
        const char *part = ++at;
        at = digits(at, end);
        if (at == part) {
            return NULL;
        }
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        const char *power = at;
        at = digits(at, end);
        if (at == power) {
            return NULL;
        }
    }
    return at;
}

static gbs_status read_number(gbsi_json_file *f, gbsi_json *value, gbs_error *err)
{
    gbsi_text *t = &f->text;
    const gbsi_token token = shown_at(t, t->at);
    const char *end = number_end(token.at, token.at + token.n);
    if (end != token.at + token.n ||
        gbsi_decimal_read(token.at, token.n, &value->number) == GBSI_DECIMAL_BAD) {
        return gbsi_text_unexpected(t, token, "a value of JSON", err);
    }
    value->kind = GBSI_JSON_NUMBER;
    value->text = f->pool + f->n_pool;
    memcpy(f->pool + f->n_pool, token.at, token.n);
    f->n_pool += token.n;
    f->pool[f->n_pool++] = 0;
    t->at = end;
    return GBS_OK;
}

/* Reads any value except arrays and objects. */
static gbs_status read_plain(gbsi_json_file *f, gbsi_json *value, gbs_error *err)
{
    static const struct {
        const char *word;
        gbsi_json_kind kind;
    } words[] = {{"null", GBSI_JSON_NULL}, {"false", GBSI_JSON_FALSE}, {"true", GBSI_JSON_TRUE}};
    gbsi_text *t = &f->text;
    if (look(t) == '"') {
        value->kind = GBSI_JSON_STRING;
        return read_string(f, "a string", &value->text, err);
    }
    const gbsi_token token = shown_at(t, t->at);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (gbsi_token_is(token, words[i].word)) {
            value->kind = words[i].kind;
            t->at += token.n;
            return GBS_OK;
        }
    }
    return read_number(f, value, err);
}

/* The containers that are open at a place. The innermost container is the last. */
typedef struct nest {
    size_t open[MOST_DEPTH];
    size_t depth;
} nest;

static gbs_status add_value(gbsi_json_file *f, nest *in, gbs_error *err)
{
    gbsi_json value = {.size = 1};
    gbsi_text *t = &f->text;
    void *grown = f->value;
    if (in->depth > 0 && f->value[in->open[in->depth - 1]].kind == GBSI_JSON_OBJECT) {
        GBSI_PASS(read_string(f, "the name of a member", &value.name, err));
        if (look(t) != ':') {
            return unexpected(t, "':'", err);
        }
        t->at++;
    }
    const char c = look(t);
    value.at = t->at;
    if (c == '[' || c == '{') {
        value.kind = c == '[' ? GBSI_JSON_ARRAY : GBSI_JSON_OBJECT;
        if (in->depth == MOST_DEPTH) {
            return gbsi_text_unexpected(t, (gbsi_token){t->at, 1}, "at most 64 levels", err);
        }
        t->at++;
    } else {
        GBSI_PASS(read_plain(f, &value, err));
    }
    GBSI_PASS(gbsi_reserve(&grown, &f->capacity, f->n + 1, sizeof value, t->name, err));
    f->value = grown;
    f->value[f->n] = value;
    if (in->depth > 0) {
        f->value[in->open[in->depth - 1]].n++;
    }
    if (value.kind >= GBSI_JSON_ARRAY) {
        in->open[in->depth++] = f->n;
    }
    f->n++;
    return GBS_OK;
}

/* Moves over ',' and closing brackets. @param more out: whether a value follows. */
static gbs_status close_values(gbsi_json_file *f, nest *in, bool *more, gbs_error *err)
{
    gbsi_text *t = &f->text;
    for (*more = false; in->depth > 0 && !*more;) {
        gbsi_json *open = &f->value[in->open[in->depth - 1]];
        const bool is_array = open->kind == GBSI_JSON_ARRAY;
        const char c = look(t);
        if (c == (is_array ? ']' : '}')) {
            t->at++;
            open->size = f->n - in->open[in->depth - 1];
            in->depth--;
        } else if (open->n == 0) {
            *more = true;
        } else if (c == ',') {
            t->at++;
            *more = true;
        } else {
            return unexpected(t, is_array ? "',' or ']'" : "',' or '}'", err);
        }
    }
    return GBS_OK;
}

gbs_status gbsi_json_read(const gbsi_input *input, gbsi_json_file *file, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_json_file f = {0};
    nest in = {.depth = 0};
    bool more = true;
    GBSI_TRY(gbsi_text_open(&f.text, input, NULL, err));
    /* In the file, each text has a delimiter before it. Each text also has a delimiter behind
     * it, except a number at the end of the file. */
    f.pool = gbsi_alloc(gbsi_text_left(&f.text) + 2);
    GBSI_TRY(GBSI_HAVE(err, input->name, f.pool));
    while (more) {
        GBSI_TRY(add_value(&f, &in, err));
        GBSI_TRY(close_values(&f, &in, &more, err));
    }
    if (look(&f.text) != 0) {
        status = unexpected(&f.text, "the end of the file", err);
        goto cleanup;
    }
    *file = f;
    f = (gbsi_json_file){0};

cleanup:
    gbsi_json_free(&f);
    return status;
}

void gbsi_json_free(gbsi_json_file *file)
{
    GBSI_FREE(file->value, file->pool);
    *file = (gbsi_json_file){0};
}

/* ---- reading the tree ------------------------------------------------------------------------ */

const gbsi_json *gbsi_json_first(const gbsi_json *of)
{
    return of == NULL || of->kind < GBSI_JSON_ARRAY || of->n == 0 ? NULL : of + 1;
}

const gbsi_json *gbsi_json_next(const gbsi_json *of, const gbsi_json *element)
{
    const gbsi_json *next = element + element->size;
    return next < of + of->size ? next : NULL;
}

const gbsi_json *gbsi_json_member(const gbsi_json *object, const char *name)
{
    if (object == NULL || object->kind != GBSI_JSON_OBJECT) {
        return NULL;
    }
    const gbsi_json *m = gbsi_json_first(object);
    while (m != NULL && strcmp(m->name, name) != 0) {
        m = gbsi_json_next(object, m);
    }
    return m;
}

gbs_status gbsi_json_unexpected(const gbsi_json_file *file, const gbsi_json *value,
                                const char *expected, gbs_error *err)
{
    return gbsi_text_unexpected(&file->text, shown_at(&file->text, value->at), expected, err);
}
