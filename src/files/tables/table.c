/* SPDX-License-Identifier: Apache-2.0 */
/* Reads rows of states of a model's variables. */
#include "gibbsite/table.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/plural.h"
#include "base/sized.h"
#include "gibbsite/fit.h"
#include "store/builder.h"
#include "store/model.h"
#include "tables/sheet.h"

enum { NO_COLUMN = -1, WEIGHT_COLUMN = -2 }; /* values of `use` for columns that have no states */

struct gbs_table {
    const gbs_model *model;
    gbs_table_options options;
    gbsi_input input;
    gbsi_sheet sheet;
    const char *first; /* position of the first row */
    bool is_draws;     /* whether gibbsite sample wrote the table; its states are numbers */
    uint32_t n_columns;
    uint32_t *column;   /* [n_columns] variable of each column */
    uint32_t *is_label; /* [n_columns] bit i: whether sign i of a missing value is a label */
    /* [sheet.n_columns] variable of each column, or NO_COLUMN or WEIGHT_COLUMN */
    int32_t *use;
    uint64_t n_missing[GBSI_MISSING_SIGNS];
    bool told_missing;
};
_Static_assert(GBSI_MISSING_SIGNS <= 32, "a bit for each sign");

void gbs_table_free(gbs_table *table)
{
    if (table != NULL) {
        gbsi_sheet_free(&table->sheet);
        gbsi_input_free(&table->input);
        GBSI_FREE(table->column, table->is_label, table->use, table);
    }
}

const uint32_t *gbs_table_columns(const gbs_table *table, uint32_t *n)
{
    if (n != NULL) {
        *n = table == NULL ? 0 : table->n_columns;
    }
    return table == NULL ? NULL : table->column;
}

/* ---- what was skipped ------------------------------------------------------------------------ */

static void tell(const gbs_table *t, const char *format, ...) GBSI_PRINTF(2, 3);
static void tell(const gbs_table *t, const char *format, ...)
{
    char message[1200];
    const int n = snprintf(message, sizeof message, "%.200s: ", t->input.name);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message + n, sizeof message - (size_t)n, format, arguments);
    va_end(arguments);
    if (t->options.tell != NULL) {
        t->options.tell(t->options.context, message);
    }
}

static void tell_missing(gbs_table *t)
{
    char list[GBSI_MISSING_TEXT];
    const uint64_t n = gbsi_missing_text(t->n_missing, list);
    if (n > 0 && !t->told_missing) {
        tell(t, "%" PRIu64 " cell%s no value: %s", n, gbsi_plural_of(n, " has", "s have"), list);
    }
    if (t->sheet.text.comment == '#' && t->sheet.n_comments > 0 && !t->told_missing) {
        tell(t, "%" PRIu64 " line%s with # below the names: skipped as %s", t->sheet.n_comments,
             gbsi_plural_of(t->sheet.n_comments, " begins", "s begin"),
             gbsi_plural_of(t->sheet.n_comments, "a comment", "comments"));
    }
    t->told_missing = true;
}

static void tell_left_out(const gbs_table *t)
{
    enum { MOST = 8 };
    char list[(MOST + 1) * GBSI_SHOWN] = "";
    size_t n = 0;
    uint32_t n_left = 0;
    for (uint32_t k = 0; k < t->sheet.n_columns; k++) {
        char shown[GBSI_SHOWN];
        const gbsi_cell *name = &t->sheet.name[k];
        if (t->use[k] != NO_COLUMN || (t->is_draws && k < GBSI_DRAW_COLUMNS)) {
            continue;
        }
        if (n_left++ < MOST) {
            n +=
                (size_t)snprintf(list + n, sizeof list - n, "%s%s", n > 0 ? ", " : "",
                                 name->n == 0 ? "one without a name" : gbsi_cell_show(name, shown));
        }
    }
    if (n_left > 0) {
        tell(t, "%" PRIu32 " column%s no variable and left out: %s%s", n_left,
             gbsi_plural_of(n_left, " is", "s are"), list, n_left > MOST ? ", ..." : "");
    }
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Finds a variable by its name. A variable is found by its number only if it has no name,
 * because column numbers that a program made are not variables. In draws, variable 5 without a
 * name is called x5. */
static bool find_variable(const gbs_model *model, const char *name, bool is_draws, uint32_t *v)
{
    if (gbsi_find_name(model, name, v)) {
        return true;
    }
    const char *number = is_draws && name[0] == 'x' ? name + 1 : name;
    return number[0] >= '0' && number[0] <= '9' &&
           gbs_model_find_variable(model, number, v, NULL) >= 0 &&
           gbs_model_variable_name(model, *v) == NULL;
}

static bool is_variable(const void *context, const char *name)
{
    uint32_t v = 0;
    return find_variable(context, name, false, &v);
}

static gbs_status refuse_close(const gbs_table *t, const gbsi_cell *name, const char *variable,
                               gbs_error *err)
{
    char shown[GBSI_SHOWN];
    return gbsi_cell_fail(&t->sheet, name, err,
                          "found %s, expected a variable: \"%.100s\" is written nearly so; correct "
                          "the name, or take the column out",
                          gbsi_cell_show(name, shown), variable);
}

/* Checks whether the name of a column, which no variable has, may be a misspelt name of a variable.
 * Names that differ in one letter, such as x1 and x2, are not taken for a mistake if each is a
 * variable with a column.
 * @param seen [variables] which variables have a column. */
static gbs_status check_left_out(const gbs_table *t, const gbsi_cell *name,
                                 const unsigned char *seen, gbs_error *err)
{
    const gbs_model *m = t->model;
    char shown[GBSI_SHOWN];
    for (uint32_t v = 0; v < m->n_variables; v++) {
        const char *known = gbs_model_variable_name(m, v);
        if (known != NULL && name->n > 0 &&
            (seen[v] ? gbsi_alike_names : gbsi_close_names)(name->text, known)) {
            return refuse_close(t, name, known, err);
        }
    }
    gbs_status status =
        gbsi_watch_work(t->sheet.text.watch, m->n_variables, "reading a table", err);
    if (status >= 0 && t->options.strict) {
        status = gbsi_cell_fail(&t->sheet, name, err,
                                "found %s, expected a variable in every column of a strict table",
                                gbsi_cell_show(name, shown));
    }
    return status;
}

static gbs_status add_column(gbs_table *t, uint32_t k, uint32_t v, unsigned char *seen,
                             gbs_error *err)
{
    char shown[GBSI_SHOWN];
    if (seen[v]) {
        return gbsi_cell_fail(&t->sheet, &t->sheet.name[k], err,
                              "found %s again, expected each variable in one column",
                              gbsi_cell_show(&t->sheet.name[k], shown));
    }
    seen[v] = 1;
    if (t->sheet.name[k].numeric) {
        return gbsi_cell_fail(&t->sheet, &t->sheet.name[k], err,
                              "found %s without a list of values, expected one, in braces: Weka's "
                              "filter NumericToNominal makes it",
                              gbsi_cell_show(&t->sheet.name[k], shown));
    }
    for (uint32_t a = 0; a < gbs_model_arity(t->model, v); a++) {
        const char *label = gbs_model_state_label(t->model, v, a);
        const int sign = label == NULL ? -1 : gbsi_find_missing(label, strlen(label));
        if (sign >= 0) {
            t->is_label[t->n_columns] |= 1u << sign;
        }
    }
    t->use[k] = (int32_t)t->n_columns;
    t->column[t->n_columns++] = v;
    return GBS_OK;
}

/* Whether some variable has a state with this label. The line of names is then probably a row of
 * states. */
static bool is_state(const gbs_model *model, const char *text)
{
    uint32_t state = 0;
    for (uint32_t v = 0; v < model->n_variables; v++) {
        if (gbs_model_state_label(model, v, 0) != NULL &&
            gbs_model_find_state(model, v, text, &state, NULL) >= 0) {
            return true;
        }
    }
    return false;
}

/* Whether some label of a variable is a number other than the number of its state. A number in a
 * cell can then mean either state. */
static bool has_other_numbers(const gbs_model *model, uint32_t v)
{
    char whole[GBSI_WHOLE];
    char own[GBSI_WHOLE];
    for (uint32_t a = 0; a < gbs_model_arity(model, v); a++) {
        const char *label = gbs_model_state_label(model, v, a);
        (void)snprintf(own, sizeof own, "%" PRIu32, a);
        if (label != NULL && gbsi_whole_text(label, strlen(label), whole) &&
            strcmp(whole, own) != 0) {
            return true;
        }
    }
    return false;
}

/* Finds the first column with a label that is a number other than the number of its state, and
 * writes the name of the column. @return whether a column has such a label. */
static bool find_other_numbers(const gbs_table *t, char *name, size_t size)
{
    for (uint32_t k = 0; k < t->n_columns; k++) {
        if (has_other_numbers(t->model, t->column[k])) {
            gbsi_variable_text(t->model, t->column[k], name, size);
            return true;
        }
    }
    return false;
}

/* @return the reason why the model does not know a text. The reason is a general one if the text
 *   has characters that a message must not contain.
 * @param shown text of the cell as gbsi_cell_show() writes it. */
static const char *reason(const gbsi_cell *cell, const char *shown, const gbs_error *found)
{
    return strlen(shown) == cell->n + 2 ? found->message : "the model has none of that name";
}

static gbs_status refuse_all(const gbs_table *t, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    const gbsi_cell *name = &t->sheet.name[t->is_draws ? GBSI_DRAW_COLUMNS : 0];
    gbs_error found = {GBS_OK, ""};
    uint32_t v = 0;
    if (name->n == 0) {
        return t->sheet.column != NULL
                   ? gbsi_fail(err, GBS_ERR_ARGUMENT,
                               "%s: found no columns with names, expected variables", t->input.name)
               : t->input.n == 0
                   ? gbsi_fail(err, GBS_ERR_FORMAT,
                               "%s:1:1: found an empty file, expected a line that names variables",
                               t->input.name)
                   : gbsi_cell_unexpected(&t->sheet, name, "a variable for each column", err);
    }
    const char *said = gbsi_cell_show(name, shown);
    const bool in_file = t->sheet.column == NULL;
    const char *why = gbs_model_find_variable(t->model, name->text, &v, &found) < 0
                          ? reason(name, said, &found)
                          : "variables that have a name are called by it";
    return gbsi_cell_fail(
        &t->sheet, name, err, "found %s, expected a variable: %s%s%s", said, why,
        t->sheet.n_columns > 1 ? "; no other column is a variable either"
        : in_file && strpbrk(name->text, " |:") != NULL
            ? "; commas, semicolons or tabs separate columns"
            : "",
        in_file && is_state(t->model, name->text) ? "; the first line names the variables" : "");
}

/* Whether the line of names is a row of states: whole numbers that are no names of variables and do
 * not ascend. */
static bool is_row(const gbs_table *t)
{
    char whole[GBSI_WHOLE];
    bool ascends = true;
    double last = -1.0;
    for (uint32_t k = 0; k < t->sheet.n_columns; k++) {
        const gbsi_cell *name = &t->sheet.name[k];
        double number = 0.0;
        uint32_t v = 0;
        if (gbsi_find_name(t->model, name->text, &v) ||
            !gbsi_whole_text(name->text, name->n, whole) ||
            !gbsi_cell_number(&t->sheet, name, &number)) {
            return false;
        }
        ascends = ascends && number > last;
        last = number;
    }
    return !ascends;
}

/* Finds the variable of each column of the table. */
static gbs_status find_columns(gbs_table *t, unsigned char *seen, const char *weights,
                               gbs_error *err)
{
    bool weighed = weights == NULL;
    uint32_t v = 0;
    for (uint32_t k = 0; k < t->sheet.n_columns; k++) {
        const char *name = t->sheet.name[k].text;
        t->use[k] = NO_COLUMN;
        if (t->is_draws && k < GBSI_DRAW_COLUMNS) {
            continue;
        }
        if (!weighed && strcmp(name, weights) == 0) {
            weighed = true;
            t->use[k] = WEIGHT_COLUMN;
        } else if (find_variable(t->model, name, t->is_draws, &v)) {
            GBSI_PASS(add_column(t, k, v, seen, err));
        }
    }
    if (!weighed) {
        return gbsi_fail(err, t->sheet.column != NULL ? GBS_ERR_ARGUMENT : GBS_ERR_FORMAT,
                         "%s: found no column \"%.64s\", expected the weights there", t->input.name,
                         weights);
    }
    return GBS_OK;
}

/* Checks that the variables have columns. @param seen [variables] which variables have a column. */
static gbs_status check_columns(gbs_table *t, const unsigned char *seen, gbs_error *err)
{
    const uint64_t most = UINT64_C(1) << 30;
    if ((uint64_t)(t->sheet.n_columns - t->n_columns) * t->model->n_variables > most) {
        return gbsi_cell_fail(
            &t->sheet, &t->sheet.name[0], err,
            "found %" PRIu32 " column%s that are no variable, too many to look for "
            "misspelt names; take them out",
            t->sheet.n_columns - t->n_columns, gbsi_plural(t->sheet.n_columns - t->n_columns));
    }
    for (uint32_t k = 0; k < t->sheet.n_columns; k++) {
        if (t->use[k] == NO_COLUMN && !(t->is_draws && k < GBSI_DRAW_COLUMNS)) {
            GBSI_PASS(check_left_out(t, &t->sheet.name[k], seen, err));
        }
    }
    if (t->n_columns == 0) {
        return refuse_all(t, err);
    }
    for (uint32_t v = 0; t->options.complete && v < t->model->n_variables; v++) {
        char name[128];
        if (!seen[v] && gbs_model_arity(t->model, v) > 1) {
            gbsi_variable_text(t->model, v, name, sizeof name);
            return gbsi_cell_fail(&t->sheet, &t->sheet.name[0], err,
                                  "found no column of variable %s, expected one of each variable",
                                  name);
        }
    }
    return GBS_OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Columns that a caller has in memory. */
typedef struct held {
    const gbs_column *column;
    uint32_t n;
    uint64_t n_rows;
} held;

/* Whether `gibbsite sample` wrote the table. If the model has a variable that is called chain, draw
 * or lp, the name must occur again behind the first three columns, because draws have a column for
 * each variable. If the name does not occur again, its column is the variable, and the table has no
 * draws. */
static bool find_draws(const gbs_table *t)
{
    bool is_draws = gbsi_sheet_is_draws(&t->sheet);
    for (uint32_t k = 0; is_draws && k < GBSI_DRAW_COLUMNS; k++) {
        uint32_t v = 0;
        const char *name = t->sheet.name[k].text;
        is_draws = !gbsi_find_name(t->model, name, &v);
        for (uint32_t j = GBSI_DRAW_COLUMNS; !is_draws && j < t->sheet.n_columns; j++) {
            is_draws = strcmp(t->sheet.name[j].text, name) == 0;
        }
    }
    return is_draws;
}

/* Whether lines below the header that begin with # are comments. They are comments if the first
 * column has labels of states, and neither one of these labels nor a column name begins with #. */
static bool has_comments(const gbs_table *t)
{
    if (t->sheet.has_index || t->sheet.is_arff || t->use[0] < 0 || t->options.numbers == 1) {
        return false;
    }
    bool has = gbs_model_state_label(t->model, t->column[t->use[0]], 0) != NULL;
    for (uint32_t k = 0; has && k < t->sheet.n_columns; k++) {
        has = t->sheet.name[k].text[0] != '#';
    }
    for (uint32_t a = 0; has && a < gbs_model_arity(t->model, t->column[t->use[0]]); a++) {
        has = gbs_model_state_label(t->model, t->column[t->use[0]], a)[0] != '#';
    }
    return has;
}

/* Reads the header. @param of columns that a caller has in memory; NULL for a table in a file or in
 * bytes. */
static gbs_status read_header(gbs_table *t, const held *of, const char *weights, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_text text;
    const size_t n = (size_t)t->model->n_variables + 1;
    unsigned char *seen = gbsi_alloc_zero(n);
    t->column = gbsi_alloc_array_zero(n, sizeof *t->column);
    t->is_label = gbsi_alloc_array_zero(n, sizeof *t->is_label);
    GBSI_TRY(GBSI_HAVE(err, "columns of a table", seen, t->column, t->is_label));
    GBSI_TRY(gbsi_text_open(&text, &t->input, NULL, err));
    GBSI_TRY(of != NULL
                 ? gbsi_sheet_of_columns(&t->sheet, &text, of->column, of->n, of->n_rows, err)
                 : gbsi_sheet_open(&t->sheet, &text, is_variable, t->model, err));
    t->is_draws = find_draws(t);
    t->use = gbsi_alloc_array_zero(t->sheet.n_columns, sizeof *t->use);
    GBSI_TRY(GBSI_HAVE(err, "columns of a table", t->use));
    if (of == NULL && is_row(t)) {
        GBSI_TRY(gbsi_cell_unexpected(&t->sheet, &t->sheet.name[0],
                                      "a first line that names the variables; numbers of variables "
                                      "without names ascend",
                                      err));
    }
    GBSI_TRY(find_columns(t, seen, weights, err));
    if (of == NULL && weights == NULL && t->n_columns < t->sheet.n_columns) {
        GBSI_TRY(gbsi_refuse_answers(&text, true, "a row of states for each case", err));
    }
    GBSI_TRY(check_columns(t, seen, err));
    t->first = t->sheet.text.at;
    if (of == NULL && has_comments(t)) {
        t->sheet.text.comment = '#';
        t->sheet.n_comments = 0;
    }
    if (t->sheet.has_index) {
        tell(t, GBSI_INDEX_NOTE);
    }
    char name[128];
    if (t->options.numbers == 1 && find_other_numbers(t, name, sizeof name)) {
        tell(t,
             "warning: labels of variable %s are numbers, but not those of its states: cells are "
             "read as numbers of states from 0",
             name);
    }
    tell_left_out(t);

cleanup:
    gbsi_free(seen);
    return status;
}

/* Opens a table.
 * @param path NULL: the table is `bytes` in memory.
 * @param of columns that a caller has in memory; NULL for a table in a file or in `bytes`. */
static gbs_status open_table(gbs_table *t, const char *path, const char *name, const void *bytes,
                             size_t n_bytes, const held *of, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_budget budget;
    gbsi_budget *before = gbsi_budget_enter_default(&budget, 0);
    const char *weights = t->options.weights;
    t->options.weights = NULL;
    GBSI_TRY(path != NULL ? gbsi_input_read_text(path, &t->input, err)
                          : gbsi_input_memory(name, bytes, n_bytes, &t->input, err));
    const gbs_read_options warned = {
        .size = sizeof warned, .warn = t->options.tell, .context = t->options.context};
    GBSI_TRY(gbsi_input_decode(&t->input, &warned, err));
    GBSI_TRY(read_header(t, of, weights, err));

cleanup:
    gbsi_budget_leave(before);
    return status;
}

static gbs_status new_table(const gbs_model *model, const gbs_table_options *options,
                            gbs_table **table, gbs_error *err)
{
    GBSI_NEED(model, table);
    GBSI_IN_STRUCT(options, gbs_table_options);
    gbs_table *t = gbsi_alloc_zero(sizeof *t);
    GBSI_PASS(GBSI_HAVE(err, "a table", t));
    t->model = model;
    if (options != NULL) {
        t->options = *options;
    }
    *table = t;
    return GBS_OK;
}

gbs_status gbs_table_open(const gbs_model *model, const char *path,
                          const gbs_table_options *options, gbs_table **table, gbs_error *err)
{
    GBSI_NEED(path);
    gbs_table *t = NULL;
    gbs_status status = new_table(model, options, table == NULL ? NULL : &t, err);
    status = status < 0 ? status : open_table(t, path, NULL, NULL, 0, NULL, err);
    if (status < 0) {
        gbs_table_free(t);
        return status;
    }
    *table = t;
    return GBS_OK;
}

gbs_status gbs_table_open_memory(const gbs_model *model, const char *name, const void *bytes,
                                 size_t n_bytes, const gbs_table_options *options,
                                 gbs_table **table, gbs_error *err)
{
    GBSI_NEED(name, bytes);
    gbs_table *t = NULL;
    gbs_status status = new_table(model, options, table == NULL ? NULL : &t, err);
    status = status < 0 ? status : open_table(t, NULL, name, bytes, n_bytes, NULL, err);
    if (status < 0) {
        gbs_table_free(t);
        return status;
    }
    *table = t;
    return GBS_OK;
}

gbs_status gbs_table_of_columns(const gbs_model *model, const char *name, uint32_t n_columns,
                                const gbs_column *column, uint64_t n_rows,
                                const gbs_table_options *options, gbs_table **table, gbs_error *err)
{
    GBSI_NEED(name, column);
    for (uint32_t k = 0; k < n_columns; k++) {
        GBSI_NEED(column[k].name);
    }
    gbs_table *t = NULL;
    const held of = {column, n_columns, n_rows};
    gbs_status status = new_table(model, options, table == NULL ? NULL : &t, err);
    status = status < 0 ? status : open_table(t, NULL, name, "", 0, &of, err);
    if (status < 0) {
        gbs_table_free(t);
        return status;
    }
    *table = t;
    return GBS_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool find_state(const gbs_table *t, uint32_t v, const char *text, uint32_t *state)
{
    return gbs_model_find_state(t->model, v, text, state, NULL) >= 0;
}

/* Finds the state that True or False means: the only state whose label is True, TRUE or true, or
 * False, FALSE or false. If no label is such a word and the variable has the labels 0 and 1, finds
 * the state with label 1 or 0. */
static bool find_truth(const gbs_table *t, uint32_t v, int truth, uint32_t *state)
{
    static const char *const digit[] = {"0", "1"};
    uint32_t n = 0;
    for (uint32_t a = 0; a < gbs_model_arity(t->model, v); a++) {
        const char *label = gbs_model_state_label(t->model, v, a);
        if (label != NULL && gbsi_truth(label) == truth) {
            *state = a;
            n++;
        }
    }
    uint32_t other = 0;
    return n == 1 || (n == 0 && find_state(t, v, digit[1 - truth], &other) &&
                      find_state(t, v, digit[truth], state));
}

/* Finds the state whose label is the text of the cell. If no label is this text, 1.0 finds the
 * label 1, and 1 finds 1.0. A word for true or false finds a label as find_truth() does. */
static bool find_label(const gbs_table *t, uint32_t v, const gbsi_cell *cell, uint32_t *state)
{
    char whole[GBSI_WHOLE + 2];
    if (find_state(t, v, cell->text, state)) {
        return true;
    }
    if (gbsi_whole_text(cell->text, cell->n, whole)) {
        if (find_state(t, v, whole, state)) {
            return true;
        }
        (void)strcat(whole, ".0");
        return find_state(t, v, whole, state);
    }
    const int truth = gbsi_truth(cell->text);
    return truth >= 0 && find_truth(t, v, truth, state);
}

static bool find_number(const gbs_table *t, uint32_t v, const gbsi_cell *cell, uint32_t *state)
{
    char typed[GBSI_WHOLE + 1] = "#";
    const char *text = cell->text + (cell->text[0] == '#');
    const int truth = gbsi_truth(text);
    if (truth >= 0) {
        typed[1] = (char)('0' + truth);
        typed[2] = '\0';
    } else if (!gbsi_whole_text(text, strlen(text), typed + 1)) {
        return false;
    }
    return find_state(t, v, typed, state);
}

static gbs_status refuse_state(const gbs_table *t, uint32_t k, const gbsi_cell *cell,
                               bool by_number, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    char whole[GBSI_WHOLE];
    gbs_error found = {GBS_OK, ""};
    uint32_t state = 0;
    const uint32_t v = t->column[k];
    if (by_number) {
        char name[128];
        gbsi_variable_text(t->model, v, name, sizeof name);
        return gbsi_cell_fail(
            &t->sheet, cell, err,
            "found %s, expected the number of a state of variable %s, 0 to %" PRIu32,
            gbsi_cell_show(cell, shown), name, gbs_model_arity(t->model, v) - 1);
    }
    const char *said = gbsi_cell_show(cell, shown);
    const char *why = gbs_model_find_state(t->model, v, cell->text, &state, &found) < 0
                          ? reason(cell, said, &found)
                          : "";
    char other[128];
    double number = 0.0;
    const bool is_number = gbs_model_state_label(t->model, v, 0) != NULL &&
                           gbsi_whole_text(cell->text, cell->n, whole) &&
                           gbsi_cell_number(&t->sheet, cell, &number) && number >= 0.0 &&
                           number < gbs_model_arity(t->model, v) &&
                           !find_other_numbers(t, other, sizeof other);
    return gbsi_cell_fail(
        &t->sheet, cell, err, "found %s, expected a state, or nothing: %s%s", said, why,
        is_number ? "; where cells hold numbers of states, add --states numbers"
        : gbsi_nearly_missing(cell->text) ? "; a missing value is an empty cell or NA"
                                          : "");
}

/* Whether a cell such as 1.000 may also mean a thousand. This is possible if commas do not separate
 * the columns, so that a dot may separate thousands. Moreover, each of the two numbers must be a
 * state. */
static bool may_be_thousands(const gbs_table *t, uint32_t v, const gbsi_cell *cell, bool by_number)
{
    char whole[GBSI_WHOLE + 1] = "#";
    const size_t n = cell->n;
    uint32_t state = 0;
    if (t->sheet.separator == ',' || n < 5 || n > GBSI_WHOLE - 2 ||
        strcmp(cell->text + n - 4, ".000") != 0 || !gbsi_whole_text(cell->text, n, whole + 1) ||
        !find_state(t, v, whole + !by_number, &state)) {
        return false;
    }
    (void)strcat(whole, "000");
    return find_state(t, v, whole + !by_number, &state);
}

static gbs_status read_state(gbs_table *t, uint32_t k, const gbsi_cell *cell, uint32_t *state,
                             gbs_error *err)
{
    const uint32_t v = t->column[k];
    const bool by_number = t->options.numbers == 1 || (t->is_draws && t->options.numbers != 2);
    const int sign = gbsi_find_missing(cell->text, cell->n);
    if (sign >= 0 && (by_number || !(t->is_label[k] >> sign & 1))) {
        *state = GBS_UNOBSERVED;
        t->n_missing[sign] += cell->place != NULL;
        return !t->options.complete || gbs_model_arity(t->model, v) == 1
                   ? GBS_OK
                   : gbsi_cell_fail(&t->sheet, cell, err,
                                    "found no value, expected a state: weights are learnt from "
                                    "complete rows");
    }
    uint32_t exact = 0;
    if (may_be_thousands(t, v, cell, by_number) &&
        (by_number || !find_state(t, v, cell->text, &exact))) {
        char shown[GBSI_SHOWN];
        return gbsi_cell_fail(&t->sheet, cell, err,
                              "found %s, expected a number without a dot: it may stand before "
                              "decimals or thousands, and both numbers are states",
                              gbsi_cell_show(cell, shown));
    }
    return (by_number ? find_number : find_label)(t, v, cell, state)
               ? GBS_OK
               : refuse_state(t, k, cell, by_number, err);
}

static gbs_status read_weight(const gbs_table *t, const gbsi_cell *cell, double *weight,
                              gbs_error *err)
{
    char expected[64];
    if (gbsi_cell_number(&t->sheet, cell, weight) && *weight >= 0.0 &&
        *weight <= GBS_MAX_ROW_WEIGHT) {
        return GBS_OK;
    }
    (void)snprintf(expected, sizeof expected, "a weight of 0 to %g", GBS_MAX_ROW_WEIGHT);
    return gbsi_cell_unexpected(&t->sheet, cell, expected, err);
}

gbs_status gbs_table_next(gbs_table *table, uint32_t *state, double *weight, int *end,
                          gbs_error *err)
{
    GBSI_NEED(table, state, end);
    gbs_table *t = table;
    bool more = false;
    double w = 1.0;
    GBSI_PASS(gbsi_sheet_next(&t->sheet, &more, err));
    for (uint32_t k = 0; more && k < t->sheet.n_columns; k++) {
        const gbsi_cell *cell = &t->sheet.cell[k];
        const int32_t use = t->use[k];
        if (use == WEIGHT_COLUMN) {
            GBSI_PASS(read_weight(t, cell, &w, err));
        } else if (use != NO_COLUMN) {
            GBSI_PASS(read_state(t, (uint32_t)use, cell, &state[use], err));
        }
    }
    if (!more) {
        tell_missing(t);
    } else if (weight != NULL) {
        *weight = w;
    }
    *end = !more;
    return GBS_OK;
}

void gbs_table_rewind(gbs_table *table)
{
    if (table != NULL) {
        gbsi_sheet_rewind(&table->sheet, table->first);
    }
}
