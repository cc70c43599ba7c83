/* SPDX-License-Identifier: Apache-2.0 */
/* Reads results that this library wrote as CSV: a line for each entry, or joint tables. */
#include <stdio.h>
#include <string.h>

#include "answers/result_table.h"
#include "base/plural.h"
#include "tables/sheet.h"

/* Reads a field, without its quotes.
 * @param ended out: whether the field was the last one of its line. */
static gbs_status csv_field(gbsi_table *r, bool *ended, gbs_error *err)
{
    gbsi_text *t = r->text;
    const char *begin = t->at;
    const bool quoted = t->at < t->end && *t->at == '"';
    bool open = quoted;
    r->n = 0;
    t->at += quoted;
    while (t->at < t->end &&
           (open || (*t->at != r->separator && *t->at != '\n' && *t->at != '\r'))) {
        if (*t->at == '"' && quoted) {
            const bool twice = open && t->at + 1 < t->end && t->at[1] == '"';
            open = twice;
            t->at += twice;
            if (!twice) {
                t->at++;
                break;
            }
        }
        r->field[r->n++] = *t->at++;
    }
    r->shown = (gbsi_token){begin, (size_t)(t->at - begin)};
    t->at += t->at + 1 < t->end && t->at[0] == '\r' && t->at[1] == '\n';
    if (open || (t->at < t->end && *t->at != r->separator && *t->at != '\n')) {
        return gbsi_text_unexpected(
            t, r->shown, "a field, in quotes or not, and a separator or a new line", err);
    }
    *ended = t->at == t->end || *t->at == '\n';
    t->at += t->at < t->end;
    return GBS_OK;
}

/* Reads the line of names.
 * @param error_column out: column of standard errors, counted without the index.
 * @param n_columns out: number of columns, without the index. */
static gbs_status csv_names(gbsi_table *r, bool *has_index, uint32_t *n_columns,
                            uint32_t *error_column, gbs_error *err)
{
    static const char *const names[] = {"variable", "state", "probability"};
    *n_columns = 0;
    for (bool ended = false; !ended;) {
        GBSI_PASS(csv_field(r, &ended, err));
        if (*n_columns == 0 && r->n == 0 && !*has_index) {
            *has_index = true;
            gbsi_text_warn(r->text, GBSI_INDEX_NOTE);
            continue;
        }
        if (*n_columns < 3 && !gbsi_table_is(r, names[*n_columns])) {
            return gbsi_text_unexpected(r->text, r->shown, names[*n_columns], err);
        }
        *error_column = gbsi_table_is(r, "mcse") ? *n_columns : *error_column;
        ++*n_columns;
    }
    return GBS_OK;
}

static gbs_status wrong_length(const gbsi_table *r, uint32_t n_columns, gbs_error *err)
{
    char expected[48];
    (void)snprintf(expected, sizeof expected, "a line of %u field%s", n_columns,
                   gbsi_plural(n_columns));
    return gbsi_text_unexpected(r->text, r->shown, expected, err);
}

/* Reads CSV with the columns variable,state,probability,... or variable,state. An index, as pandas
 * writes it, may precede these columns. */
gbs_status gbsi_result_read_csv(gbsi_table *r, bool *is_map, gbs_error *err)
{
    bool ended = false;
    bool has_index = false;
    uint32_t n_columns = 0;
    uint32_t error_column = UINT32_MAX;
    GBSI_PASS(csv_names(r, &has_index, &n_columns, &error_column, err));
    *is_map = n_columns == 2;
    while (r->text->at < r->text->end) {
        uint32_t column = 0;
        if (has_index) {
            GBSI_PASS(csv_field(r, &ended, err));
        }
        for (ended = has_index && ended; !ended; column++) {
            GBSI_PASS(csv_field(r, &ended, err));
            if (column == 0 && (*is_map || !gbsi_table_is_last_variable(r))) {
                GBSI_PASS(gbsi_table_add_variable(r, err));
            } else if (column == 1) {
                GBSI_PASS(gbsi_table_add_label(r, err));
            } else if (column == 2) {
                GBSI_PASS(gbsi_table_add_probability(r, err));
            } else if (column == error_column) {
                GBSI_PASS(gbsi_table_add_error(r, err));
            }
        }
        if (column != n_columns) {
            return wrong_length(r, n_columns, err);
        }
    }
    return GBS_OK;
}

/* Skips a word at a position of the text. The word may be in quotes. @return the position behind
 * the word; NULL if the text has something else at the position. */
static const char *skip_word(const gbsi_text *text, const char *at, const char *word)
{
    const size_t n = strlen(word);
    const bool quoted = at < text->end && *at == '"';
    at += quoted;
    if ((size_t)(text->end - at) < n + quoted || memcmp(at, word, n) != 0 ||
        (quoted && at[n] != '"')) {
        return NULL;
    }
    return at + n + quoted;
}

/* @return the separator of the columns, if the text begins with the columns variable and state; an
 * index without a name may precede these columns. Otherwise 0. */
char gbsi_csv_separator(const gbsi_text *text)
{
    const char *at = skip_word(text, text->at, "");
    const bool has_index = at != NULL && at < text->end && strchr(",;\t", *at) != NULL;
    at = skip_word(text, has_index ? at + 1 : text->at, "variable");
    const char separator = (char)(at != NULL && at < text->end ? *at : 0);
    return (char)(separator != 0 && strchr(",;\t", separator) != NULL &&
                          skip_word(text, at + 1, "state") != NULL
                      ? separator
                      : 0);
}

/* ---- joint tables ---------------------------------------------------------------------------- */

char gbsi_csv_joint_separator(const gbsi_text *text)
{
    static const char separators[] = {',', ';', '\t'};
    const char *end = memchr(text->at, '\n', gbsi_text_left(text));
    end = end == NULL ? text->end : end;
    for (const char *at = text->at; at < end; at++) {
        const char *next = at > text->at && memchr(separators, *at, sizeof separators) != NULL
                               ? skip_word(text, at + 1, "probability")
                               : NULL;
        if (next != NULL && next < end && *next == *at &&
            skip_word(text, next + 1, "mcse") != NULL) {
            return *at;
        }
    }
    return 0;
}

/* Reads the line of names of one table: the variables, then probability and further columns. */
static gbs_status joint_names(gbsi_table *r, bool *has_index, uint32_t *n_columns,
                              uint32_t *error_column, gbs_error *err)
{
    bool variables = true;
    *n_columns = 0;
    *error_column = UINT32_MAX;
    gbsi_table_joint_begin(r);
    for (bool ended = false; !ended;) {
        GBSI_PASS(csv_field(r, &ended, err));
        if (*n_columns == 0 && r->n == 0 && !*has_index) {
            *has_index = true;
            gbsi_text_warn(r->text, GBSI_INDEX_NOTE);
            continue;
        }
        variables = variables && !(r->names.n > 0 && gbsi_table_is(r, "probability"));
        if (variables) {
            GBSI_PASS(gbsi_table_joint_add(r, &r->names, err));
        }
        *error_column = !variables && gbsi_table_is(r, "mcse") ? *n_columns : *error_column;
        ++*n_columns;
    }
    return variables ? gbsi_text_unexpected(r->text, r->shown, "a column called probability", err)
                     : gbsi_table_joint_name(r, err);
}

/* Reads a row: a state of each variable, the probability of these states, and further columns. */
static gbs_status joint_row(gbsi_table *r, bool has_index, uint32_t n_columns,
                            uint32_t error_column, gbs_error *err)
{
    uint32_t column = 0;
    bool ended = false;
    r->states.n = r->states.n_bytes = 0;
    if (has_index) {
        GBSI_PASS(csv_field(r, &ended, err));
    }
    for (; !ended; column++) {
        GBSI_PASS(csv_field(r, &ended, err));
        if (column < r->names.n) {
            GBSI_PASS(gbsi_table_joint_add(r, &r->states, err));
        } else if (column == r->names.n) {
            GBSI_PASS(gbsi_table_add_probability(r, err));
            GBSI_PASS(gbsi_table_joint_label(r, NULL, err));
        } else if (column == error_column) {
            GBSI_PASS(gbsi_table_add_error(r, err));
        }
    }
    return column == n_columns ? GBS_OK : wrong_length(r, n_columns, err);
}

/* Moves behind a line without characters. @return whether there was one. */
static bool skip_blank_line(gbsi_text *t)
{
    const size_t n = gbsi_text_left(t);
    const size_t blank = n > 0 && t->at[0] == '\n'                       ? 1
                         : n > 1 && t->at[0] == '\r' && t->at[1] == '\n' ? 2
                                                                         : 0;
    t->at += blank;
    return blank > 0;
}

gbs_status gbsi_result_read_joints(gbsi_table *r, gbs_error *err)
{
    while (gbsi_text_left(r->text) > 0) {
        bool has_index = false;
        uint32_t n_columns = 0;
        uint32_t error_column = 0;
        GBSI_PASS(joint_names(r, &has_index, &n_columns, &error_column, err));
        const size_t n_p = r->n_p;
        while (gbsi_text_left(r->text) > 0 && !skip_blank_line(r->text)) {
            GBSI_PASS(joint_row(r, has_index, n_columns, error_column, err));
        }
        if (r->n_p == n_p) {
            return gbsi_text_unexpected(r->text, r->shown, "rows behind the line of names", err);
        }
    }
    return GBS_OK;
}
