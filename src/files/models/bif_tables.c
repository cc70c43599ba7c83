/* SPDX-License-Identifier: Apache-2.0 */
#include "base/plural.h"
#include "models/bif.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "decimal/decimal.h"
#include "simd/math.h"

gbs_status gbsi_bif_tables_init(gbsi_bif_tables *tables, gbsi_text *text, const char *what,
                                gbs_error *err)
{
    *tables = (gbsi_bif_tables){.text = text, .what = what};
    tables->columns = gbsi_columns_begin(text->options);
    GBSI_PASS(gbs_builder_new(&tables->builder, err));
    return gbsi_equal_tables_new(&tables->share, err);
}

void gbsi_bif_tables_free(gbsi_bif_tables *tables)
{
    gbsi_bif_network_free(&tables->network);
    gbs_builder_free(tables->builder);
    gbsi_equal_tables_free(tables->share);
    GBSI_FREE(tables->seen, tables->defined, tables->scope, tables->value, tables->turned);
}

static const gbsi_bif_variable *variable_at(const gbsi_bif_tables *t, uint32_t id)
{
    return gbsi_bif_variable_at(&t->network, id);
}

uint32_t gbsi_bif_scope_at(const gbsi_bif_tables *tables, uint32_t position)
{
    return ((const uint32_t *)tables->scope)[position];
}

const char *gbsi_bif_copy_name(gbsi_token token, char name[GBSI_BIF_NAME_BYTES])
{
    size_t n = token.n < GBSI_BIF_NAME_BYTES ? token.n : GBSI_BIF_NAME_BYTES - 1;
    memcpy(name, token.at, n);
    name[n] = 0;
    return name;
}

const char *gbsi_bif_show_row(const gbsi_bif_tables *tables, size_t row, char *text, size_t size)
{
    size_t length = 0;
    size_t rest = tables->n_rows;
    text[0] = 0;
    for (uint32_t i = 1; i < tables->n_scope && length + GBSI_BIF_NAME_BYTES + 4 < size; i++) {
        uint32_t parent = gbsi_bif_scope_at(tables, i);
        rest /= variable_at(tables, parent)->n_states;
        gbsi_token state = gbsi_bif_state_at(&tables->network, parent, (uint32_t)(row / rest));
        row %= rest;
        if (i > 1) {
            memcpy(text + length, ", ", 2);
            length += 2;
        }
        length += strlen(gbsi_bif_copy_name(state, text + length));
    }
    return text;
}

/* ---- variables --------------------------------------------------------------------------- */

/* Gives the names of a variable and of its states to the builder. A buffer has copies of these
 * names, each ended by 0. */
static gbs_status name_variable(gbsi_bif_tables *t, uint32_t id, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_bif_variable *v = variable_at(t, id);
    const char **label = NULL;
    size_t bytes = v->name.n + 1;
    for (uint32_t a = 0; a < v->n_states; a++) {
        bytes += gbsi_bif_state_at(&t->network, id, a).n + 1;
    }
    char *buffer = gbsi_alloc_zero(bytes);
    label = gbsi_alloc_array(v->n_states, sizeof *label);
    GBSI_TRY(GBSI_HAVE(err, t->text->name, buffer, label));
    memcpy(buffer, v->name.at, v->name.n);
    char *at = buffer + v->name.n + 1;
    for (uint32_t a = 0; a < v->n_states; a++) {
        gbsi_token state = gbsi_bif_state_at(&t->network, id, a);
        label[a] = memcpy(at, state.at, state.n);
        at += state.n + 1;
    }
    GBSI_TRY(gbs_builder_name_variable(t->builder, id, buffer, err));
    GBSI_TRY(gbs_builder_label_states(t->builder, id, label, err));

cleanup:
    GBSI_FREE(buffer, label);
    return gbsi_text_blame(t->text, v->shown, status, err);
}

gbs_status gbsi_bif_tables_begin(gbsi_bif_tables *tables, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t n = tables->network.n_variables;
    uint32_t first = 0;
    tables->seen = gbsi_alloc_array_zero(n, sizeof *tables->seen);
    tables->defined = gbsi_alloc_zero(n);
    uint32_t *arity = gbsi_alloc_array(n, sizeof *arity);
    GBSI_TRY(GBSI_HAVE(err, tables->text->name, tables->seen, tables->defined, arity));
    for (uint32_t v = 0; v < n; v++) {
        arity[v] = variable_at(tables, v)->n_states;
    }
    GBSI_TRY(gbs_builder_add_variables(tables->builder, n, arity, &first, err));
    for (uint32_t v = 0; v < n; v++) {
        GBSI_TRY(name_variable(tables, v, err));
    }

cleanup:
    gbsi_free(arity);
    return status;
}

/* ---- a table ----------------------------------------------------------------------------- */

gbs_status gbsi_bif_table_parent(gbsi_bif_tables *tables, const gbsi_bif_token *name,
                                 gbs_error *err)
{
    gbsi_bif_tables *t = tables;
    char shown[GBSI_SHOWN];
    uint32_t id = 0;
    if (!gbsi_name_map_find(&t->network.names, GBSI_BIF_VARIABLES, name->text.at, name->text.n,
                            &id)) {
        return gbsi_text_fail(t->text, name->shown, err,
                              "found %s, expected a variable that the file declares",
                              gbsi_token_show(name->text, shown));
    }
    if (t->seen[id] == t->n_begun) {
        return gbsi_text_fail(t->text, name->shown, err,
                              "found %s twice in one block, expected it once",
                              gbsi_token_show(name->text, shown));
    }
    t->seen[id] = t->n_begun;
    GBSI_PASS(gbsi_reserve(&t->scope, &t->scope_capacity, (size_t)t->n_scope + 1, sizeof(uint32_t),
                           t->text->name, err));
    ((uint32_t *)t->scope)[t->n_scope++] = id;
    return GBS_OK;
}

gbs_status gbsi_bif_table_child(gbsi_bif_tables *tables, const gbsi_bif_token *name, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    tables->n_begun++;
    tables->n_scope = 0;
    tables->child = *name;
    tables->columns.as_read = NULL;
    GBSI_PASS(gbsi_bif_table_parent(tables, name, err));
    uint32_t child = gbsi_bif_scope_at(tables, 0);
    if (tables->defined[child] != 0) {
        return gbsi_text_fail(tables->text, name->shown, err,
                              "found a second %s of %s, expected one", tables->what,
                              gbsi_token_show(name->text, shown));
    }
    tables->defined[child] = 1;
    tables->arity = variable_at(tables, child)->n_states;
    return GBS_OK;
}

gbs_status gbsi_bif_table_too_large(const gbsi_bif_tables *tables, gbs_error *err)
{
    (void)gbsi_text_fail(tables->text, tables->child.shown, err,
                         "the table of this block would have more entries than the %zu bytes left "
                         "of the file can list and the %zu that defaults may fill",
                         gbsi_text_left(tables->text), tables->n_spare);
    if (err != NULL) {
        err->status = GBS_ERR_LIMIT;
    }
    return GBS_ERR_LIMIT;
}

gbs_status gbsi_bif_table_size(gbsi_bif_tables *tables, gbs_error *err)
{
    size_t most = gbsi_text_left(tables->text) / 2 + tables->n_spare;
    size_t n_entries = tables->arity;
    tables->n_rows = 1;
    for (uint32_t i = 1; i < tables->n_scope; i++) {
        uint32_t arity = variable_at(tables, gbsi_bif_scope_at(tables, i))->n_states;
        if (!gbsi_mul_size(n_entries, arity, &n_entries) || n_entries > most) {
            return gbsi_bif_table_too_large(tables, err);
        }
        tables->n_rows *= arity;
    }
    return gbsi_reserve(&tables->value, &tables->value_capacity, n_entries + tables->arity,
                        sizeof(double), tables->text->name, err);
}

gbs_status gbsi_bif_table_value(gbsi_bif_tables *tables, const gbsi_bif_token *token, double *value,
                                gbs_error *err)
{
    if (token->kind == 'w' && gbsi_token_is(token->text, "NA")) {
        /* programs in R write NA for a missing value */
        *value = NAN;
        return GBS_OK;
    }
    gbsi_decimal_status read = token->kind == 'w'
                                   ? gbsi_decimal_read(token->text.at, token->text.n, value)
                                   : GBSI_DECIMAL_BAD;
    tables->n_underflow += read == GBSI_DECIMAL_UNDERFLOW;
    if (read != GBSI_DECIMAL_BAD &&
        (isnan(*value) || gbsi_columns_rounded(&tables->columns, value))) {
        return GBS_OK;
    }
    if (read == GBSI_DECIMAL_BAD || !(*value >= 0 && *value < INFINITY)) {
        return gbsi_text_unexpected(tables->text, token->shown, "a probability", err);
    }
    *value += 0.0; /* -0 becomes 0 */
    return GBS_OK;
}

gbs_status gbsi_bif_table_turn(gbsi_bif_tables *tables, unsigned order, gbs_error *err)
{
    gbsi_bif_tables *t = tables;
    gbsi_axes axes = {0};
    const size_t n = t->n_rows * t->arity;
    t->columns.as_read = t->value;
    t->columns.order = order;
    t->columns.has_parents = t->n_scope > 2;
    if (order == 0 || t->n_scope < 2) {
        return GBS_OK;
    }
    GBSI_PASS(gbsi_reserve(&t->turned, &t->turned_capacity, n, sizeof(double), t->text->name, err));
    memcpy(t->turned, t->value, n * sizeof(double));
    for (uint32_t i = 1; i < t->n_scope; i++) {
        gbsi_axes_add_parent(&axes, variable_at(t, gbsi_bif_scope_at(t, i))->n_states);
    }
    gbsi_axes_turn(&axes, t->arity, order, t->turned, t->value);
    t->columns.as_read = t->turned;
    return GBS_OK;
}

static gbs_status refuse_row(const gbsi_bif_tables *t, gbsi_column_status columns, size_t row,
                             gbs_error *err)
{
    char states[512];
    char where[sizeof states + 32] = "";
    char advice[GBSI_ADVICE];
    if (t->n_scope > 1) {
        (void)snprintf(where, sizeof where, " in the row of (%s)",
                       gbsi_bif_show_row(t, row, states, sizeof states));
    }
    switch (columns) {
    case GBSI_COLUMN_MISSING:
        return gbsi_text_fail(t->text, t->child.shown, err,
                              "found no probabilities but NA%s, expected a distribution; --lenient "
                              "takes such rows as uniform",
                              where);
    case GBSI_COLUMN_HOLED:
        return gbsi_text_fail(t->text, t->child.shown, err,
                              "found NA beside probabilities%s, expected a distribution", where);
    case GBSI_COLUMN_ZERO:
    case GBSI_COLUMN_OVERFLOW:
        return gbsi_text_fail(
            t->text, t->child.shown, err, "found probabilities%s %s, expected a distribution",
            where, columns == GBSI_COLUMN_ZERO ? "all zero" : "beyond the largest double");
    default:
        return gbsi_text_fail(t->text, t->child.shown, err,
                              "found probabilities with sum %.6g%s, expected 1; %s", t->columns.sum,
                              where, gbsi_columns_advice(&t->columns, columns, advice));
    }
}

gbs_status gbsi_bif_table_add(gbsi_bif_tables *tables, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_bif_tables *t = tables;
    double *value = t->value;
    uint32_t *scope = t->scope;
    uint32_t child = scope[0];
    size_t bad = 0;
    gbsi_column_status columns =
        gbsi_columns_check(&t->columns, child, value, t->n_rows, t->arity, false, &bad);
    if (columns != GBSI_COLUMN_OK) {
        return refuse_row(t, columns, bad, err);
    }
    gbsi_log_many(value, t->n_rows * t->arity);
    memmove(scope, scope + 1, (t->n_scope - 1) * sizeof *scope);
    scope[t->n_scope - 1] = child;
    uint32_t table = 0;
    status = gbsi_equal_tables_add(t->share, t->builder, t->n_rows * t->arity, value, &table, err);
    GBSI_TRY(gbsi_text_blame(t->text, t->child.shown, status, err));
    status = gbs_builder_add_table_factor(t->builder, t->n_scope, scope, table, err);
    GBSI_TRY(gbsi_text_blame(t->text, t->child.shown, status, err));

cleanup:
    return status;
}

/* ---- the model --------------------------------------------------------------------------- */

static void warn(const gbsi_bif_tables *t)
{
    if (t->n_underflow != 0) {
        gbsi_text_warn(t->text, "%zu probabilit%s too small for a double and became zero",
                       t->n_underflow, gbsi_plural_of(t->n_underflow, "y is", "ies are"));
    }
    char name[GBSI_BIF_NAME_BYTES];
    if (t->columns.n_negative != 0) {
        gbsi_text_warn(
            t->text, "%zu probabilit%s below zero by rounding (at most 1e-6) and became zero",
            t->columns.n_negative, gbsi_plural_of(t->columns.n_negative, "y is", "ies are"));
    }
    if (t->columns.n_missing != 0) {
        const uint32_t first = (uint32_t)t->columns.missing_id;
        gbsi_text_warn(t->text,
                       "%zu row%s of conditional tables, the first of %s, %s "
                       "taken as uniform",
                       t->columns.n_missing, gbsi_plural(t->columns.n_missing),
                       gbsi_bif_copy_name(variable_at(t, first)->name, name),
                       gbsi_plural_of(t->columns.n_missing, "holds no probabilities but NA and is",
                                      "hold no probabilities but NA and are"));
    }
    if (t->columns.n_off != 0) {
        uint32_t worst = (uint32_t)t->columns.worst_id;
        gbsi_text_warn(
            t->text,
            "%zu row%s of conditional tables %s not sum to one; the worst, of %s, is off "
            "by %.3g; --normalize-cpts scales them",
            t->columns.n_off, gbsi_plural(t->columns.n_off),
            gbsi_plural_of(t->columns.n_off, "does", "do"),
            gbsi_bif_copy_name(variable_at(t, worst)->name, name), t->columns.worst);
    }
}

gbs_status gbsi_bif_tables_build(gbsi_bif_tables *tables, gbs_model **model, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    for (uint32_t v = 0; v < tables->network.n_variables; v++) {
        if (tables->defined[v] == 0) {
            const gbsi_bif_variable *variable = variable_at(tables, v);
            return gbsi_text_fail(tables->text, variable->shown, err,
                                  "found variable %s without a %s, expected one",
                                  gbsi_token_show(variable->name, shown), tables->what);
        }
    }
    warn(tables);
    gbs_builder_set_directed(tables->builder);
    gbsi_token first = {gbsi_bif_block_at(&tables->network, 0), 1};
    return gbsi_text_blame(tables->text, first, gbs_builder_build(tables->builder, model, err),
                           err);
}

bool gbsi_bif_table_is_noisy(const gbsi_bif_tables *tables)
{
    /* Up to this number of entries a sampler is as fast with a table as with a noisy factor. */
    const size_t most = tables->arity == 2 ? 16 : 256;
    size_t n = tables->arity;
    for (uint32_t i = 1; i < tables->n_scope && n <= most; i++) {
        n *= variable_at(tables, gbsi_bif_scope_at(tables, i))->n_states;
    }
    return tables->arity > 1 && n > most;
}

gbs_status gbsi_bif_table_add_noisy(gbsi_bif_tables *tables, size_t n_columns, double *p,
                                    gbs_error *err)
{
    const gbsi_bif_tables *t = tables;
    const uint32_t child = gbsi_bif_scope_at(t, 0);
    const uint32_t k = t->arity;
    size_t bad = 0;
    char advice[GBSI_ADVICE];
    const gbsi_column_status columns =
        gbsi_columns_check(&tables->columns, child, p, n_columns, k, false, &bad);
    if (columns != GBSI_COLUMN_OK) {
        return gbsi_text_fail(t->text, t->child.shown, err,
                              "found a distribution with sum %.6g in column %zu of the causes, "
                              "expected 1; %s",
                              t->columns.sum, bad + 1,
                              gbsi_columns_advice(&t->columns, columns, advice));
    }
    if (k > 2) {
        return gbs_builder_add_noisy_max(t->builder, GBS_FACTOR_NOISY_MIN, child, t->n_scope - 1,
                                         (const uint32_t *)t->scope + 1, (n_columns - 1) * k, p,
                                         p + (n_columns - 1) * k, err);
    }
    const double leak = p[2 * (n_columns - 1)];
    for (size_t i = 0; i + 1 < n_columns; i++) {
        p[i] = p[2 * i + 1];
    }
    return gbs_builder_add_noisy(t->builder, GBS_FACTOR_NOISY_AND, child, t->n_scope - 1,
                                 (const uint32_t *)t->scope + 1, n_columns - 1, p, leak, err);
}
