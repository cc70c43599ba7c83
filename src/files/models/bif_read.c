/* SPDX-License-Identifier: Apache-2.0 */
/* Second reading of a BIF file. The probability blocks become tables over (parents..., child), in
 * which the child runs fastest. A "table" statement has another order, in which the child runs
 * slowest. */
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "models/bif.h"
#include "models/formats.h"

/* Number of entries (32 MiB of doubles) that default rows may fill in the whole file, in addition
 * to one entry for each byte of the file. */
static const size_t DEFAULT_ENTRIES = (size_t)1 << 22;

typedef struct bif_reader {
    gbsi_text *text;
    gbsi_bif_tables tables;
    /* Data of the block that is being read. */
    void *filled; /* uint8_t [n_rows] 1 if the block gave the row */
    size_t filled_capacity;
    bool has_table;
    bool has_default;
    size_t n_filled;
} bif_reader;

static gbs_status size_table(bif_reader *r, gbs_error *err)
{
    size_t n_rows = 0;
    GBSI_PASS(gbsi_bif_table_size(&r->tables, err));
    n_rows = r->tables.n_rows;
    GBSI_PASS(gbsi_reserve(&r->filled, &r->filled_capacity, n_rows, 1, r->text->name, err));
    memset(r->filled, 0, n_rows);
    r->has_table = false;
    r->has_default = false;
    r->n_filled = 0;
    return GBS_OK;
}

/* Reads the variables of a block, CHILD | PARENT, PARENT, and the ')' behind them. */
static gbs_status read_names(bif_reader *r, gbs_error *err)
{
    gbsi_bif_token token;
    GBSI_PASS(gbsi_bif_next(r->text, GBSI_BIF_PLAIN, &token, err));
    if (token.kind != 'w' && token.kind != 'q') {
        return gbsi_text_unexpected(r->text, token.shown, "the variable of the block", err);
    }
    GBSI_PASS(gbsi_bif_table_child(&r->tables, &token, err));
    for (;;) {
        GBSI_PASS(gbsi_bif_next(r->text, GBSI_BIF_PLAIN, &token, err));
        if (token.kind == ')') {
            return GBS_OK;
        }
        if (token.kind != 'w' && token.kind != 'q') {
            return gbsi_text_unexpected(r->text, token.shown, "a parent or ')'", err);
        }
        GBSI_PASS(gbsi_bif_table_parent(&r->tables, &token, err));
    }
    return GBS_OK;
}

/* Reads the beginning of a block: ( CHILD | PARENT, PARENT ) { */
static gbs_status read_header(bif_reader *r, gbs_error *err)
{
    bool found = false;
    GBSI_PASS(gbsi_bif_expect(r->text, GBSI_BIF_PLAIN, '(', err));
    if (r->tables.network.has_long_names) {
        const gbsi_token among = gbsi_bif_inside(r->text, '{');
        const gbsi_token place = gbsi_text_at(r->text, among.at);
        GBSI_PASS(gbsi_bif_table_names(&r->tables, among, place, ",|", &found, err));
        r->text->at += found ? among.n + 1 : 0;
    }
    if (!found) {
        GBSI_PASS(read_names(r, err));
    }
    GBSI_PASS(gbsi_bif_expect(r->text, GBSI_BIF_PLAIN, '{', err));
    return size_table(r, err);
}

/* Skips a colon, which some programs write before the values of a row. */
static void skip_colon(bif_reader *r)
{
    const gbsi_token next = gbsi_text_peek(r->text);
    r->text->at = next.n > 0 && *next.at == ':' ? next.at + 1 : r->text->at;
}

/* Reads n probabilities and a semicolon. */
static gbs_status read_values(bif_reader *r, size_t n, double *value, gbs_error *err)
{
    gbsi_bif_token token;
    skip_colon(r);
    for (size_t i = 0;; i++) {
        GBSI_PASS(gbsi_bif_next(r->text, GBSI_BIF_NUMBER, &token, err));
        if (i == n && token.kind == ';') {
            return GBS_OK;
        }
        if (i == n || token.kind == ';') {
            char shown[GBSI_SHOWN];
            return gbsi_text_fail(
                r->text, token.shown, err, "found %s after %zu probabilit%s, expected %zu and ';'",
                gbsi_token_show(token.shown, shown), i, gbsi_plural_of(i, "y", "ies"), n);
        }
        GBSI_PASS(gbsi_bif_table_value(&r->tables, &token, &value[i], err));
    }
    return GBS_OK;
}

static gbs_status read_whole_table(bif_reader *r, gbsi_token place, gbs_error *err)
{
    if (r->n_filled != 0 || r->has_default || r->has_table) {
        return gbsi_text_fail(r->text, place, err,
                              "found 'table' beside other rows of the block, expected it alone");
    }
    r->has_table = true;
    r->n_filled = r->tables.n_rows;
    memset(r->filled, 1, r->n_filled);
    GBSI_PASS(read_values(r, r->n_filled * r->tables.arity, r->tables.value, err));
    return gbsi_bif_table_turn(&r->tables, gbsi_table_order(r->text->options, GBSI_CHILD_SLOWEST),
                               err);
}

static double *row_at(bif_reader *r, size_t row)
{
    return (double *)r->tables.value + row * r->tables.arity;
}

/* @return the row of default values, which the array of values has behind its last row. */
static double *default_row(bif_reader *r)
{
    return row_at(r, r->tables.n_rows);
}

static gbs_status read_default(bif_reader *r, gbsi_token place, gbs_error *err)
{
    if (r->has_default || r->has_table) {
        return gbsi_text_fail(r->text, place, err,
                              "found 'default' beside %s of the block, expected one of them",
                              r->has_table ? "a table" : "another default");
    }
    r->has_default = true;
    return read_values(r, r->tables.arity, default_row(r), err);
}

/* Reads the parents' states of a row up to ')', and finds the number of the row. The first parent
 * runs slowest. */
static gbs_status read_plain_row(bif_reader *r, size_t *row, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    char name[GBSI_BIF_NAME_BYTES];
    *row = 0;
    for (uint32_t i = 1; i < r->tables.n_scope; i++) {
        gbsi_token token = {0};
        uint32_t parent = gbsi_bif_scope_at(&r->tables, i);
        const gbsi_bif_variable *v = gbsi_bif_variable_at(&r->tables.network, parent);
        uint32_t state = 0;
        GBSI_PASS(gbsi_bif_name(r->text, GBSI_BIF_STATE, "a state of every parent", &token, err));
        if (!gbsi_name_map_find(&r->tables.network.names, parent, token.at, token.n, &state)) {
            return gbsi_text_fail(r->text, token, err, "found %s, expected a state of variable %s",
                                  gbsi_token_show(token, shown), gbsi_bif_copy_name(v->name, name));
        }
        *row = *row * v->n_states + state;
    }
    return gbsi_bif_expect(r->text, GBSI_BIF_STATE, ')', err);
}

/* Does the work of read_plain_row() if states contain blanks or commas.
 * @param found out: whether the text can be cut into states of the parents. */
static gbs_status read_long_row(bif_reader *r, size_t *row, bool *found, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_bif_tables *t = &r->tables;
    const gbsi_token among = gbsi_bif_inside(r->text, ';');
    const uint32_t *parents = (const uint32_t *)t->scope + 1;
    uint32_t *state = NULL;
    size_t n = 0;
    GBSI_TRY(gbsi_bif_find_names(r->text, &t->network, among, gbsi_text_at(r->text, among.at), ",",
                                 parents, (size_t)t->n_scope - 1, &state, &n, err));
    *found = n > 0;
    *row = 0;
    for (size_t i = 0; i < n; i++) {
        *row = *row * gbsi_bif_variable_at(&t->network, parents[i])->n_states + state[i];
    }
    r->text->at += n > 0 ? among.n + 1 : 0;

cleanup:
    gbsi_free(state);
    return status;
}

static gbs_status read_row_index(bif_reader *r, size_t *row, gbs_error *err)
{
    const char *at = r->text->at;
    bool found = false;
    if (read_plain_row(r, row, NULL) == GBS_OK) {
        return GBS_OK;
    }
    r->text->at = at;
    GBSI_PASS(read_long_row(r, row, &found, err));
    return found ? GBS_OK : read_plain_row(r, row, err);
}

static gbs_status read_row(bif_reader *r, gbsi_token place, gbs_error *err)
{
    size_t row = 0;
    GBSI_PASS(read_row_index(r, &row, err));
    uint8_t *filled = r->filled;
    if (filled[row] != 0) {
        return gbsi_text_fail(r->text, place, err, "found %s, expected each row once",
                              r->has_table ? "a row beside a table" : "a row for the second time");
    }
    filled[row] = 1;
    r->n_filled++;
    return read_values(r, r->tables.arity, row_at(r, row), err);
}

static gbs_status fill_rest(bif_reader *r, gbsi_token end, gbs_error *err)
{
    gbsi_bif_tables *t = &r->tables;
    const uint8_t *filled = r->filled;
    if (r->n_filled == t->n_rows) {
        return GBS_OK;
    }
    if (!r->has_default) {
        char text[512];
        size_t row = 0;
        while (filled[row] != 0) {
            row++;
        }
        return gbsi_text_fail(
            r->text, end, err,
            "found the end of the block with %zu of %zu row%s missing, expected a "
            "default or the row of (%s)",
            t->n_rows - r->n_filled, t->n_rows, gbsi_plural(t->n_rows),
            gbsi_bif_show_row(t, row, text, sizeof text));
    }
    size_t n_new = (t->n_rows - r->n_filled) * t->arity;
    if (n_new > t->n_spare) {
        return gbsi_bif_table_too_large(t, err);
    }
    t->n_spare -= n_new;
    for (size_t row = 0; row < t->n_rows; row++) {
        if (filled[row] == 0) {
            memcpy(row_at(r, row), default_row(r), t->arity * sizeof(double));
        }
    }
    return GBS_OK;
}

static gbs_status read_block(bif_reader *r, const char *block, gbs_error *err)
{
    gbsi_bif_token token;
    r->text->at = block;
    GBSI_PASS(read_header(r, err));
    for (;;) {
        GBSI_PASS(gbsi_bif_next(r->text, GBSI_BIF_PLAIN, &token, err));
        if (token.kind == '(') {
            GBSI_PASS(read_row(r, token.shown, err));
        } else if (gbsi_bif_is_word(&token, "table")) {
            GBSI_PASS(read_whole_table(r, token.shown, err));
        } else if (gbsi_bif_is_word(&token, "default")) {
            GBSI_PASS(read_default(r, token.shown, err));
        } else if (gbsi_bif_is_word(&token, "property")) {
            GBSI_PASS(gbsi_bif_skip_property(r->text, err));
        } else if (token.kind == '}') {
            break;
        } else if (token.kind != ';') {
            return gbsi_text_unexpected(r->text, token.shown,
                                        "'table', 'default', '(', 'property' or '}'", err);
        }
    }
    GBSI_PASS(fill_rest(r, token.shown, err));
    return gbsi_bif_table_add(&r->tables, err);
}

gbs_status gbsi_bif_read(gbsi_text *text, gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    bif_reader r = {.text = text};
    gbsi_bif_network *network = &r.tables.network;
    GBSI_TRY(gbsi_bif_tables_init(&r.tables, text, "probability block", err));
    r.tables.n_spare = DEFAULT_ENTRIES + (size_t)(text->end - text->begin);
    GBSI_TRY(gbsi_bif_declare(text, network, err));
    if (network->n_variables == 0) {
        status = gbsi_text_unexpected(text, (gbsi_token){text->end, 0}, "a variable block", err);
        goto cleanup;
    }
    GBSI_TRY(gbsi_bif_tables_begin(&r.tables, err));
    for (size_t b = 0; b < network->n_blocks; b++) {
        GBSI_TRY(read_block(&r, gbsi_bif_block_at(network, b), err));
    }
    status = gbsi_bif_tables_build(&r.tables, model, err);

cleanup:
    gbsi_bif_tables_free(&r.tables);
    gbsi_free(r.filled);
    return status;
}
