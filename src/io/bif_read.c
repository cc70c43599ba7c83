/* SPDX-License-Identifier: Apache-2.0 */
/* Second reading of a BIF file: the probability blocks become tables over (parents..., child), the
 * child fastest. A "table" statement counts the other way, child slowest. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "io/bif_network.h"
#include "io/columns.h"
#include "io/decimal.h"
#include "io/formats.h"
#include "io/share.h"
#include "simd/math.h"

/* Entries that default rows may fill over the whole file, besides one per byte of it: 32 MiB of
 * doubles. */
static const size_t DEFAULT_ENTRIES = (size_t)1 << 22;

typedef struct bif_reader {
    gbsi_text *text;
    gbsi_bif_network network;
    gbs_builder *builder;
    gbsi_share *share;
    size_t *seen;     /* [n_variables] 1 + the last block that named the variable */
    uint8_t *defined; /* [n_variables] 1: has a table */
    size_t n_defaults_left;
    size_t n_underflow;
    gbsi_columns columns;
    /* the block being read */
    size_t block;
    gbsi_token child_token;
    void *scope; /* uint32_t [n_scope]: child first, then parents; turned round at the end */
    size_t scope_capacity;
    uint32_t n_scope;
    uint32_t arity; /* of the child */
    size_t n_rows;  /* states of the parents */
    void *value;    /* double [n_rows * arity], then a default row [arity] */
    size_t value_capacity;
    void *filled; /* uint8_t [n_rows] */
    size_t filled_capacity;
    bool has_table;
    bool has_default;
    size_t n_filled;
} bif_reader;

static void free_reader(bif_reader *r)
{
    gbsi_bif_network_free(&r->network);
    gbs_builder_free(r->builder);
    gbsi_share_free(r->share);
    gbsi_free(r->seen);
    gbsi_free(r->defined);
    gbsi_free(r->scope);
    gbsi_free(r->value);
    gbsi_free(r->filled);
}

static uint32_t *scope_of(bif_reader *r)
{
    return r->scope;
}

static const gbsi_bif_variable *variable_at(const bif_reader *r, uint32_t id)
{
    return gbsi_bif_variable_at(&r->network, id);
}

/* A name that is not ended by 0, for messages only: cut at 64 bytes. */
#define NAME_BYTES 65
static const char *copy_name(gbsi_token token, char name[NAME_BYTES])
{
    size_t n = token.n < NAME_BYTES ? token.n : NAME_BYTES - 1;
    memcpy(name, token.at, n);
    name[n] = 0;
    return name;
}

static gbs_status add_to_scope(bif_reader *r, gbsi_token name, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char shown[GBSI_SHOWN];
    uint32_t id = 0;
    if (!gbsi_name_map_find(&r->network.names, GBSI_BIF_VARIABLES, name.at, name.n, &id)) {
        return gbsi_text_fail(r->text, name, err,
                              "found %s, expected a variable that the file declares",
                              gbsi_token_show(name, shown));
    }
    if (r->seen[id] == r->block + 1) {
        return gbsi_text_fail(r->text, name, err, "found %s twice in one block, expected it once",
                              gbsi_token_show(name, shown));
    }
    r->seen[id] = r->block + 1;
    GBSI_TRY(gbsi_reserve(&r->scope, &r->scope_capacity, (size_t)r->n_scope + 1, sizeof(uint32_t),
                          r->text->name, err));
    scope_of(r)[r->n_scope++] = id;

cleanup:
    return status;
}

static gbs_status too_large(const bif_reader *r, gbs_error *err)
{
    (void)gbsi_text_fail(r->text, r->child_token, err,
                         "the table of this block would have more entries than the %zu bytes left "
                         "of the file can list and the %zu that defaults may fill",
                         gbsi_text_left(r->text), r->n_defaults_left);
    if (err != NULL) {
        err->status = GBS_ERR_LIMIT;
    }
    return GBS_ERR_LIMIT;
}

static gbs_status size_table(bif_reader *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    size_t most = gbsi_text_left(r->text) / 2 + r->n_defaults_left;
    size_t n_entries = r->arity;
    r->n_rows = 1;
    for (uint32_t i = 1; i < r->n_scope; i++) {
        uint32_t arity = variable_at(r, scope_of(r)[i])->n_states;
        if (!gbsi_mul_size(n_entries, arity, &n_entries) || n_entries > most) {
            return too_large(r, err);
        }
        r->n_rows *= arity;
    }
    GBSI_TRY(gbsi_reserve(&r->value, &r->value_capacity, n_entries + r->arity, sizeof(double),
                          r->text->name, err));
    GBSI_TRY(gbsi_reserve(&r->filled, &r->filled_capacity, r->n_rows, 1, r->text->name, err));
    memset(r->filled, 0, r->n_rows);
    r->has_table = false;
    r->has_default = false;
    r->n_filled = 0;

cleanup:
    return status;
}

/* ( CHILD | PARENT, PARENT ) { */
static gbs_status read_header(bif_reader *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char shown[GBSI_SHOWN];
    gbsi_bif_token token;
    r->n_scope = 0;
    GBSI_TRY(gbsi_bif_expect(r->text, GBSI_BIF_PLAIN, '(', err));
    GBSI_TRY(
        gbsi_bif_name(r->text, GBSI_BIF_PLAIN, "the variable of the block", &r->child_token, err));
    GBSI_TRY(add_to_scope(r, r->child_token, err));
    uint32_t child = scope_of(r)[0];
    if (r->defined[child] != 0) {
        return gbsi_text_fail(r->text, r->child_token, err,
                              "found a second probability block of %s, expected one",
                              gbsi_token_show(r->child_token, shown));
    }
    r->defined[child] = 1;
    r->arity = variable_at(r, child)->n_states;
    for (;;) {
        GBSI_TRY(gbsi_bif_next(r->text, GBSI_BIF_PLAIN, &token, err));
        if (token.kind == ')') {
            break;
        }
        if (token.kind != 'w' && token.kind != 'q') {
            return gbsi_text_unexpected(r->text, token.shown, "a parent or ')'", err);
        }
        GBSI_TRY(add_to_scope(r, token.text, err));
    }
    GBSI_TRY(gbsi_bif_expect(r->text, GBSI_BIF_PLAIN, '{', err));
    status = size_table(r, err);

cleanup:
    return status;
}

static gbs_status read_probability(bif_reader *r, const gbsi_bif_token *token, double *value,
                                   gbs_error *err)
{
    gbsi_decimal_status read = token->kind == 'w'
                                   ? gbsi_decimal_read(token->text.at, token->text.n, value)
                                   : GBSI_DECIMAL_BAD;
    r->n_underflow += read == GBSI_DECIMAL_UNDERFLOW;
    if (read == GBSI_DECIMAL_BAD || !(*value >= 0 && *value < INFINITY)) {
        return gbsi_text_unexpected(r->text, token->shown, "a probability", err);
    }
    *value += 0.0; /* -0 becomes 0 */
    return GBS_OK;
}

/* rows * columns probabilities and a semicolon, turned round: the one of (row, column) goes to
 * value[row + column * rows]; a single row stays as it is. */
static gbs_status read_values(bif_reader *r, size_t rows, size_t columns, double *value,
                              gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_bif_token token;
    size_t n = rows * columns;
    size_t row = 0;
    size_t column = 0;
    for (size_t i = 0;; i++) {
        GBSI_TRY(gbsi_bif_next(r->text, GBSI_BIF_PLAIN, &token, err));
        if (i == n && token.kind == ';') {
            return GBS_OK;
        }
        if (i == n || token.kind == ';') {
            char shown[GBSI_SHOWN];
            return gbsi_text_fail(r->text, token.shown, err,
                                  "found %s after %zu probabilities, expected %zu and ';'",
                                  gbsi_token_show(token.shown, shown), i, n);
        }
        GBSI_TRY(read_probability(r, &token, &value[row + column * rows], err));
        if (++column == columns) {
            column = 0;
            row++;
        }
    }

cleanup:
    return status;
}

static gbs_status read_whole_table(bif_reader *r, gbsi_token place, gbs_error *err)
{
    if (r->n_filled != 0 || r->has_default || r->has_table) {
        return gbsi_text_fail(r->text, place, err,
                              "found 'table' beside other rows of the block, expected it alone");
    }
    r->has_table = true;
    r->n_filled = r->n_rows;
    memset(r->filled, 1, r->n_rows);
    return read_values(r, r->arity, r->n_rows, r->value, err);
}

static double *default_row(bif_reader *r)
{
    return (double *)r->value + r->n_rows * r->arity;
}

static gbs_status read_default(bif_reader *r, gbsi_token place, gbs_error *err)
{
    if (r->has_default || r->has_table) {
        return gbsi_text_fail(r->text, place, err,
                              "found 'default' beside %s of the block, expected one of them",
                              r->has_table ? "a table" : "another default");
    }
    r->has_default = true;
    return read_values(r, 1, r->arity, default_row(r), err);
}

/* The state names of a row up to ')': which row that is, the first parent slowest. */
static gbs_status read_row_index(bif_reader *r, size_t *row, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char shown[GBSI_SHOWN];
    char name[NAME_BYTES];
    *row = 0;
    for (uint32_t i = 1; i < r->n_scope; i++) {
        gbsi_token token = {0};
        uint32_t parent = scope_of(r)[i];
        const gbsi_bif_variable *v = variable_at(r, parent);
        uint32_t state = 0;
        GBSI_TRY(gbsi_bif_name(r->text, GBSI_BIF_STATE, "a state of every parent", &token, err));
        if (!gbsi_name_map_find(&r->network.names, parent, token.at, token.n, &state)) {
            return gbsi_text_fail(r->text, token, err, "found %s, expected a state of variable %s",
                                  gbsi_token_show(token, shown), copy_name(v->name, name));
        }
        *row = *row * v->n_states + state;
    }
    status = gbsi_bif_expect(r->text, GBSI_BIF_STATE, ')', err);

cleanup:
    return status;
}

static gbs_status read_row(bif_reader *r, gbsi_token place, gbs_error *err)
{
    gbs_status status = GBS_OK;
    size_t row = 0;
    GBSI_TRY(read_row_index(r, &row, err));
    uint8_t *filled = r->filled;
    if (filled[row] != 0) {
        return gbsi_text_fail(r->text, place, err, "found %s, expected each row once",
                              r->has_table ? "a row beside a table" : "a row for the second time");
    }
    filled[row] = 1;
    r->n_filled++;
    status = read_values(r, 1, r->arity, (double *)r->value + row * r->arity, err);

cleanup:
    return status;
}

/* "(a, b)": the states of the parents that a row stands for. */
static const char *show_row(bif_reader *r, size_t row, char *text, size_t size)
{
    size_t length = 0;
    size_t rest = r->n_rows;
    text[0] = 0;
    for (uint32_t i = 1; i < r->n_scope && length + NAME_BYTES + 4 < size; i++) {
        uint32_t parent = scope_of(r)[i];
        rest /= variable_at(r, parent)->n_states;
        gbsi_token state = gbsi_bif_state_at(&r->network, parent, (uint32_t)(row / rest));
        row %= rest;
        if (i > 1) {
            memcpy(text + length, ", ", 2);
            length += 2;
        }
        length += strlen(copy_name(state, text + length));
    }
    return text;
}

static gbs_status fill_rest(bif_reader *r, gbsi_token end, gbs_error *err)
{
    const uint8_t *filled = r->filled;
    if (r->n_filled == r->n_rows) {
        return GBS_OK;
    }
    if (!r->has_default) {
        char text[512];
        size_t row = 0;
        while (filled[row] != 0) {
            row++;
        }
        return gbsi_text_fail(r->text, end, err,
                              "found the end of the block with %zu of %zu rows missing, expected a "
                              "default or the row of (%s)",
                              r->n_rows - r->n_filled, r->n_rows,
                              show_row(r, row, text, sizeof text));
    }
    size_t n_new = (r->n_rows - r->n_filled) * r->arity;
    if (n_new > r->n_defaults_left) {
        return too_large(r, err);
    }
    r->n_defaults_left -= n_new;
    for (size_t row = 0; row < r->n_rows; row++) {
        if (filled[row] == 0) {
            memcpy((double *)r->value + row * r->arity, default_row(r), r->arity * sizeof(double));
        }
    }
    return GBS_OK;
}

static gbs_status add_factor(bif_reader *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char text[512];
    double *value = r->value;
    uint32_t *scope = scope_of(r);
    uint32_t child = scope[0];
    size_t bad = 0;
    gbsi_column_status columns =
        gbsi_columns_check(&r->columns, child, value, r->n_rows, r->arity, false, &bad);
    if (columns != GBSI_COLUMN_OK) {
        return gbsi_text_fail(
            r->text, r->child_token, err, "found the row of (%s) %s, expected a distribution",
            show_row(r, bad, text, sizeof text),
            columns == GBSI_COLUMN_ZERO ? "all zero" : "beyond the largest double");
    }
    for (size_t i = 0; i < r->n_rows * r->arity; i++) {
        value[i] = gbsi_log(value[i]);
    }
    memmove(scope, scope + 1, (r->n_scope - 1) * sizeof *scope);
    scope[r->n_scope - 1] = child;
    uint32_t table = 0;
    status = gbsi_share_table(r->share, r->builder, r->n_rows * r->arity, value, &table, err);
    GBSI_TRY(gbsi_text_blame(r->text, r->child_token, status, err));
    status = gbs_builder_add_table_factor(r->builder, r->n_scope, scope, table, err);
    GBSI_TRY(gbsi_text_blame(r->text, r->child_token, status, err));

cleanup:
    return status;
}

static gbs_status read_block(bif_reader *r, size_t block, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_bif_token token;
    r->text->at = ((const char *const *)r->network.block)[block];
    r->block = block;
    GBSI_TRY(read_header(r, err));
    for (;;) {
        GBSI_TRY(gbsi_bif_next(r->text, GBSI_BIF_PLAIN, &token, err));
        if (token.kind == '(') {
            GBSI_TRY(read_row(r, token.shown, err));
        } else if (gbsi_bif_is_word(&token, "table")) {
            GBSI_TRY(read_whole_table(r, token.shown, err));
        } else if (gbsi_bif_is_word(&token, "default")) {
            GBSI_TRY(read_default(r, token.shown, err));
        } else if (gbsi_bif_is_word(&token, "property")) {
            GBSI_TRY(gbsi_bif_skip_property(r->text, err));
        } else if (token.kind == '}') {
            break;
        } else {
            return gbsi_text_unexpected(r->text, token.shown,
                                        "'table', 'default', '(', 'property' or '}'", err);
        }
    }
    GBSI_TRY(fill_rest(r, token.shown, err));
    status = add_factor(r, err);

cleanup:
    return status;
}

/* Names, ended by 0 in one buffer, as the builder wants them. */
static gbs_status name_variable(bif_reader *r, uint32_t id, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_bif_variable *v = variable_at(r, id);
    const char **label = NULL;
    size_t bytes = v->name.n + 1;
    for (uint32_t a = 0; a < v->n_states; a++) {
        bytes += gbsi_bif_state_at(&r->network, id, a).n + 1;
    }
    char *buffer = gbsi_alloc_zero(bytes);
    label = gbsi_alloc_array(v->n_states, sizeof *label);
    if (buffer == NULL || label == NULL) {
        status = gbsi_no_memory(err, r->text->name, bytes);
        goto cleanup;
    }
    memcpy(buffer, v->name.at, v->name.n);
    char *at = buffer + v->name.n + 1;
    for (uint32_t a = 0; a < v->n_states; a++) {
        gbsi_token state = gbsi_bif_state_at(&r->network, id, a);
        label[a] = memcpy(at, state.at, state.n);
        at += state.n + 1;
    }
    GBSI_TRY(gbs_builder_name_variable(r->builder, id, buffer, err));
    GBSI_TRY(gbs_builder_label_states(r->builder, id, label, err));

cleanup:
    gbsi_free(buffer);
    gbsi_free(label);
    return gbsi_text_blame(r->text, v->name, status, err);
}

static gbs_status add_variables(bif_reader *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t n = r->network.n_variables;
    uint32_t first = 0;
    r->seen = gbsi_alloc_array_zero(n, sizeof *r->seen);
    r->defined = gbsi_alloc_zero(n);
    uint32_t *arity = gbsi_alloc_array(n, sizeof *arity);
    if (r->seen == NULL || r->defined == NULL || arity == NULL) {
        status = gbsi_no_memory(err, r->text->name, n * sizeof *r->seen);
        goto cleanup;
    }
    for (uint32_t v = 0; v < n; v++) {
        arity[v] = variable_at(r, v)->n_states;
    }
    GBSI_TRY(gbs_builder_add_variables(r->builder, n, arity, &first, err));
    for (uint32_t v = 0; v < n; v++) {
        GBSI_TRY(name_variable(r, v, err));
    }

cleanup:
    gbsi_free(arity);
    return status;
}

static gbs_status read_blocks(bif_reader *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char shown[GBSI_SHOWN];
    for (size_t b = 0; b < r->network.n_blocks; b++) {
        GBSI_TRY(read_block(r, b, err));
    }
    for (uint32_t v = 0; v < r->network.n_variables; v++) {
        if (r->defined[v] == 0) {
            gbsi_token name = variable_at(r, v)->name;
            return gbsi_text_fail(r->text, name, err,
                                  "found variable %s without a probability block, expected one",
                                  gbsi_token_show(name, shown));
        }
    }
    if (r->n_underflow != 0) {
        gbsi_text_warn(r->text, "%zu probabilities are too small for a double and became zero",
                       r->n_underflow);
    }
    if (r->columns.n_off != 0) {
        char name[NAME_BYTES];
        uint32_t worst = (uint32_t)r->columns.worst_id;
        gbsi_text_warn(r->text,
                       "%zu rows of conditional tables do not sum to one; the worst, of %s, is off "
                       "by %.3g; --normalize-cpts scales them",
                       r->columns.n_off, copy_name(variable_at(r, worst)->name, name),
                       r->columns.worst);
    }

cleanup:
    return status;
}

gbs_status gbsi_bif_read(gbsi_text *text, gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    bif_reader r = {.text = text};
    r.n_defaults_left = DEFAULT_ENTRIES + (size_t)(text->end - text->begin);
    r.columns.normalize = text->options->normalize_cpts != 0;
    GBSI_TRY(gbs_builder_new(&r.builder, err));
    GBSI_TRY(gbsi_share_new(&r.share, err));
    GBSI_TRY(gbsi_bif_declare(text, &r.network, err));
    if (r.network.n_variables == 0) {
        status = gbsi_text_unexpected(text, (gbsi_token){text->end, 0}, "a variable block", err);
        goto cleanup;
    }
    GBSI_TRY(add_variables(&r, err));
    GBSI_TRY(read_blocks(&r, err));
    gbs_builder_set_directed(r.builder);
    status = gbs_builder_build(r.builder, model, err);
    gbsi_token first = {((const char *const *)r.network.block)[0], 1};
    status = gbsi_text_blame(text, first, status, err);

cleanup:
    free_reader(&r);
    return status;
}
