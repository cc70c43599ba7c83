/* SPDX-License-Identifier: Apache-2.0 */
/* Reads UAI models in any layout of lines. A file has the type, the cardinalities, the scopes, and
 * then the tables, in which the last variable runs fastest. In the variant .LG the values are
 * logarithms. Text behind a '#' is a comment. pyAgrum writes tables in another order, and only
 * comments show that pyAgrum wrote a file. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "decimal/decimal.h"
#include "models/formats.h"
#include "models/tables.h"
#include "simd/math.h"
#include "text/common.h"

typedef struct uai_reader {
    gbsi_text *text;
    bool in_logs;
    bool directed;
    gbs_builder *builder;
    gbsi_equal_tables *share;
    uint32_t n_variables;
    uint32_t *arity; /* [n_variables] */
    size_t *seen;    /* [n_variables] 1 + number of the last factor that names the variable */
    uint8_t *child;  /* [n_variables] 1 if a factor is the table of the variable */
    size_t n_factors;
    gbsi_token factors_token; /* token of the number of factors */
    /* [n_factors] position of the factor's scope in the file, and of its table once tables are
     * read */
    const char **place;
    size_t *n_entries;   /* [n_factors] number of entries of the factor's table */
    size_t *scope_start; /* [n_factors + 1] */
    void *scope;         /* uint32_t [scope_start[n_factors]] */
    size_t scope_capacity;
    /* double: tables of the factors from n_added on that were read but not yet added */
    void *value;
    size_t value_capacity;
    size_t n_values;
    size_t n_added;
    size_t n_underflow;
    gbsi_columns columns;
    unsigned order; /* order of the entries of tables in the file */
    void *turned;   /* double: the current table in the order of the file */
    size_t turned_capacity;
    gbsi_name_map names; /* names of variables in comments behind scopes */
    size_t n_commented;  /* number of scopes with a comment behind them */
    size_t n_braced;     /* number of tables whose comment names their variables */
} uai_reader;

static void free_reader(uai_reader *r)
{
    gbs_builder_free(r->builder);
    gbsi_equal_tables_free(r->share);
    GBSI_FREE(r->arity, r->seen, r->child, r->place, r->n_entries, r->scope_start, r->scope,
              r->value, r->turned);
    gbsi_name_map_free(&r->names);
}

/* Skips lines of comment that begin with the letter c. Such lines are allowed only before the type
 * word, where c has no other meaning. */
static void skip_comments(const uai_reader *r)
{
    for (;;) {
        gbsi_token token = gbsi_text_peek(r->text);
        if (token.n == 0 || token.at[0] != 'c') {
            return;
        }
        const char *end = memchr(token.at, '\n', (size_t)(r->text->end - token.at));
        r->text->at = end == NULL ? r->text->end : end + 1;
    }
}

static gbs_status read_type(uai_reader *r, gbs_error *err)
{
    static const char *const known[] = {"SPARSE", "CREDAL", "V-CREDAL",      "H-CREDAL",
                                        "LIMID",  "ID",     "SPARSE-MARKOV", "SPARSE-BAYES",
                                        "MDP",    "DBN"};
    skip_comments(r);
    gbsi_token token = gbsi_text_next(r->text);
    r->directed = gbsi_token_is_any_case(token, "BAYES");
    if (r->directed || gbsi_token_is_any_case(token, "MARKOV")) {
        return GBS_OK;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (gbsi_token_is_any_case(token, known[i])) {
            return gbsi_text_unsupported(r->text, token, err,
                                         "UAI type %s is not supported, expected MARKOV or BAYES",
                                         known[i]);
        }
    }
    return gbsi_text_unexpected(r->text, token, "MARKOV or BAYES", err);
}

static gbs_status read_variables(uai_reader *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_text *text = r->text;
    gbsi_token token = gbsi_text_peek(text);
    uint64_t n = 0;
    GBSI_TRY(gbsi_text_count(text, "the number of variables", 2, &n, err));
    if (n > GBS_MAX_VARIABLES) {
        return gbsi_text_fail(text, token, err, "found %llu variable%s, expected at most %u",
                              (unsigned long long)n, gbsi_plural(n), GBS_MAX_VARIABLES);
    }
    r->n_variables = (uint32_t)n;
    r->arity = gbsi_alloc_array(n, sizeof *r->arity);
    r->seen = gbsi_alloc_array_zero(n, sizeof *r->seen);
    r->child = gbsi_alloc_zero(n);
    GBSI_PASS(GBSI_HAVE(err, text->name, r->arity, r->seen, r->child));
    for (uint32_t v = 0; v < r->n_variables; v++) {
        uint64_t arity = 0;
        token = gbsi_text_peek(text);
        GBSI_TRY(gbsi_text_integer(text, "a cardinality", GBS_MAX_ARITY, &arity, err));
        if (arity == 0) {
            return gbsi_text_fail(text, token, err,
                                  "found cardinality 0 of variable %u, expected 1 to %u", v,
                                  GBS_MAX_ARITY);
        }
        r->arity[v] = (uint32_t)arity;
    }
    uint32_t first = 0;
    status = gbs_builder_add_variables(r->builder, r->n_variables, r->arity, &first, err);
    return gbsi_text_blame(text, token, status, err);

cleanup:
    return status;
}

/* Writes the shape of a factor, such as "2 x 3 x 2", and cuts a long shape after a few numbers. */
static const char *show_shape(const uai_reader *r, size_t factor, char *shape, size_t size)
{
    const uint32_t *scope = (const uint32_t *)r->scope + r->scope_start[factor];
    size_t n = r->scope_start[factor + 1] - r->scope_start[factor];
    const size_t most = 8;
    size_t length = 0;
    shape[0] = 0;
    for (size_t i = 0; i < n && i < most; i++) {
        int written = snprintf(shape + length, size - length, "%s%u", i == 0 ? "" : " x ",
                               r->arity[scope[i]]);
        length += (size_t)written;
    }
    (void)snprintf(shape + length, size - length, "%s",
                   n > most ? " x ..."
                   : n == 0 ? "empty"
                            : "");
    return shape;
}

#define SHAPE_BYTES 128

static gbs_status read_scope_variable(uai_reader *r, size_t factor, size_t position, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    uint64_t variable = 0;
    const char *before = r->text->at;
    GBSI_PASS(gbsi_text_integer(r->text, "a variable", UINT64_MAX, &variable, err));
    if (variable >= r->n_variables) {
        gbsi_token token = gbsi_text_at(r->text, before);
        return gbsi_text_fail(r->text, token, err,
                              "found variable %s in factor %zu, expected less than %u",
                              gbsi_token_show(token, shown), factor, r->n_variables);
    }
    if (r->seen[variable] == factor + 1) {
        return gbsi_text_fail(r->text, gbsi_text_at(r->text, before), err,
                              "found variable %llu twice in factor %zu, expected it once",
                              (unsigned long long)variable, factor);
    }
    r->seen[variable] = factor + 1;
    ((uint32_t *)r->scope)[position] = (uint32_t)variable;
    size_t product = 0;
    if (!gbsi_mul_size(r->n_entries[factor], r->arity[variable], &product) ||
        product > gbsi_text_left(r->text) / 2) {
        return gbsi_text_fail(r->text, gbsi_text_at(r->text, before), err,
                              "found a scope of factor %zu whose table has more entries than the "
                              "%zu bytes left of the file can hold",
                              factor, gbsi_text_left(r->text));
    }
    r->n_entries[factor] = product;
    return GBS_OK;
}

/* Checks the child of a factor of a Bayesian network, which is the factor's last variable. Each
 * variable must be the child of one factor. */
static gbs_status check_child(uai_reader *r, const char *place, size_t factor, gbs_error *err)
{
    size_t end = r->scope_start[factor + 1];
    if (end == r->scope_start[factor]) {
        return gbsi_text_fail(r->text, gbsi_text_at(r->text, place), err,
                              "found an empty scope of factor %zu, expected the child of a "
                              "conditional table",
                              factor);
    }
    uint32_t child = ((const uint32_t *)r->scope)[end - 1];
    if (r->child[child] != 0) {
        return gbsi_text_fail(r->text, gbsi_text_at(r->text, place), err,
                              "found variable %u as the last of factor %zu, expected a variable "
                              "that has no table yet",
                              child, factor);
    }
    r->child[child] = 1;
    return GBS_OK;
}

/* @return the comment between here and the end of the line, without blanks around it; an empty
 *   token if there is no comment. */
static gbsi_token comment_behind(const gbsi_text *text)
{
    const char *at = text->at;
    const char *end = memchr(at, '\n', gbsi_text_left(text));
    end = end == NULL ? text->end : end;
    while (at < end && gbsi_is_blank(*at)) {
        at++;
    }
    if (at == end || *at != '#') {
        return (gbsi_token){at, 0};
    }
    do {
        at++;
    } while (at < end && gbsi_is_blank(*at));
    while (end > at && gbsi_is_blank(end[-1])) {
        end--;
    }
    return (gbsi_token){at, (size_t)(end - at)};
}

/* Notes the name in a comment behind a scope. A formula such as P(a|b) is no name. Several words
 * are a name only in the layout of pyAgrum, which has three blanks before the '#'. */
static gbs_status note_name(uai_reader *r, gbs_error *err)
{
    static const char before[5] = {' ', ' ', ' ', '#', ' '};
    const gbsi_token comment = comment_behind(r->text);
    const bool words =
        gbsi_text_left(r->text) >= sizeof before && memcmp(r->text->at, before, sizeof before) == 0;
    bool is_name = comment.n > 0;
    r->n_commented += is_name;
    for (size_t i = 0; i < comment.n && is_name; i++) {
        is_name = (words || !gbsi_is_blank(comment.at[i])) && strchr("(|", comment.at[i]) == NULL;
    }
    bool added = false;
    return is_name ? gbsi_name_map_add(&r->names, 0, comment.at, comment.n, 0, &added, err)
                   : GBS_OK;
}

static gbs_status read_scope(uai_reader *r, size_t factor, gbs_error *err)
{
    uint64_t n = 0;
    size_t start = r->scope_start[factor];
    r->place[factor] = r->text->at;
    GBSI_PASS(gbsi_text_count(r->text, "the size of a scope", 2, &n, err));
    GBSI_PASS(gbsi_reserve(&r->scope, &r->scope_capacity, start + n, sizeof(uint32_t),
                           r->text->name, err));
    r->n_entries[factor] = 1;
    for (size_t i = 0; i < n; i++) {
        GBSI_PASS(read_scope_variable(r, factor, start + i, err));
    }
    r->scope_start[factor + 1] = start + n;
    if (r->directed) {
        GBSI_PASS(check_child(r, r->place[factor], factor, err));
        GBSI_PASS(note_name(r, err));
    }
    return GBS_OK;
}

static bool has_two_parents(const uai_reader *r, size_t factor)
{
    const uint32_t *scope = r->scope;
    size_t n = 0;
    for (size_t i = r->scope_start[factor]; i + 1 < r->scope_start[factor + 1]; i++) {
        n += r->arity[scope[i]] > 1;
    }
    return n > 1;
}

/* Chooses the order of the parents, which sums of columns cannot show. Files of pyAgrum are
 * recognised by a different name behind every scope. */
static void choose_order(uai_reader *r)
{
    if (!r->directed || r->n_factors == 0 || r->n_commented < r->n_factors ||
        gbsi_table_order_typed(r->text->options)) {
        return;
    }
    if (r->names.n_used == r->n_factors) {
        r->order = GBSI_PARENTS_REVERSED;
        gbsi_text_warn(r->text,
                       "every scope has a name behind it, as pyAgrum writes them: tables are read "
                       "in the order of pyAgrum, the first parent fastest; --table-order "
                       "parents-child reads them in that of UAI");
        return;
    }
    size_t f = 0;
    while (f < r->n_factors && !has_two_parents(r, f)) {
        f++;
    }
    if (f < r->n_factors) {
        gbsi_text_warn(r->text,
                       "every scope has a comment behind it, though not names as pyAgrum writes "
                       "them: tables are read in the order of UAI; --table-order reversed-child "
                       "reads them in that of pyAgrum");
    }
}

static gbs_status read_scopes(uai_reader *r, gbs_error *err)
{
    uint64_t n = 0;
    r->factors_token = gbsi_text_peek(r->text);
    GBSI_PASS(gbsi_text_count(r->text, "the number of factors", 6, &n, err));
    if (r->directed && n != r->n_variables) {
        return gbsi_text_fail(r->text, r->factors_token, err,
                              "found %llu factor%s in a BAYES model, expected one per variable: %u",
                              (unsigned long long)n, gbsi_plural(n), r->n_variables);
    }
    r->n_factors = n;
    r->place = gbsi_alloc_array(n, sizeof *r->place);
    r->n_entries = gbsi_alloc_array(n, sizeof *r->n_entries);
    r->scope_start = gbsi_alloc_array_zero(n + 1, sizeof *r->scope_start);
    GBSI_PASS(GBSI_HAVE(err, r->text->name, r->place, r->n_entries, r->scope_start));
    /* The array is allocated even if all scopes are empty, because adding an offset to NULL is
     * undefined. */
    GBSI_PASS(gbsi_reserve(&r->scope, &r->scope_capacity, 1, sizeof(uint32_t), r->text->name, err));
    for (size_t f = 0; f < n; f++) {
        GBSI_PASS(read_scope(r, f, err));
    }
    choose_order(r);
    r->columns.order = r->order;
    return GBS_OK;
}

static gbs_status check_value(uai_reader *r, gbsi_token token, double *value, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    bool legal = r->in_logs ? *value < INFINITY : *value >= 0 && *value < INFINITY;
    if (legal || (r->directed && !r->in_logs && gbsi_columns_rounded(&r->columns, value))) {
        return GBS_OK;
    }
    (void)gbsi_token_show(token, shown);
    if (!r->in_logs && *value < 0) {
        return gbsi_text_fail(r->text, token, err,
                              "found %s, expected a value of at least 0; if the values are "
                              "logarithms, read with --from lg",
                              shown);
    }
    return gbsi_text_fail(r->text, token, err, "found %s, expected %s", shown,
                          r->in_logs ? "a logarithm, finite or -inf" : "a finite value");
}

static gbs_status read_values(uai_reader *r, size_t n, double *value, gbs_error *err)
{
    const char *expected = r->in_logs ? "a logarithm" : "a value";
    size_t *underflow = r->in_logs ? NULL : &r->n_underflow;
    for (size_t i = 0; i < n; i++) {
        const char *before = r->text->at;
        GBSI_PASS(gbsi_text_double(r->text, expected, &value[i], underflow, err));
        value[i] += 0.0; /* -0 becomes 0 */
        if (!(value[i] >= 0 && value[i] < INFINITY)) {
            GBSI_PASS(check_value(r, gbsi_text_at(r->text, before), &value[i], err));
        }
    }
    return GBS_OK;
}

/* Refuses a column of zeros, which is not a distribution. Such columns occur if evidence was
 * multiplied into the tables of a network. The result is a MARKOV model, and --lenient reads the
 * file in this way. */
static gbs_status refuse_zero_column(uai_reader *r, gbsi_token token, size_t factor, size_t column,
                                     gbs_error *err)
{
    const char *const format = "found column %zu of factor %zu (a state of the parents) all zero, "
                               "expected a distribution; as MARKOV (which --lenient takes it for) "
                               "the model would be legal";
    if (r->columns.normalize) {
        return gbsi_text_fail(r->text, token, err, format, column, factor);
    }
    GBSI_PASS(gbsi_text_deviation(r->text, token, err, format, column, factor));
    r->directed = false;
    return GBS_OK;
}

static gbs_status check_columns(uai_reader *r, size_t factor, double *value, gbs_error *err)
{
    char advice[GBSI_ADVICE];
    gbsi_token token = gbsi_text_at(r->text, r->place[factor]);
    uint32_t arity = r->arity[((const uint32_t *)r->scope)[r->scope_start[factor + 1] - 1]];
    size_t bad = 0;
    const gbsi_column_status columns = gbsi_columns_check(
        &r->columns, factor, value, r->n_entries[factor] / arity, arity, r->in_logs, &bad);
    switch (columns) {
    case GBSI_COLUMN_ZERO:
        return refuse_zero_column(r, token, factor, bad, err);
    case GBSI_COLUMN_OVERFLOW:
        return gbsi_text_fail(r->text, token, err,
                              "found column %zu of factor %zu beyond the largest double, expected "
                              "a distribution",
                              bad, factor);
    case GBSI_COLUMN_OFF:
    case GBSI_COLUMN_TURNED:
        return gbsi_text_fail(r->text, token, err,
                              "found column %zu of factor %zu (a state of the parents) with sum "
                              "%.6g, expected 1; %s",
                              bad, factor, r->columns.sum,
                              gbsi_columns_advice(&r->columns, columns, advice));
    case GBSI_COLUMN_MISSING: /* cannot occur, because no value is NaN */
    case GBSI_COLUMN_HOLED:
    case GBSI_COLUMN_OK:
        break;
    }
    return GBS_OK;
}

/* Reads the next number of a list that is separated by commas.
 * @return false if the next item is not a number of at most `max`. */
static bool next_listed(gbsi_text *list, uint64_t max, uint64_t *number)
{
    const char *comma = memchr(list->at, ',', gbsi_text_left(list));
    gbsi_text item = {.at = list->at, .end = comma == NULL ? list->end : comma};
    const gbsi_token word = gbsi_text_next(&item);
    bool too_large = false;
    list->at = comma == NULL ? list->end : comma + 1;
    return word.n > 0 && gbsi_integer_read(word.at, word.n, max, number, &too_large) &&
           gbsi_text_next(&item).n == 0;
}

/* Reads the list of variables in braces that pyAgrum writes behind the size of a table in MARKOV
 * models. The first variable of the list runs fastest, and the order may differ from the order of
 * the scope. Other comments are ignored. */
static void follow_braces(uai_reader *r, size_t factor)
{
    const gbsi_token comment = comment_behind(r->text);
    const size_t mark = SIZE_MAX - factor;
    const size_t n = r->scope_start[factor + 1] - r->scope_start[factor];
    uint32_t *scope = (uint32_t *)r->scope + r->scope_start[factor];
    uint64_t variable = 0;
    if (n == 0 || comment.n < 2 || comment.at[0] != '{' || comment.at[comment.n - 1] != '}') {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        r->seen[scope[i]] = mark;
    }
    const gbsi_text braces = {.at = comment.at + 1, .end = comment.at + comment.n - 1};
    gbsi_text list = braces;
    for (size_t i = 0; i < n; i++) {
        if (!next_listed(&list, r->n_variables - 1, &variable) || r->seen[variable] != mark) {
            return;
        }
        r->seen[variable] = 0;
    }
    if (list.at < list.end) {
        return;
    }
    list = braces;
    for (size_t i = n; i-- > 0;) {
        (void)next_listed(&list, r->n_variables - 1, &variable);
        scope[i] = (uint32_t)variable;
    }
    r->n_braced++;
}

static gbs_status read_table_size(uai_reader *r, size_t factor, gbs_error *err)
{
    char shape[SHAPE_BYTES];
    uint64_t n = 0;
    GBSI_PASS(gbsi_text_integer(r->text, "the size of a table", UINT64_MAX, &n, err));
    if (!r->directed && !gbsi_table_order_typed(r->text->options)) {
        follow_braces(r, factor);
    }
    if (n != r->n_entries[factor]) {
        return gbsi_text_fail(r->text, gbsi_text_at(r->text, r->place[factor]), err,
                              "factor %zu has %llu entr%s, its scope (%s) needs %zu", factor,
                              (unsigned long long)n, gbsi_plural_of(n, "y", "ies"),
                              show_shape(r, factor, shape, sizeof shape), r->n_entries[factor]);
    }
    if (n > gbsi_text_left(r->text) / 2) {
        return gbsi_text_fail(r->text, gbsi_text_at(r->text, r->place[factor]), err,
                              "factor %zu has %llu entr%s, but only %zu bytes are left of the "
                              "file",
                              factor, (unsigned long long)n, gbsi_plural_of(n, "y", "ies"),
                              gbsi_text_left(r->text));
    }
    return GBS_OK;
}

/* Adds the tables of the factors below `end` that were read until now. Taking many logarithms in
 * one call is much faster. */
static gbs_status add_tables(uai_reader *r, size_t end, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const double *value = r->value;
    if (!r->in_logs) {
        gbsi_log_many(r->value, r->n_values);
    }
    for (; r->n_added < end; r->n_added++) {
        const size_t f = r->n_added;
        const size_t start = r->scope_start[f];
        uint32_t table = 0;
        status = gbsi_equal_tables_add(r->share, r->builder, r->n_entries[f], value, &table, err);
        if (status == GBS_OK) {
            status =
                gbs_builder_add_table_factor(r->builder, (uint32_t)(r->scope_start[f + 1] - start),
                                             (const uint32_t *)r->scope + start, table, err);
        }
        if (status < 0) {
            return gbsi_text_blame(r->text, gbsi_text_at(r->text, r->place[f]), status, err);
        }
        value += r->n_entries[f];
    }
    r->n_values = 0;
    return GBS_OK;
}

/* Reorders a table from the order of the file to the order of the model. */
static gbs_status turn_table(uai_reader *r, size_t factor, double *value, gbs_error *err)
{
    gbsi_axes axes = {0};
    const size_t n = r->n_entries[factor];
    const size_t end = r->scope_start[factor + 1];
    const uint32_t *scope = r->scope;
    if (end - r->scope_start[factor] < 2) {
        return GBS_OK;
    }
    GBSI_PASS(gbsi_reserve(&r->turned, &r->turned_capacity, n, sizeof(double), r->text->name, err));
    memcpy(r->turned, value, n * sizeof(double));
    for (size_t i = r->scope_start[factor]; i + 1 < end; i++) {
        gbsi_axes_add_parent(&axes, r->arity[scope[i]]);
    }
    gbsi_axes_turn(&axes, r->arity[scope[end - 1]], r->order, r->turned, value);
    r->columns.as_read = r->turned;
    return GBS_OK;
}

static gbs_status read_table(uai_reader *r, size_t factor, gbs_error *err)
{
    const size_t many = 4096; /* number of entries that are enough for a call of add_tables() */
    size_t n = r->n_entries[factor];
    r->place[factor] = r->text->at;
    GBSI_PASS(read_table_size(r, factor, err));
    GBSI_PASS(gbsi_reserve(&r->value, &r->value_capacity, r->n_values + n, sizeof(double),
                           r->text->name, err));
    double *value = (double *)r->value + r->n_values;
    GBSI_PASS(read_values(r, n, value, err));
    r->columns.as_read = value;
    r->columns.has_parents = r->scope_start[factor + 1] - r->scope_start[factor] > 2;
    if (r->order != 0) {
        GBSI_PASS(turn_table(r, factor, value, err));
    }
    if (r->directed) {
        GBSI_PASS(check_columns(r, factor, value, err));
    }
    r->n_values += n;
    if (r->n_values >= many) {
        GBSI_PASS(add_tables(r, factor + 1, err));
    }
    return GBS_OK;
}

static gbs_status read_tables(uai_reader *r, gbs_error *err)
{
    for (size_t f = 0; f < r->n_factors; f++) {
        GBSI_PASS(read_table(r, f, err));
    }
    GBSI_PASS(add_tables(r, r->n_factors, err));
    GBSI_PASS(gbsi_text_expect_end(r->text, "the last table", err));
    if (r->n_underflow != 0) {
        gbsi_text_warn(r->text, "%zu value%s too small for a double and became zero",
                       r->n_underflow, gbsi_plural_of(r->n_underflow, " is", "s are"));
    }
    if (r->columns.n_negative != 0) {
        gbsi_text_warn(r->text, "%zu value%s below zero by rounding (at most 1e-6) and became zero",
                       r->columns.n_negative,
                       gbsi_plural_of(r->columns.n_negative, " is", "s are"));
    }
    if (r->columns.n_off != 0) {
        gbsi_text_warn(r->text,
                       "%zu column%s of conditional tables %s not sum to one; the worst, in factor "
                       "%zu, is off by %.3g; --normalize-cpts scales them",
                       r->columns.n_off, gbsi_plural(r->columns.n_off),
                       gbsi_plural_of(r->columns.n_off, "does", "do"), r->columns.worst_id,
                       r->columns.worst);
    }
    if (r->n_braced != 0) {
        gbsi_text_warn(r->text,
                       "%zu table%s variables in braces, as pyAgrum writes them: these "
                       "are read in that order, the first fastest; --table-order parents-child "
                       "reads them in the order of UAI",
                       r->n_braced, gbsi_plural_of(r->n_braced, " names", "s name"));
    }
    return GBS_OK;
}

static gbs_status read_model(gbsi_text *text, bool in_logs, gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uai_reader r = {.text = text, .in_logs = in_logs};
    text->comment = '#';
    text->is_glued = true;
    r.columns = gbsi_columns_begin(text->options);
    r.order = gbsi_table_order(text->options, 0);
    GBSI_TRY(gbs_builder_new(&r.builder, err));
    GBSI_TRY(gbsi_equal_tables_new(&r.share, err));
    GBSI_TRY(read_type(&r, err));
    GBSI_TRY(read_variables(&r, err));
    GBSI_TRY(read_scopes(&r, err));
    GBSI_TRY(read_tables(&r, err));
    if (r.directed) {
        gbs_builder_set_directed(r.builder);
    }
    status = gbsi_text_blame(text, r.factors_token, gbs_builder_build(r.builder, model, err), err);

cleanup:
    free_reader(&r);
    return status;
}

gbs_status gbsi_uai_read(gbsi_text *text, gbs_model **model, gbs_error *err)
{
    return read_model(text, false, model, err);
}

gbs_status gbsi_lg_read(gbsi_text *text, gbs_model **model, gbs_error *err)
{
    return read_model(text, true, model, err);
}
