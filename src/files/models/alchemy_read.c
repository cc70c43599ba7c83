/* SPDX-License-Identifier: Apache-2.0 */
/* Reads GraphLab's text form of factor graphs: lines of variables, then one line of natural
 * logarithms for each factor. In this line the first variable runs fastest. A factor of the model
 * has the variables in reverse order, because its last variable runs fastest. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "decimal/decimal.h"
#include "models/formats.h"
#include "models/tables.h"
#include "text/common.h"

typedef struct alchemy_reader {
    gbsi_text *text;
    gbs_builder *builder;
    gbsi_equal_tables *share;
    gbsi_name_map names;
    uint32_t n_variables;
    void *arity; /* uint32_t [n_variables] number of states of each variable */
    size_t arity_capacity;
    void *seen; /* size_t [n_variables] 1 + number of the last factor that names the variable */
    size_t seen_capacity;
    void *name; /* char: name of the variable that is being added, ended by 0 */
    size_t name_capacity;
    size_t n_factors;
    /* Data of the factor that is being read. */
    void *scope; /* uint32_t [n_scope] variables in the order of the file */
    size_t scope_capacity;
    size_t n_scope;
    void *value; /* double [n_values] values of the factor */
    size_t value_capacity;
} alchemy_reader;

static void free_reader(alchemy_reader *r)
{
    gbs_builder_free(r->builder);
    gbsi_equal_tables_free(r->share);
    gbsi_name_map_free(&r->names);
    GBSI_FREE(r->arity, r->seen, r->name, r->scope, r->value);
}

static uint32_t *arity_of(const alchemy_reader *r, uint32_t v)
{
    return (uint32_t *)r->arity + v;
}

/* ---- lines ------------------------------------------------------------------------------- */

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

/* Takes the next line that is not blank, with the blanks at its ends.
 * @return false at the end of the file. */
static bool next_line(gbsi_text *text, gbsi_token *line)
{
    while (text->at < text->end) {
        const char *end = memchr(text->at, '\n', gbsi_text_left(text));
        end = end == NULL ? text->end : end;
        *line = (gbsi_token){text->at, (size_t)(end - text->at)};
        text->at = end == text->end ? end : end + 1;
        if (trim(*line).n > 0) {
            return true;
        }
    }
    *line = (gbsi_token){text->end, 0};
    return false;
}

static gbs_status expect_line(alchemy_reader *r, const char *word, gbs_error *err)
{
    char expected[32];
    gbsi_token line;
    if (next_line(r->text, &line) && gbsi_token_is(trim(line), word)) {
        return GBS_OK;
    }
    (void)snprintf(expected, sizeof expected, "a line '%s'", word);
    return gbsi_text_unexpected(r->text, trim(line), expected, err);
}

/* ---- variables --------------------------------------------------------------------------- */

static gbs_status add_variable(alchemy_reader *r, gbsi_token name, uint32_t arity, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char shown[GBSI_SHOWN];
    bool added = false;
    uint32_t id = r->n_variables;
    if (id == GBS_MAX_VARIABLES) {
        return gbsi_text_fail(r->text, name, err, "found more than %u variables",
                              GBS_MAX_VARIABLES);
    }
    GBSI_TRY(gbsi_name_map_add(&r->names, 0, name.at, name.n, id, &added, err));
    if (!added) {
        return gbsi_text_fail(r->text, name, err, "found variable %s twice, expected it once",
                              gbsi_token_show(name, shown));
    }
    GBSI_TRY(gbsi_reserve(&r->arity, &r->arity_capacity, (size_t)id + 1, sizeof(uint32_t),
                          r->text->name, err));
    GBSI_TRY(gbsi_reserve(&r->seen, &r->seen_capacity, (size_t)id + 1, sizeof(size_t),
                          r->text->name, err));
    GBSI_TRY(gbsi_reserve(&r->name, &r->name_capacity, name.n + 1, 1, r->text->name, err));
    *arity_of(r, id) = arity;
    ((size_t *)r->seen)[id] = 0;
    memcpy(r->name, name.at, name.n);
    ((char *)r->name)[name.n] = 0;
    GBSI_TRY(gbs_builder_add_variables(r->builder, 1, &arity, NULL, err));
    GBSI_TRY(gbs_builder_name_variable(r->builder, id, r->name, err));
    r->n_variables++;

cleanup:
    return gbsi_text_blame(r->text, name, status, err);
}

/* Reads a line with a variable's name, which a tab and a cardinality may follow. */
static gbs_status read_variable(alchemy_reader *r, gbsi_token line, gbs_error *err)
{
    const char *tab = NULL;
    uint64_t arity = 2;
    bool too_large = false;
    gbsi_token name = trim(line);
    tab = memchr(line.at, '\t', line.n);
    if (tab != NULL && tab < name.at) {
        return gbsi_text_unexpected(r->text, name, "a name before the tab", err);
    }
    tab = memchr(name.at, '\t', name.n); /* a tab at the end of the line is no separator */
    if (tab != NULL) {
        gbsi_token number = {tab + 1, (size_t)(name.at + name.n - tab) - 1};
        number = trim(number);
        if (!gbsi_integer_read(number.at, number.n, GBS_MAX_ARITY, &arity, &too_large) ||
            arity == 0) {
            return gbsi_text_unexpected(r->text, number, "a cardinality, 1 to 65535", err);
        }
        name = trim((gbsi_token){name.at, (size_t)(tab - name.at)});
    }
    const char *slash = memchr(name.at, '/', name.n);
    if (slash != NULL) {
        return gbsi_text_unexpected(r->text, (gbsi_token){slash, 1},
                                    "a name without '/', or the line 'factors:' before", err);
    }
    return add_variable(r, name, (uint32_t)arity, err);
}

static gbs_status read_variables(alchemy_reader *r, gbs_error *err)
{
    gbsi_token line;
    GBSI_PASS(expect_line(r, "variables:", err));
    while (next_line(r->text, &line)) {
        if (gbsi_token_is(trim(line), "factors:")) {
            return GBS_OK;
        }
        GBSI_PASS(read_variable(r, line, err));
    }
    return gbsi_text_unexpected(r->text, line, "a variable or the line 'factors:'", err);
    return GBS_OK;
}

/* ---- factors ----------------------------------------------------------------------------- */

static gbs_status add_to_scope(alchemy_reader *r, gbsi_token name, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    uint32_t id = 0;
    size_t *seen = r->seen;
    if (!gbsi_name_map_find(&r->names, 0, name.at, name.n, &id)) {
        return gbsi_text_unexpected(r->text, name, "a variable that the file declares", err);
    }
    if (seen[id] == r->n_factors + 1) {
        return gbsi_text_fail(r->text, name, err,
                              "found variable %s twice in factor %zu, expected it once",
                              gbsi_token_show(name, shown), r->n_factors);
    }
    seen[id] = r->n_factors + 1;
    GBSI_PASS(gbsi_reserve(&r->scope, &r->scope_capacity, r->n_scope + 1, sizeof(uint32_t),
                           r->text->name, err));
    ((uint32_t *)r->scope)[r->n_scope++] = id;
    return GBS_OK;
}

/* Reads the names of a factor, NAME / NAME //, up to the values. A line that begins with // gives a
 * factor without variables, which is a constant.
 * @param rest out: text behind the //. */
static gbs_status read_scope(alchemy_reader *r, gbsi_token line, gbsi_token *rest, gbs_error *err)
{
    const char *at = line.at;
    const char *end = line.at + line.n;
    r->n_scope = 0;
    for (;;) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        if (slash == NULL) {
            return gbsi_text_unexpected(r->text, (gbsi_token){end, 0}, "'//' and values", err);
        }
        bool last = slash + 1 < end && slash[1] == '/';
        gbsi_token name = trim((gbsi_token){at, (size_t)(slash - at)});
        if (name.n > 0 || !last || r->n_scope > 0) {
            GBSI_PASS(add_to_scope(r, name, err));
        }
        at = slash + (last ? 2 : 1);
        if (last) {
            break;
        }
    }
    *rest = (gbsi_token){at, (size_t)(end - at)};
    return GBS_OK;
}

static gbs_status read_values(alchemy_reader *r, gbsi_token rest, size_t *n, gbs_error *err)
{
    gbsi_text line = *r->text; /* this text and its tokens end where /// begins */
    line.at = rest.at;
    line.end = rest.at + rest.n;
    for (const char *at = rest.at; line.end - at >= 3; at++) {
        if (memcmp(at, "///", 3) == 0) {
            line.end = at;
        }
    }
    *n = 0;
    for (;;) {
        gbsi_token token = gbsi_text_peek(&line);
        if (token.n == 0) {
            return GBS_OK;
        }
        GBSI_PASS(gbsi_reserve(&r->value, &r->value_capacity, *n + 1, sizeof(double), r->text->name,
                               err));
        double *value = (double *)r->value + *n;
        GBSI_PASS(gbsi_text_double(&line, "a logarithm", value, NULL, err));
        if (!(*value < INFINITY)) {
            return gbsi_text_unexpected(r->text, token, "a logarithm, finite or -inf", err);
        }
        *value += 0.0; /* -0 becomes 0 */
        (*n)++;
    }
    return GBS_OK;
}

static gbs_status check_size(const alchemy_reader *r, gbsi_token place, size_t n, gbs_error *err)
{
    const uint32_t *scope = r->scope;
    size_t n_entries = 1;
    bool fits = true;
    for (size_t i = 0; i < r->n_scope && fits; i++) {
        fits = gbsi_mul_size(n_entries, *arity_of(r, scope[i]), &n_entries);
    }
    if (!fits || n != n_entries) {
        char needs[40] = "more than can be counted";
        if (fits) {
            (void)snprintf(needs, sizeof needs, "%zu", n_entries);
        }
        return gbsi_text_fail(
            r->text, place, err, "factor %zu has %zu value%s, its %zu variable%s %s", r->n_factors,
            n, gbsi_plural(n), r->n_scope, gbsi_plural_of(r->n_scope, " needs", "s need"), needs);
    }
    return GBS_OK;
}

static gbs_status read_factor(alchemy_reader *r, gbsi_token line, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_token rest = {0};
    size_t n = 0;
    uint32_t table = 0;
    GBSI_TRY(read_scope(r, line, &rest, err));
    GBSI_TRY(read_values(r, rest, &n, err));
    GBSI_TRY(check_size(r, trim(line), n, err));
    uint32_t *scope = r->scope;
    for (size_t i = 0; i < r->n_scope / 2; i++) {
        uint32_t swap = scope[i];
        scope[i] = scope[r->n_scope - 1 - i];
        scope[r->n_scope - 1 - i] = swap;
    }
    GBSI_TRY(gbsi_equal_tables_add(r->share, r->builder, n, r->value, &table, err));
    GBSI_TRY(gbs_builder_add_table_factor(r->builder, (uint32_t)r->n_scope, scope, table, err));
    r->n_factors++;

cleanup:
    return gbsi_text_blame(r->text, trim(line), status, err);
}

gbs_status gbsi_alchemy_read(gbsi_text *text, gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_token line;
    alchemy_reader r = {.text = text};
    GBSI_TRY(gbs_builder_new(&r.builder, err));
    GBSI_TRY(gbsi_equal_tables_new(&r.share, err));
    GBSI_TRY(read_variables(&r, err));
    while (next_line(text, &line)) {
        GBSI_TRY(read_factor(&r, line, err));
    }
    status = gbs_builder_build(r.builder, model, err);

cleanup:
    free_reader(&r);
    return status;
}
