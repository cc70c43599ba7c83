/* SPDX-License-Identifier: Apache-2.0 */
/* Reads data of libDAI: a line of variable labels, an empty line, then one line of states for each
 * sample. Tabs separate labels and states. An empty field means that the state was not observed.
 * Lines are therefore never trimmed, because a tab at the end of a line means an empty field. */
#include <string.h>

#include "answers/evidence_set.h"
#include "base/memory.h"
#include "base/plural.h"
#include "decimal/decimal.h"
#include "store/model.h"
#include "text/common.h"

typedef struct tab_file {
    gbsi_evidence_set *set;
    gbsi_text *text;
    uint32_t *column_of; /* [n_variables] 1 + column of the variable; 0 if it has no column */
    void *variable;      /* uint32_t [n_columns] variable of each column */
    size_t variable_capacity;
    size_t n_columns;
    void *name; /* char: text of a label, ended by 0 */
    size_t name_capacity;
} tab_file;

/* Takes the next line, without its end (LF or CR LF). @return false at the end of the file. */
static bool next_line(gbsi_text *text, gbsi_token *line)
{
    if (text->at == text->end) {
        return false;
    }
    const char *end = memchr(text->at, '\n', gbsi_text_left(text));
    const char *stop = end == NULL ? text->end : end;
    *line = (gbsi_token){text->at, (size_t)(stop - text->at)};
    if (line->n > 0 && line->at[line->n - 1] == '\r') {
        line->n--;
    }
    text->at = end == NULL ? text->end : end + 1;
    return true;
}

/* @return the field that begins at `at`: the text up to a tab or the end of the line. */
static gbsi_token field_at(gbsi_token line, const char *at)
{
    size_t left = (size_t)(line.at + line.n - at);
    const char *tab = left == 0 ? NULL : memchr(at, '\t', left);
    return (gbsi_token){at, tab == NULL ? left : (size_t)(tab - at)};
}

/* ---- header ------------------------------------------------------------------------------ */

static bool all_digits(const char *text)
{
    return text[strspn(text, "0123456789")] == 0;
}

/* Finds a variable by its name, or by its number if no variable has a number as its name. If the
 * variables are named 2 and 5, a label 0 can only be a mistake. */
static gbs_status find_variable(tab_file *f, gbsi_token label, uint32_t *variable, gbs_error *err)
{
    const gbs_model *model = f->set->model;
    uint64_t index = 0;
    bool too_large = false;
    GBSI_PASS(gbsi_reserve(&f->name, &f->name_capacity, label.n + 1, 1, f->text->name, err));
    char *name = memcpy(f->name, label.at, label.n);
    name[label.n] = 0;
    if (gbsi_find_name(model, name, variable)) {
        return GBS_OK;
    }
    if (model->n_variables > 0 && label.at[0] != '+' &&
        gbsi_integer_read(label.at, label.n, model->n_variables - 1, &index, &too_large)) {
        const char *known = gbs_model_variable_name(model, (uint32_t)index);
        if (known == NULL || !all_digits(known)) {
            *variable = (uint32_t)index;
            return GBS_OK;
        }
    }
    return gbsi_text_unexpected(f->text, label,
                                "a variable of the model, by its name or 0-based number", err);
    return GBS_OK;
}

static gbs_status read_label(tab_file *f, gbsi_token label, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    uint32_t v = 0;
    if (label.n == 0) {
        return gbsi_text_fail(f->text, label, err,
                              "found an empty label of column %zu, expected a variable",
                              f->n_columns);
    }
    GBSI_PASS(find_variable(f, label, &v, err));
    if (f->column_of[v] != 0) {
        return gbsi_text_fail(f->text, label, err,
                              "found variable %s in columns %u and %zu (from 0), expected it once",
                              gbsi_token_show(label, shown), f->column_of[v] - 1, f->n_columns);
    }
    GBSI_PASS(gbsi_reserve(&f->variable, &f->variable_capacity, f->n_columns + 1, sizeof v,
                           f->text->name, err));
    ((uint32_t *)f->variable)[f->n_columns++] = v;
    f->column_of[v] = (uint32_t)f->n_columns;
    return GBS_OK;
}

static gbs_status read_header(tab_file *f, gbs_error *err)
{
    gbsi_token line = {f->text->end, 0};
    if (!next_line(f->text, &line)) {
        return gbsi_text_unexpected(f->text, line, "a line of labels between tabs", err);
    }
    const char *end = line.at + line.n;
    for (const char *at = line.at; line.n > 0 && at <= end;) {
        gbsi_token label = field_at(line, at);
        GBSI_PASS(read_label(f, label, err));
        at = label.at + label.n + 1;
    }
    line = (gbsi_token){f->text->end, 0};
    if (!next_line(f->text, &line) || line.n > 0) {
        return gbsi_text_unexpected(f->text, line, "an empty line after the labels", err);
    }
    return GBS_OK;
}

/* ---- samples ----------------------------------------------------------------------------- */

static gbs_status read_state(tab_file *f, size_t column, gbsi_token field, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    uint32_t v = ((const uint32_t *)f->variable)[column];
    uint32_t arity = f->set->model->arity[v];
    uint64_t state = 0;
    bool too_large = false;
    if (!gbsi_integer_read(field.at, field.n, arity - 1, &state, &too_large)) {
        return gbsi_text_fail(f->text, field, err,
                              "found %s in column %zu (from 0), expected a state less than %u, or "
                              "nothing",
                              gbsi_token_show(field, shown), column, arity);
    }
    return gbsi_evidence_set_add(f->set, (gbsi_observation){v, (uint32_t)state, field.at}, err);
}

static gbs_status read_sample(tab_file *f, gbsi_token line, gbs_error *err)
{
    const char *end = line.at + line.n;
    size_t n = 0;
    GBSI_PASS(gbsi_evidence_set_begin(f->set, err));
    if (line.n == 0 && f->n_columns == 0) {
        return GBS_OK;
    }
    for (const char *at = line.at; at <= end; n++) {
        gbsi_token field = field_at(line, at);
        if (n == f->n_columns) {
            return gbsi_text_fail(f->text, field, err,
                                  "found more than %zu fields, expected one per label", n);
        }
        if (field.n > 0) {
            GBSI_PASS(read_state(f, n, field, err));
        }
        at = field.at + field.n + 1;
    }
    if (n < f->n_columns) {
        return gbsi_text_fail(f->text, (gbsi_token){end, 0}, err,
                              "found the end of the line after %zu field%s, expected %zu", n,
                              gbsi_plural(n), f->n_columns);
    }
    return GBS_OK;
}

gbs_status gbsi_evidence_read_tab(gbsi_evidence_set *set, gbs_error *err)
{
    gbs_status status = GBS_OK;
    tab_file f = {.set = set, .text = &set->text};
    gbsi_token line = {0};
    size_t n = set->model->n_variables;
    f.column_of = gbsi_alloc_array_zero(n, sizeof *f.column_of);
    GBSI_PASS(GBSI_HAVE(err, set->name, f.column_of));
    GBSI_TRY(read_header(&f, err));
    while (next_line(f.text, &line)) {
        GBSI_TRY(read_sample(&f, line, err));
    }
    if (set->n_samples == 0) {
        status = gbsi_text_unexpected(f.text, (gbsi_token){f.text->end, 0}, "a sample", err);
    }

cleanup:
    GBSI_FREE(f.column_of, f.variable, f.name);
    return status;
}
