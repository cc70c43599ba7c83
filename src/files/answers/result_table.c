/* SPDX-License-Identifier: Apache-2.0 */
/* Reads marginals and states that this library wrote: CSV with a line for each entry, or JSON. Both
 * forms name the variables. Marginals, and states in CSV, have the labels of states. Only a model
 * can turn these labels into numbers. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answers/result.h"
#include "base/memory.h"
#include "base/plural.h"
#include "decimal/decimal.h"
#include "tables/sheet.h"

typedef struct table_reader {
    gbsi_text *text;
    char separator; /* separator of columns in CSV */
    char *field;    /* decoded text of the last cell; has room for all bytes of the file */
    size_t n;
    gbsi_token shown;   /* bytes of the last cell in the file, before decoding */
    void *name, *label; /* char: texts, each ended by 0 */
    size_t name_capacity, n_name_bytes, label_capacity, n_label_bytes;
    void *offset, *p, *error; /* size_t [n + 1], double, double */
    size_t offset_capacity, p_capacity, error_capacity, n_p, n_errors, n_labels;
    uint32_t n_variables;
    size_t last_name; /* index in `name` at which the last name starts */
} table_reader;

static bool field_is(const table_reader *r, const char *name)
{
    return r->n == strlen(name) && memcmp(r->field, name, r->n) == 0;
}

/* ---- what the CSV and JSON readers add ------------------------------------------------------- */

static gbs_status add_text(table_reader *r, void **pool, size_t *capacity, size_t *n,
                           gbs_error *err)
{
    gbs_status status = gbsi_reserve(pool, capacity, *n + r->n + 1, 1, r->text->name, err);
    if (status == GBS_OK) {
        memcpy((char *)*pool + *n, r->field, r->n);
        ((char *)*pool)[*n + r->n] = 0;
        *n += r->n + 1;
    }
    return status;
}

/* Adds the field as the name of the next variable. */
static gbs_status add_variable(table_reader *r, gbs_error *err)
{
    if (r->n_variables == GBS_MAX_VARIABLES) {
        return gbsi_text_unexpected(r->text, r->shown, "no more variables", err);
    }
    r->last_name = r->n_name_bytes;
    GBSI_PASS(add_text(r, &r->name, &r->name_capacity, &r->n_name_bytes, err));
    GBSI_PASS(gbsi_reserve(&r->offset, &r->offset_capacity, (size_t)r->n_variables + 2,
                           sizeof(size_t), r->text->name, err));
    ((size_t *)r->offset)[r->n_variables++] = r->n_p;
    return GBS_OK;
}

static bool is_last_variable(const table_reader *r)
{
    return r->n_variables > 0 && strlen((const char *)r->name + r->last_name) == r->n &&
           memcmp((const char *)r->name + r->last_name, r->field, r->n) == 0;
}

/* Reads the field as a number. A decimal comma is allowed if commas do not separate columns. */
static bool field_number(table_reader *r, double *number)
{
    char *comma = r->separator == ';' || r->separator == '\t' ? memchr(r->field, ',', r->n) : NULL;
    if (comma != NULL) {
        *comma = '.';
    }
    return gbsi_decimal_read(r->field, r->n, number) != GBSI_DECIMAL_BAD;
}

static gbs_status add_probability(table_reader *r, gbs_error *err)
{
    double p = 0.0;
    if (!field_number(r, &p) || !(p >= 0.0 && p <= 1.0)) {
        return gbsi_text_unexpected(r->text, r->shown, "a probability", err);
    }
    GBSI_PASS(gbsi_reserve(&r->p, &r->p_capacity, r->n_p + 1, sizeof p, r->text->name, err));
    ((double *)r->p)[r->n_p++] = p;
    return GBS_OK;
}

/* Adds the field as the label of a state. */
static gbs_status add_label(table_reader *r, gbs_error *err)
{
    r->n_labels++;
    return add_text(r, &r->label, &r->label_capacity, &r->n_label_bytes, err);
}

/* Adds a standard error. An empty field in CSV, or null in JSON, means that the error is not
 * known. */
static gbs_status add_error(table_reader *r, gbs_error *err)
{
    double error = NAN;
    if (r->n > 0 && !field_is(r, "null") && (!field_number(r, &error) || !(error >= 0.0))) {
        return gbsi_text_unexpected(r->text, r->shown, "a standard error", err);
    }
    GBSI_PASS(gbsi_reserve(&r->error, &r->error_capacity, r->n_errors + 1, sizeof error,
                           r->text->name, err));
    ((double *)r->error)[r->n_errors++] = error;
    return GBS_OK;
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/* Reads a field, without its quotes.
 * @param ended out: whether the field was the last one of its line. */
static gbs_status csv_field(table_reader *r, bool *ended, gbs_error *err)
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
static gbs_status csv_names(table_reader *r, bool *has_index, uint32_t *n_columns,
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
        if (*n_columns < 3 && !field_is(r, names[*n_columns])) {
            return gbsi_text_unexpected(r->text, r->shown, names[*n_columns], err);
        }
        *error_column = field_is(r, "mcse") ? *n_columns : *error_column;
        ++*n_columns;
    }
    return GBS_OK;
}

/* Reads CSV with the columns variable,state,probability,... or variable,state. An index, as pandas
 * writes it, may precede these columns. */
static gbs_status read_csv(table_reader *r, bool *is_map, gbs_error *err)
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
            if (column == 0 && (*is_map || !is_last_variable(r))) {
                GBSI_PASS(add_variable(r, err));
            } else if (column == 1) {
                GBSI_PASS(add_label(r, err));
            } else if (column == 2) {
                GBSI_PASS(add_probability(r, err));
            } else if (column == error_column) {
                GBSI_PASS(add_error(r, err));
            }
        }
        if (column != n_columns) {
            char expected[48];
            (void)snprintf(expected, sizeof expected, "a line of %u field%s", n_columns,
                           gbsi_plural(n_columns));
            return gbsi_text_unexpected(r->text, r->shown, expected, err);
        }
    }
    return GBS_OK;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static gbs_status json_expect(table_reader *r, char c, gbs_error *err)
{
    const gbsi_token token = gbsi_text_peek(r->text);
    const char expected[4] = {'\'', c, '\'', 0};
    if (token.n == 0 || *token.at != c) {
        return gbsi_text_unexpected(r->text, token, expected, err);
    }
    r->text->at = token.at + 1;
    return GBS_OK;
}

/* Moves behind the next token if it is c. @return whether it was c. */
static bool json_has(table_reader *r, char c)
{
    const gbsi_token token = gbsi_text_peek(r->text);
    if (token.n == 0 || *token.at != c) {
        return false;
    }
    r->text->at = token.at + 1;
    return true;
}

/* Reads a string as this library writes it. Its escapes are \", \\ and \u00XX for control
 * characters. */
static gbs_status json_string(table_reader *r, gbs_error *err)
{
    GBSI_PASS(json_expect(r, '"', err));
    gbsi_text *t = r->text;
    const char *begin = t->at - 1;
    r->n = 0;
    while (t->at < t->end && *t->at != '"') {
        if (*t->at == '\\' && t->at + 1 < t->end) {
            t->at++;
        }
        r->field[r->n++] = *t->at++;
    }
    r->shown = (gbsi_token){begin, (size_t)(t->at - begin)};
    return json_expect(r, '"', err);
}

/* Reads a number or a word such as null, as text. */
static gbs_status json_word(table_reader *r, gbs_error *err)
{
    gbsi_text *t = r->text;
    const gbsi_token token = gbsi_text_peek(t);
    t->at = token.at;
    r->n = 0;
    while (t->at < t->end && !gbsi_is_blank(*t->at) && strchr(",]}[{:\"", *t->at) == NULL) {
        r->field[r->n++] = *t->at++;
    }
    r->shown = (gbsi_token){token.at, r->n};
    return r->n > 0 ? GBS_OK : gbsi_text_unexpected(t, token, "a value", err);
}

/* Skips a value of any kind. Results have members that this reader does not use. */
static gbs_status json_skip(table_reader *r, gbs_error *err)
{
    size_t depth = 0;
    do {
        const gbsi_token token = gbsi_text_peek(r->text);
        const char c = token.n > 0 ? *token.at : 0;
        if (c == '"') {
            GBSI_PASS(json_string(r, err));
        } else if (c == '[' || c == '{') {
            r->text->at = token.at + 1;
            depth++;
        } else if (depth > 0 && c != 0 && strchr(",:]}", c) != NULL) {
            r->text->at = token.at + 1;
            depth -= c == ']' || c == '}';
        } else {
            GBSI_PASS(json_word(r, err));
        }
    } while (depth > 0);
    return GBS_OK;
}

/* Reads [ value, value, ... ]; take() reads each value. */
static gbs_status json_array(table_reader *r, gbs_status (*take)(table_reader *, gbs_error *),
                             gbs_error *err)
{
    GBSI_PASS(json_expect(r, '[', err));
    if (json_has(r, ']')) {
        return GBS_OK;
    }
    do {
        GBSI_PASS(take(r, err));
    } while (json_has(r, ','));
    return json_expect(r, ']', err);
}

static gbs_status take_probability(table_reader *r, gbs_error *err)
{
    GBSI_PASS(json_word(r, err));
    return add_probability(r, err);
}

static gbs_status take_error(table_reader *r, gbs_error *err)
{
    GBSI_PASS(json_word(r, err));
    return add_error(r, err);
}

/* Reads the number of a state in a result of map, and keeps the number as a label, as in CSV. */
static gbs_status take_state(table_reader *r, gbs_error *err)
{
    uint64_t number = 0;
    bool too_large = false;
    GBSI_PASS(json_word(r, err));
    if (!gbsi_integer_read(r->field, r->n, GBS_MAX_ARITY - 1, &number, &too_large)) {
        return gbsi_text_unexpected(r->text, r->shown, "the number of a state", err);
    }
    GBSI_PASS(add_label(r, err));
    r->n_variables++;
    return GBS_OK;
}

static gbs_status take_label(table_reader *r, gbs_error *err)
{
    GBSI_PASS(json_string(r, err));
    return add_label(r, err);
}

/* Adds a variable or a label that has no text. Its name is the number, in digits, as in CSV. */
static gbs_status add_number(table_reader *r, gbs_status (*add)(table_reader *r, gbs_error *err),
                             uint64_t number, gbs_error *err)
{
    char text[24];
    char *field = r->field;
    r->field = text;
    r->n = (size_t)snprintf(text, sizeof text, "%" PRIu64, number);
    const gbs_status status = add(r, err);
    r->field = field;
    return status;
}

/* Gives the states of a variable without labels their numbers as labels. */
static gbs_status number_labels(table_reader *r, size_t n_states, gbs_error *err)
{
    gbs_status status = GBS_OK;
    for (size_t i = 0; i < n_states && status >= 0; i++) {
        status = add_number(r, add_label, i, err);
    }
    return status;
}

static gbs_status take_id(table_reader *r, uint64_t *id, gbs_error *err)
{
    bool too_large = false;
    GBSI_PASS(json_word(r, err));
    return gbsi_integer_read(r->field, r->n, UINT32_MAX - 1, id, &too_large)
               ? GBS_OK
               : gbsi_text_unexpected(r->text, r->shown, "the number of a variable", err);
}

/* Reads { "id": ..., "name": ..., "states": [...], "probability": [...], ... }. A variable without
 * a name gets its number as name. */
static gbs_status take_variable(table_reader *r, gbs_error *err)
{
    const size_t n_labels = r->n_labels;
    const size_t n_p = r->n_p;
    uint64_t id = UINT64_MAX;
    bool named = false;
    GBSI_PASS(json_expect(r, '{', err));
    do {
        GBSI_PASS(json_string(r, err));
        const bool number = field_is(r, "id");
        const bool name = field_is(r, "name");
        const bool labels = field_is(r, "states");
        const bool probability = field_is(r, "probability");
        const bool error = field_is(r, "mcse");
        GBSI_PASS(json_expect(r, ':', err));
        if (probability && !named && id != UINT64_MAX) {
            GBSI_PASS(add_number(r, add_variable, id, err));
            named = true;
        }
        if (number) {
            GBSI_PASS(take_id(r, &id, err));
        } else if (name && !named) {
            GBSI_PASS(json_string(r, err));
            GBSI_PASS(add_variable(r, err));
            named = true;
        } else if (labels && r->n_labels == n_labels) {
            GBSI_PASS(json_array(r, take_label, err));
        } else if (probability && named) {
            GBSI_PASS(json_array(r, take_probability, err));
        } else if (error && named) {
            GBSI_PASS(json_array(r, take_error, err));
        } else {
            GBSI_PASS(json_skip(r, err));
        }
    } while (json_has(r, ','));
    GBSI_PASS(json_expect(r, '}', err));
    const gbsi_token end = {r->text->at - 1, 1};
    if (!named || r->n_p == n_p) {
        return gbsi_text_unexpected(r->text, end, "a name and then probabilities", err);
    }
    if (r->n_labels > n_labels && r->n_labels - n_labels != r->n_p - n_p) {
        return gbsi_text_unexpected(r->text, end, "as many probabilities as states", err);
    }
    return r->n_labels > n_labels ? GBS_OK : number_labels(r, r->n_p - n_p, err);
}

/* Reads a number. null means that the number is not known. */
static gbs_status take_number(table_reader *r, double *number, gbs_error *err)
{
    GBSI_PASS(json_word(r, err));
    if (gbsi_decimal_read(r->field, r->n, number) == GBSI_DECIMAL_BAD) {
        *number = (double)NAN;
    }
    return GBS_OK;
}

/* Reads a result in JSON.
 * @param log_z, error out: set for results of logz only. */
static gbs_status read_json(table_reader *r, bool *is_map, double *log_density, double *log_z,
                            double *error, gbs_error *err)
{
    gbs_status status = GBS_OK;
    bool found = false;
    bool is_log_z = false;
    GBSI_TRY(json_expect(r, '{', err));
    do {
        GBSI_TRY(json_string(r, err));
        const bool map = field_is(r, "state");
        const bool marginals = field_is(r, "variables");
        const bool density = field_is(r, "log_density");
        const bool schema = field_is(r, "schema");
        const bool value = field_is(r, "log_z");
        const bool uncertain = field_is(r, "error");
        GBSI_TRY(json_expect(r, ':', err));
        if ((map || marginals) && !found) {
            found = true;
            *is_map = map;
            GBSI_TRY(json_array(r, map ? take_state : take_variable, err));
        } else if (is_log_z && (value || uncertain)) {
            GBSI_TRY(take_number(r, value ? log_z : error, err));
            found = found || (value && !isnan(*log_z));
        } else {
            GBSI_TRY(json_skip(r, err));
        }
        if (schema && field_is(r, "joints/1")) {
            GBSI_TRY(gbsi_text_fail(r->text, r->shown, err,
                                    "found joint tables, expected marginals, a state or ln Z"));
        }
        is_log_z = is_log_z || (schema && r->n > 5 && memcmp(r->field, "logz/", 5) == 0);
        if (density && gbsi_decimal_read(r->field, r->n, log_density) == GBSI_DECIMAL_BAD) {
            *log_density = NAN;
        }
    } while (json_has(r, ','));
    GBSI_TRY(json_expect(r, '}', err));
    if (!found) {
        const gbsi_token end = {r->text->end, 0};
        status = gbsi_text_unexpected(
            r->text, end, is_log_z ? "a \"log_z\" that is known" : "marginals, a state or ln Z",
            err);
    }

cleanup:
    return status;
}

/* ---- the result ------------------------------------------------------------------------------ */

/* Sets the number of each state. A label that is a whole number is taken as this number; for other
 * labels the number is GBSI_NO_NUMBER. */
static gbs_status number_states(const table_reader *r, gbs_result *result, gbs_error *err)
{
    result->n = r->n_variables;
    result->state = gbsi_alloc_array(result->n, sizeof *result->state);
    GBSI_PASS(GBSI_HAVE(err, r->text->name, result->state));
    for (uint32_t i = 0; i < result->n; ++i) {
        uint64_t state = 0;
        bool too_large = false;
        const char *label = result->label[i];
        result->state[i] =
            gbsi_integer_read(label, strlen(label), GBS_MAX_ARITY - 1, &state, &too_large)
                ? (uint32_t)state
                : GBSI_NO_NUMBER;
    }
    return GBS_OK;
}

/* Whether any standard error is known. The errors are all unknown if the column has only empty
 * fields. */
static bool knows_errors(const table_reader *r)
{
    bool known = false;
    for (size_t i = 0; i < r->n_errors && !known; i++) {
        known = !isnan(((const double *)r->error)[i]);
    }
    return known;
}

static gbs_status take_result(table_reader *r, bool is_map, gbs_result *result, gbs_error *err)
{
    gbs_status status = GBS_OK;
    if (r->n_name_bytes > 0) {
        GBSI_TRY(gbsi_result_texts(r->name, r->n_name_bytes, r->n_variables, &result->name, err));
    }
    GBSI_TRY(gbsi_result_texts(r->label, r->n_label_bytes, r->n_labels, &result->label, err));
    if (is_map) {
        result->task = GBS_TASK_MAP;
        status = number_states(r, result, err);
        if (r->n_name_bytes == 0) { /* states in JSON are numbers, not labels */
            gbsi_free(result->label);
            result->label = NULL;
        }
        return status;
    }
    result->task = GBS_TASK_MAR;
    GBSI_TRY(gbsi_reserve(&r->offset, &r->offset_capacity, (size_t)r->n_variables + 1,
                          sizeof(size_t), r->text->name, err));
    ((size_t *)r->offset)[r->n_variables] = r->n_p;
    result->marginals =
        (gbs_marginals){.n_variables = r->n_variables, .offset = r->offset, .p = r->p};
    r->offset = NULL;
    r->p = NULL;
    if (r->n_errors == r->n_p && knows_errors(r)) { /* otherwise some variables lack errors */
        result->marginals.error = r->error;
        r->error = NULL;
    }

cleanup:
    return status;
}

/* Skips a word at a position of the text. The word may be in quotes. @return the position behind
 * the word; NULL if the text has another word there. */
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

/* @return the separator of the columns if the text begins with the columns variable and state,
 *   perhaps behind an index without a name; otherwise 0. */
static char find_separator(const gbsi_text *text)
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

bool gbsi_result_is_table(const gbsi_text *text)
{
    return find_separator(text) != 0 || (gbsi_text_left(text) > 0 && *text->at == '{');
}

gbs_status gbsi_result_read_table(gbsi_text *text, gbs_result *result, gbs_error *err)
{
    gbs_status status = GBS_OK;
    bool is_map = false;
    table_reader r = {.text = text, .separator = find_separator(text)};
    r.field = gbsi_alloc(gbsi_text_left(text) + 1);
    GBSI_PASS(GBSI_HAVE(err, text->name, r.field));
    if (*text->at == '{') {
        double log_z = (double)NAN;
        double error = (double)NAN;
        GBSI_TRY(read_json(&r, &is_map, &result->log_density, &log_z, &error, err));
        if (!isnan(log_z)) {
            result->task = GBS_TASK_PR;
            result->log10_z = log_z / GBSI_LN10;
            result->log10_error = error / GBSI_LN10;
            goto cleanup;
        }
    } else {
        GBSI_TRY(read_csv(&r, &is_map, err));
    }
    status = take_result(&r, is_map, result, err);

cleanup:
    GBSI_FREE(r.field, r.name, r.label, r.offset, r.p, r.error);
    return status;
}
