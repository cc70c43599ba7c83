/* SPDX-License-Identifier: Apache-2.0 */
/* Reads Matrix Market (Boisvert, Pozo & Remington 1996, NISTIR 5935): a square matrix of couplings,
 * with fields on its diagonal. If a file has both triangles of the matrix, each coupling is still
 * counted once. The same functions read matrices of influences. */
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "models/couplings.h"
#include "models/formats.h"

typedef struct mtx_reader {
    gbsi_text *text;
    gbsi_couplings couplings;
    bool array;   /* the file has every entry, in the order of columns */
    bool pattern; /* the entries have no values */
    bool integer;
    bool symmetric; /* the file has only the lower triangle */
    uint64_t n_entries;
    gbsi_token size; /* token at the beginning of the line of sizes */
} mtx_reader;

/* ---- the header -------------------------------------------------------------------------- */

/* Reads the next word, which must be one of the n words in any letter case.
 * @param which out: index of the word that was found. */
static gbs_status read_word(gbsi_text *line, const char *const *words, unsigned n,
                            const char *expected, unsigned *which, gbs_error *err)
{
    gbsi_token token = gbsi_text_next(line);
    for (*which = 0; *which < n; ++*which) {
        if (gbsi_token_is_any_case(token, words[*which])) {
            return GBS_OK;
        }
    }
    return gbsi_line_unexpected(line, token, expected, err);
}

static gbs_status read_header(mtx_reader *r, gbs_error *err)
{
    static const char *const object[] = {"MATRIX"};
    static const char *const layout[] = {"COORDINATE", "ARRAY"};
    static const char *const field[] = {"REAL", "INTEGER", "PATTERN"};
    static const char *const symmetry[] = {"GENERAL", "SYMMETRIC"};
    gbsi_text line;
    unsigned which = 0;
    if (!gbsi_line_next(r->text, &line)) {
        return gbsi_text_unexpected(r->text, gbsi_text_next(r->text), "%%MatrixMarket", err);
    }
    gbsi_token banner = gbsi_text_next(&line);
    if (!gbsi_token_is(banner, "%%MatrixMarket")) {
        return gbsi_text_unexpected(r->text, banner, "%%MatrixMarket", err);
    }
    GBSI_PASS(read_word(&line, object, 1, "matrix", &which, err));
    GBSI_PASS(read_word(&line, layout, 2, "coordinate or array", &which, err));
    r->array = which == 1;
    gbsi_token kind = gbsi_text_peek(&line);
    GBSI_PASS(read_word(&line, field, 3, "real, integer or pattern", &which, err));
    r->integer = which == 1;
    r->pattern = which == 2;
    if (r->pattern && r->array) {
        return gbsi_text_unexpected(r->text, kind, "real or integer for an array", err);
    }
    GBSI_PASS(read_word(&line, symmetry, 2, "general or symmetric", &which, err));
    r->symmetric = which == 1;
    return gbsi_line_expect_end(&line, "the symmetry", err);
}

/* Finds the line of sizes, which may follow comments. */
static gbs_status next_size_line(mtx_reader *r, gbsi_text *line, gbs_error *err)
{
    do {
        if (!gbsi_line_next(r->text, line)) {
            return gbsi_text_unexpected(r->text, gbsi_text_next(r->text), "the size of the matrix",
                                        err);
        }
        r->size = gbsi_text_peek(line);
    } while (r->size.at[0] == '%');
    return GBS_OK;
}

static gbs_status read_size(mtx_reader *r, gbs_error *err)
{
    gbsi_text line;
    uint64_t n_rows = 0;
    uint64_t n_columns = 0;
    GBSI_PASS(next_size_line(r, &line, err));
    GBSI_PASS(gbsi_line_integer(&line, "the number of rows", UINT64_MAX, &n_rows, err));
    gbsi_token columns = gbsi_text_peek(&line);
    GBSI_PASS(gbsi_line_integer(&line, "the number of columns", UINT64_MAX, &n_columns, err));
    if (n_rows != n_columns) {
        return gbsi_text_fail(r->text, columns, err,
                              "found %llu row%s and %llu column%s, expected a square matrix",
                              (unsigned long long)n_rows, gbsi_plural(n_rows),
                              (unsigned long long)n_columns, gbsi_plural(n_columns));
    }
    GBSI_PASS(gbsi_check_variables(r->text, r->size, n_rows, err));
    r->couplings.n_variables = (uint32_t)n_rows;
    if (!r->array) {
        GBSI_PASS(gbsi_line_count(r->text, &line, "the number of entries", r->pattern ? 4 : 6,
                                  &r->n_entries, err));
    }
    return gbsi_line_expect_end(&line, "the size", err);
}

typedef gbs_status read_one(mtx_reader *r, gbsi_text *line, gbs_error *err);

/* ---- entries ----------------------------------------------------------------------------- */

static gbs_status read_value(mtx_reader *r, gbsi_text *line, double *value, gbs_error *err)
{
    const char *expected = r->integer ? "an integer" : "a finite value";
    gbsi_token token = gbsi_text_peek(line);
    for (size_t i = 0; r->integer && i < token.n; i++) {
        bool sign = i == 0 && token.n > 1 && (token.at[0] == '-' || token.at[0] == '+');
        if (!sign && (token.at[i] < '0' || token.at[i] > '9')) {
            return gbsi_line_unexpected(line, token, expected, err);
        }
    }
    return gbsi_line_number(line, expected, value, &r->couplings.n_underflow, err);
}

static gbs_status read_index(mtx_reader *r, gbsi_text *line, const char *expected, uint64_t *index,
                             gbs_error *err)
{
    gbsi_token token = gbsi_text_peek(line);
    gbs_status status = gbsi_line_integer(line, expected, r->couplings.n_variables, index, err);
    if (status == GBS_OK && *index == 0) {
        return gbsi_text_unexpected(line, token, expected, err);
    }
    return status;
}

/* Reads the row and the column of an entry, which are counted from 1. */
static gbs_status read_place(mtx_reader *r, gbsi_text *line, uint64_t *i, uint64_t *j,
                             gbs_error *err)
{
    gbsi_token place = gbsi_text_peek(line);
    GBSI_PASS(read_index(r, line, "a row from 1", i, err));
    GBSI_PASS(read_index(r, line, "a column from 1", j, err));
    if (r->symmetric && *i < *j) {
        return gbsi_text_fail(line, place, err,
                              "found an entry above the diagonal of a symmetric matrix, expected "
                              "its lower triangle only");
    }
    return GBS_OK;
}

static gbs_status read_entry(mtx_reader *r, gbsi_text *line, gbs_error *err)
{
    uint64_t i = 0;
    uint64_t j = 0;
    double value = 1.0;
    gbsi_token place = gbsi_text_peek(line);
    GBSI_PASS(read_place(r, line, &i, &j, err));
    if (!r->pattern) {
        GBSI_PASS(read_value(r, line, &value, err));
    }
    GBSI_PASS(gbsi_line_expect_end(line, "an entry", err));
    return gbsi_couplings_add(&r->couplings, line, place, i - 1, j - 1, value, err);
}

static gbs_status read_entries(mtx_reader *r, read_one *read, gbs_error *err)
{
    gbsi_text line;
    r->couplings.first = *r->text;
    for (uint64_t e = 0; e < r->n_entries; e++) {
        if (!gbsi_line_next(r->text, &line)) {
            return gbsi_text_fail(r->text, gbsi_text_next(r->text), err,
                                  "found the end of the file, expected entry %llu of %llu",
                                  (unsigned long long)e + 1, (unsigned long long)r->n_entries);
        }
        GBSI_PASS(read(r, &line, err));
    }
    return GBS_OK;
}

/* ---- a dense matrix ---------------------------------------------------------------------- */

/* Checks that the file can hold all values. A value takes at least two bytes. A lower triangle has
 * n (n + 1) / 2 values. */
static gbs_status check_array(mtx_reader *r, size_t *n_values, gbs_error *err)
{
    const size_t n = r->couplings.n_variables;
    size_t product = 0;
    bool fits = gbsi_mul_size(n, r->symmetric ? n + 1 : n, &product);
    *n_values = r->symmetric ? product / 2 : product;
    if (!fits || *n_values > gbsi_text_left(r->text) / 2) {
        return gbsi_text_fail(r->text, r->size, err,
                              "found %zu row%s, but the %zu bytes left of the file cannot hold so "
                              "many values",
                              n, gbsi_plural(n), gbsi_text_left(r->text));
    }
    return GBS_OK;
}

/* Reads a value of a dense matrix.
 * @param column values of a full matrix that were read until now, in the order of columns; NULL if
 *   the file has only a triangle. */
static gbs_status read_array_value(mtx_reader *r, double *column, uint32_t i, uint32_t j,
                                   gbs_error *err)
{
    const size_t n = r->couplings.n_variables;
    double value = 0;
    gbsi_token place = gbsi_text_peek(r->text);
    if (place.n == 0) {
        return gbsi_text_fail(r->text, place, err,
                              "found the end of the file, expected row %u of column %u of %u",
                              i + 1, j + 1, r->couplings.n_variables);
    }
    GBSI_PASS(read_value(r, r->text, &value, err));
    if (column != NULL) {
        column[j * n + i] = value;
        if (i < j && column[i * n + j] != value) {
            return gbsi_refuse_mirror(r->text, place, column[i * n + j], value, err);
        }
    }
    if (value != 0 && i >= j) { /* zeros and the upper triangle give no factors */
        GBSI_PASS(gbsi_couplings_add(&r->couplings, r->text, place, i, j, value, err));
    }
    return GBS_OK;
}

static gbs_status read_array(mtx_reader *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n = r->couplings.n_variables;
    double *column = NULL;
    size_t n_values = 0;
    GBSI_TRY(check_array(r, &n_values, err));
    if (!r->symmetric) {
        column = gbsi_alloc_array(n_values, sizeof *column);
        GBSI_PASS(GBSI_HAVE(err, r->text->name, column));
    }
    r->couplings.first = *r->text;
    for (uint32_t j = 0; j < n; j++) {
        for (uint32_t i = r->symmetric ? j : 0; i < n; i++) {
            GBSI_TRY(read_array_value(r, column, i, j, err));
        }
    }

cleanup:
    gbsi_free(column);
    return status;
}

gbs_status gbsi_mtx_read(gbsi_text *text, gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    mtx_reader r = {.text = text};
    GBSI_TRY(gbsi_couplings_begin(&r.couplings, text, GBSI_MTX_CONVENTION, "", err));
    GBSI_TRY(read_header(&r, err));
    GBSI_TRY(read_size(&r, err));
    GBSI_TRY(r.array ? read_array(&r, err) : read_entries(&r, read_entry, err));
    GBSI_TRY(gbsi_text_expect_end(text, "the last entry", err));
    /* For a dense matrix read_array_value() has compared the two triangles. */
    status = gbsi_couplings_build(&r.couplings,
                                  r.symmetric || r.array ? GBSI_PAIR_ONCE : GBSI_PAIR_MIRROR, false,
                                  model, err);

cleanup:
    gbsi_couplings_free(&r.couplings);
    return status;
}

/* ---- influences -------------------------------------------------------------------------- */

static gbs_status read_influence(mtx_reader *r, gbsi_text *line, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    uint64_t i = 0;
    uint64_t j = 0;
    double value = 0.0;
    GBSI_PASS(read_place(r, line, &i, &j, err));
    const gbsi_token number = gbsi_text_peek(line);
    GBSI_PASS(read_value(r, line, &value, err));
    if (!(value >= 0.0 && value <= 1.0)) {
        return gbsi_text_fail(
            line, number, err,
            "found the influence %s, expected 0 to 1: it bounds a total variation "
            "distance",
            gbsi_token_show(number, shown));
    }
    if (i == j && value != 0.0) {
        return gbsi_text_fail(line, number, err,
                              "found the influence %s of a variable on itself, expected 0 or no "
                              "entry on the diagonal",
                              gbsi_token_show(number, shown));
    }
    GBSI_PASS(gbsi_line_expect_end(line, "an entry", err));
    return gbsi_edges_add(&r->couplings.edges, (uint32_t)(i - 1), (uint32_t)(j - 1), value, err);
}

/* Refuses repeated entries, and adds the upper triangle of a symmetric matrix. */
static gbs_status complete(mtx_reader *r, gbs_error *err)
{
    gbsi_couplings *c = &r->couplings;
    gbsi_repeats repeats;
    GBSI_PASS(gbsi_edges_sum(&c->edges, c->n_variables, true, &repeats, err));
    if (repeats.n != 0) {
        return gbsi_text_fail(r->text, gbsi_couplings_place(c, repeats.entry), err,
                              "this influence was given before, expected each entry once");
    }
    for (size_t e = c->edges.n; r->symmetric && e-- > 0;) {
        const gbsi_edge edge = ((const gbsi_edge *)c->edges.edge)[e];
        if (edge.i != edge.j) {
            GBSI_PASS(gbsi_edges_add(&c->edges, edge.j, edge.i, edge.value, err));
        }
    }
    return GBS_OK;
}

static gbs_status read_influences(mtx_reader *r, const gbs_model *model, gbs_error *err)
{
    const uint32_t n = gbs_model_n_variables(model);
    GBSI_PASS(read_header(r, err));
    if (r->array || r->pattern) {
        return gbsi_text_fail(r->text, gbsi_text_at(r->text, r->text->begin), err,
                              "found %s, expected influences as 'coordinate real'",
                              r->array ? "an array" : "a pattern without values");
    }
    GBSI_PASS(read_size(r, err));
    if (r->couplings.n_variables != n) {
        return gbsi_text_fail(r->text, r->size, err,
                              "found a matrix of %u rows, expected one for each of the %u "
                              "variable%s of the model",
                              r->couplings.n_variables, n, gbsi_plural(n));
    }
    GBSI_PASS(read_entries(r, read_influence, err));
    GBSI_PASS(gbsi_text_expect_end(r->text, "the last entry", err));
    return complete(r, err);
}

gbs_status gbs_influences_read(const char *path, const gbs_model *model, gbs_pair **pair, size_t *n,
                               gbs_error *err)
{
    GBSI_NEED(path, model, pair, n);
    gbs_status status = GBS_OK;
    gbsi_input input = {0};
    gbsi_text text;
    mtx_reader r = {.text = &text};
    GBSI_TRY(gbsi_input_read_text(path, &input, err));
    GBSI_TRY(gbsi_text_open(&text, &input, NULL, err));
    GBSI_TRY(gbsi_couplings_begin(&r.couplings, &text, GBSI_MTX_CONVENTION, "", err));
    GBSI_TRY(read_influences(&r, model, err));
    gbsi_edges *edges = &r.couplings.edges;
    /* without entries all influences are 0; a NULL list would mean that they have to be computed */
    if (edges->edge == NULL) {
        edges->edge = gbsi_alloc_array(1, sizeof **pair);
        GBSI_TRY(GBSI_HAVE(err, path, edges->edge));
    }
    *pair = edges->edge;
    *n = edges->n;
    r.couplings.edges = (gbsi_edges){0};

cleanup:
    gbsi_couplings_free(&r.couplings);
    gbsi_input_free(&input);
    return status;
}
