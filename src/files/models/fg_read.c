/* SPDX-License-Identifier: Apache-2.0 */
/* Reads libDAI factor graphs. A factor in the file has the labels of its variables, their
 * cardinalities and the entries that are not zero. The variable of the first label runs fastest in
 * the index of an entry. A scope of this library, whose last variable runs fastest, is therefore
 * the list of labels in reverse order, and the indices are equal. The file names variables only by
 * labels, which need not be contiguous numbers. Variables are numbered in the order of their labels
 * once all labels are known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "decimal/decimal.h"
#include "models/formats.h"
#include "models/tables.h"
#include "simd/math.h"
#include "text/common.h"

/* Number of zeros (32 MiB of doubles) that a file may leave unlisted, in addition to one zero for
 * each byte of the file. */
static const size_t UNLISTED_ENTRIES = (size_t)1 << 22;

typedef struct fg_variable {
    gbsi_token label; /* digits of the label without a sign and leading zeros */
    /* number of the variable in the order in which factors first mention the variables */
    uint32_t id;
    uint32_t arity; /* number of states; 0 if this is not known yet */
    size_t first;   /* number of the first factor that mentions the variable */
    size_t last;    /* 1 + number of the last factor that mentions the variable */
} fg_variable;

typedef struct fg_reader {
    gbsi_text *text;
    gbs_builder *builder;
    gbsi_equal_tables *share;
    gbsi_name_map labels;
    void *variable; /* fg_variable [n_variables], in the end sorted by label */
    size_t variable_capacity;
    uint32_t n_variables;
    size_t n_factors;
    const char **place;  /* [n_factors] position in the text where each factor begins */
    uint32_t *table;     /* [n_factors] */
    size_t *scope_start; /* [n_factors + 1] */
    /* uint32_t [scope_start[n_factors]] ids of the variables of each factor, in the order of the
     * file */
    void *scope;
    size_t scope_capacity;
    size_t n_spare; /* number of further zeros that the file may leave unlisted */
    size_t n_entries;
    /* double [n_entries] entries of the current table; below 0 until the entry is listed */
    void *value;
    size_t value_capacity;
    size_t n_underflow;
    size_t n_repeats; /* number of repetitions of listed entries */
} fg_reader;

static void free_reader(fg_reader *r)
{
    gbs_builder_free(r->builder);
    gbsi_equal_tables_free(r->share);
    gbsi_name_map_free(&r->labels);
    GBSI_FREE(r->variable, r->place, r->table, r->scope_start, r->scope, r->value);
}

static fg_variable *variable_at(fg_reader *r, uint32_t id)
{
    return (fg_variable *)r->variable + id;
}

/* @return the digits of a label without a sign and leading zeros, "7" for "+007". */
static gbsi_token plain_digits(gbsi_token token)
{
    while (token.n > 1 && (*token.at == '0' || *token.at == '+')) {
        token.at++;
        token.n--;
    }
    return token;
}

static gbs_status read_label(fg_reader *r, size_t factor, uint32_t *id, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    uint64_t value = 0;
    bool added = false;
    gbsi_token token = gbsi_text_peek(r->text);
    GBSI_PASS(gbsi_text_integer(r->text, "the label of a variable", UINT64_MAX, &value, err));
    gbsi_token label = plain_digits(token);
    if (gbsi_name_map_find(&r->labels, 0, label.at, label.n, id)) {
        if (variable_at(r, *id)->last == factor + 1) {
            return gbsi_text_fail(r->text, token, err,
                                  "found label %s twice in factor %zu, expected it once",
                                  gbsi_token_show(label, shown), factor);
        }
        variable_at(r, *id)->last = factor + 1;
        return GBS_OK;
    }
    if (r->n_variables == GBS_MAX_VARIABLES) {
        return gbsi_text_fail(r->text, token, err, "found more than %u variables",
                              GBS_MAX_VARIABLES);
    }
    GBSI_PASS(gbsi_reserve(&r->variable, &r->variable_capacity, (size_t)r->n_variables + 1,
                           sizeof(fg_variable), r->text->name, err));
    GBSI_PASS(gbsi_name_map_add(&r->labels, 0, label.at, label.n, r->n_variables, &added, err));
    *id = r->n_variables++;
    *variable_at(r, *id) =
        (fg_variable){.label = label, .id = *id, .first = factor, .last = factor + 1};
    return GBS_OK;
}

static gbs_status read_cardinality(fg_reader *r, uint32_t id, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    uint64_t arity = 0;
    fg_variable *v = variable_at(r, id);
    gbsi_token token = gbsi_text_peek(r->text);
    GBSI_PASS(gbsi_text_integer(r->text, "a cardinality", GBS_MAX_ARITY, &arity, err));
    if (arity == 0) {
        return gbsi_text_fail(r->text, token, err,
                              "found cardinality 0 of label %s, expected 1 to %u",
                              gbsi_token_show(v->label, shown), GBS_MAX_ARITY);
    }
    if (v->arity != 0 && v->arity != arity) {
        return gbsi_text_fail(
            r->text, token, err, "found cardinality %llu of label %s, expected %u as in factor %zu",
            (unsigned long long)arity, gbsi_token_show(v->label, shown), v->arity, v->first);
    }
    v->arity = (uint32_t)arity;
    return GBS_OK;
}

static gbs_status too_large(const fg_reader *r, gbsi_token token, size_t factor, gbs_error *err)
{
    (void)gbsi_text_fail(r->text, token, err,
                         "the table of factor %zu would have more entries than the %zu bytes left "
                         "of the file can list and the %zu zeros that it may leave out",
                         factor, gbsi_text_left(r->text), r->n_spare);
    if (err != NULL) {
        err->status = GBS_ERR_LIMIT;
    }
    return GBS_ERR_LIMIT;
}

/* Reads the number of variables, their labels and their cardinalities. If the factor has no
 * variables, the lines of labels and cardinalities are empty, and nothing is read from them. */
static gbs_status read_scope(fg_reader *r, size_t factor, gbs_error *err)
{
    uint64_t n = 0;
    gbsi_token token = gbsi_text_peek(r->text);
    size_t start = r->scope_start[factor];
    r->place[factor] = token.at;
    GBSI_PASS(gbsi_text_count(r->text, "the number of variables of a factor", 4, &n, err));
    GBSI_PASS(gbsi_reserve(&r->scope, &r->scope_capacity, start + n + 1, sizeof(uint32_t),
                           r->text->name, err));
    uint32_t *scope = (uint32_t *)r->scope + start;
    r->scope_start[factor + 1] = start + n;
    for (size_t i = 0; i < n; i++) {
        GBSI_PASS(read_label(r, factor, &scope[i], err));
    }
    r->n_entries = 1;
    for (size_t i = 0; i < n; i++) {
        GBSI_PASS(read_cardinality(r, scope[i], err));
        if (!gbsi_mul_size(r->n_entries, variable_at(r, scope[i])->arity, &r->n_entries) ||
            r->n_entries > gbsi_text_left(r->text) / 4 + r->n_spare) {
            return too_large(r, token, factor, err);
        }
    }
    return GBS_OK;
}

static gbs_status read_entry(fg_reader *r, size_t factor, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    uint64_t index = 0;
    double value = 0;
    double *table = r->value;
    gbsi_token token = gbsi_text_peek(r->text);
    GBSI_PASS(gbsi_text_integer(r->text, "the index of an entry", UINT64_MAX, &index, err));
    if (index >= r->n_entries) {
        return gbsi_text_fail(r->text, token, err,
                              "found index %s in factor %zu, expected less than %zu",
                              gbsi_token_show(token, shown), factor, r->n_entries);
    }
    if (table[index] >= 0 && r->n_repeats++ == 0) {
        /* lenient reading shows the first repetition and counts all repetitions */
        GBSI_PASS(gbsi_text_deviation(r->text, token, err,
                                      "found index %s of factor %zu for the second time, expected "
                                      "it once",
                                      gbsi_token_show(token, shown), factor));
    }
    token = gbsi_text_peek(r->text);
    GBSI_PASS(gbsi_text_double(r->text, "a value", &value, &r->n_underflow, err));
    if (!(value >= 0 && value < INFINITY)) {
        return gbsi_text_unexpected(r->text, token, "a finite value of at least 0", err);
    }
    table[index] = value + 0.0; /* -0 becomes 0 */
    return GBS_OK;
}

/* Reads the number of listed entries, then the index and the value of each entry. The entries may
 * have any order. */
static gbs_status read_table(fg_reader *r, size_t factor, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint64_t n = 0;
    gbsi_token token = gbsi_text_peek(r->text);
    GBSI_TRY(gbsi_text_count(r->text, "the number of entries listed", 4, &n, err));
    size_t unlisted = n < r->n_entries ? r->n_entries - n : 0;
    if (unlisted > r->n_spare) {
        return too_large(r, token, factor, err);
    }
    r->n_spare -= unlisted;
    GBSI_TRY(gbsi_reserve(&r->value, &r->value_capacity, r->n_entries, sizeof(double),
                          r->text->name, err));
    double *value = r->value;
    for (size_t i = 0; i < r->n_entries; i++) {
        value[i] = -1;
    }
    for (size_t i = 0; i < n; i++) {
        GBSI_TRY(read_entry(r, factor, err));
    }
    for (size_t i = 0; i < r->n_entries; i++) {
        value[i] = value[i] < 0 ? -INFINITY : gbsi_log(value[i]);
    }
    status =
        gbsi_equal_tables_add(r->share, r->builder, r->n_entries, value, &r->table[factor], err);
    GBSI_TRY(gbsi_text_blame(r->text, token, status, err));

cleanup:
    return status;
}

static gbs_status read_factors(fg_reader *r, gbs_error *err)
{
    uint64_t n = 0;
    GBSI_PASS(gbsi_text_count(r->text, "the number of factors", 4, &n, err));
    r->n_factors = n;
    r->place = gbsi_alloc_array(n, sizeof *r->place);
    r->table = gbsi_alloc_array(n, sizeof *r->table);
    r->scope_start = gbsi_alloc_array_zero(n + 1, sizeof *r->scope_start);
    GBSI_PASS(GBSI_HAVE(err, r->text->name, r->place, r->table, r->scope_start));
    for (size_t f = 0; f < n; f++) {
        GBSI_PASS(read_scope(r, f, err));
        GBSI_PASS(read_table(r, f, err));
    }
    GBSI_PASS(gbsi_text_expect_end(r->text, "the last factor", err));
    if (r->n_repeats != 0) {
        gbsi_text_warn(r->text, "%zu entr%s listed more than once; the last value of each is used",
                       r->n_repeats, gbsi_plural_of(r->n_repeats, "y is", "ies are"));
    }
    if (r->n_underflow != 0) {
        gbsi_text_warn(r->text, "%zu value%s too small for a double and became zero",
                       r->n_underflow, gbsi_plural_of(r->n_underflow, " is", "s are"));
    }
    return GBS_OK;
}

/* ---- variables in the order of their labels ---------------------------------------------- */

static int by_label(const void *a, const void *b)
{
    gbsi_token x = ((const fg_variable *)a)->label;
    gbsi_token y = ((const fg_variable *)b)->label;
    if (x.n != y.n) {
        return x.n < y.n ? -1 : 1;
    }
    return memcmp(x.at, y.at, x.n);
}

/* Whether the labels are 0, 1, ..., n - 1. The labels are sorted and distinct, so the test is
 * whether the last label is n - 1. */
static bool are_indices(fg_reader *r)
{
    uint64_t last = 0;
    bool too_large = false;
    gbsi_token label = variable_at(r, r->n_variables - 1)->label;
    return gbsi_integer_read(label.at, label.n, UINT64_MAX, &last, &too_large) &&
           last == r->n_variables - 1;
}

static gbs_status name_variables(fg_reader *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    for (uint32_t v = 0; v < r->n_variables; v++) {
        char name[32] = "";
        /* a number of 64 bits, which has at most 20 digits */
        gbsi_token label = variable_at(r, v)->label;
        memcpy(name, label.at, label.n);
        status = gbs_builder_name_variable(r->builder, v, name, err);
        GBSI_TRY(gbsi_text_blame(r->text, label, status, err));
    }

cleanup:
    return status;
}

/* Adds the variables in the order of their labels.
 * @param number [n_variables] out: number of the variable of each id. */
static gbs_status add_variables(fg_reader *r, uint32_t *number, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t n = r->n_variables;
    uint32_t *arity = gbsi_alloc_array(n, sizeof *arity);
    GBSI_PASS(GBSI_HAVE(err, r->text->name, arity));
    if (n > 0) {
        qsort(r->variable, n, sizeof(fg_variable), by_label);
    }
    for (uint32_t v = 0; v < n; v++) {
        number[variable_at(r, v)->id] = v;
        arity[v] = variable_at(r, v)->arity;
    }
    GBSI_TRY(gbs_builder_add_variables(r->builder, n, arity, NULL, err));
    if (n > 0 && !are_indices(r)) {
        GBSI_TRY(name_variables(r, err));
    }

cleanup:
    gbsi_free(arity);
    return status;
}

static gbs_status add_factors(fg_reader *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t *ids = r->scope;
    uint32_t *scope = NULL;
    size_t n_ids = r->scope_start[r->n_factors];
    uint32_t *number = gbsi_alloc_array(r->n_variables, sizeof *number);
    scope = gbsi_alloc_array(n_ids, sizeof *scope);
    GBSI_TRY(GBSI_HAVE(err, r->text->name, number, scope));
    GBSI_TRY(add_variables(r, number, err));
    for (size_t f = 0; f < r->n_factors; f++) {
        size_t start = r->scope_start[f];
        size_t n = r->scope_start[f + 1] - start;
        for (size_t i = 0; i < n; i++) {
            scope[i] = number[ids[start + n - 1 - i]];
        }
        status = gbs_builder_add_table_factor(r->builder, (uint32_t)n, scope, r->table[f], err);
        GBSI_TRY(gbsi_text_blame(r->text, (gbsi_token){r->place[f], 1}, status, err));
    }

cleanup:
    GBSI_FREE(number, scope);
    return status;
}

gbs_status gbsi_fg_read(gbsi_text *text, gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    fg_reader r = {.text = text};
    text->comment = '#';
    r.n_spare = UNLISTED_ENTRIES + (size_t)(text->end - text->begin);
    GBSI_TRY(gbs_builder_new(&r.builder, err));
    GBSI_TRY(gbsi_equal_tables_new(&r.share, err));
    GBSI_TRY(read_factors(&r, err));
    GBSI_TRY(add_factors(&r, err));
    status = gbs_builder_build(r.builder, model, err);

cleanup:
    free_reader(&r);
    return status;
}
