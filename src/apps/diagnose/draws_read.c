/* SPDX-License-Identifier: Apache-2.0 */
/* Reads draws from tables. For each file, rows are sorted by chain and draw. Then the values of
 * each quantity are collected. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/machine.h"
#include "base/memory.h"
#include "base/plural.h"
#include "base/sized.h"
#include "decimal/decimal.h"
#include "gibbsite/diagnose.h"
#include "tables/sheet.h"
#include "text/common.h"

struct gbs_draws {
    size_t n, n_chains, n_draws;
    char **name;    /* [n] names of the quantities */
    double **value; /* [n] values of each quantity, [n_chains][n_draws] */
};

/* A quantity that is being read. Its values are numbers, or labels numbered in the order of their
 * first occurrence. */
typedef struct quantity {
    uint32_t column;
    bool has_numbers;
    gbsi_name_map known;
    void *label; /* char * */
    size_t n_labels, capacity;
    void *value; /* double [n_read] */
    size_t value_capacity;
} quantity;

typedef struct row {
    double chain; /* number of the chain in the file */
    double order; /* position of the draw in its chain */
    /* position in the file of the cell with the order, or of the beginning of the row */
    const char *place;
    size_t at; /* index of the row in the values that were read */
} row;

#define NO_COLUMN UINT32_MAX
enum { MOST_LABELS = 65536 };

typedef struct reader {
    gbs_draws *draws;
    const gbs_read_options *options;
    gbsi_input input;
    gbsi_sheet sheet;
    uint32_t n_columns;
    uint32_t chain_column, iteration_column, draw_column;
    quantity *quantity;    /* [draws->n] quantities */
    void *rows;            /* [n_rows] array of structs of type `row` */
    size_t n_read, n_rows; /* number of rows that were read; number of rows that are kept */
    size_t rows_capacity;
    gbsi_name_map chains;                  /* labels of the file's chains, if they have labels */
    size_t n_numbered;                     /* number of rows of the file whose chain is a number */
    uint64_t n_warmup, thin, warmup_saved; /* numbers that CmdStan's header states about the file */
    uint64_t n_missing[GBSI_MISSING_SIGNS];
    bool has_index; /* whether some file has a column of row names, which is skipped */
} reader;

void gbs_draws_free(gbs_draws *draws)
{
    for (size_t i = 0; draws != NULL && i < draws->n; i++) {
        GBSI_FREE(draws->name == NULL ? NULL : draws->name[i],
                  draws->value == NULL ? NULL : draws->value[i]);
    }
    if (draws != NULL) {
        GBSI_FREE(draws->name, draws->value, draws);
    }
}

static void drop_file(reader *r)
{
    gbsi_sheet_free(&r->sheet);
    gbsi_input_free(&r->input);
    gbsi_name_map_free(&r->chains);
    r->n_numbered = 0;
    r->n_warmup = r->thin = r->warmup_saved = 0;
}

static void drop_reader(reader *r)
{
    drop_file(r);
    for (uint32_t i = 0; r->quantity != NULL && i < r->n_columns; i++) {
        quantity *q = &r->quantity[i];
        for (size_t k = 0; k < q->n_labels; k++) {
            gbsi_free(((char **)q->label)[k]);
        }
        GBSI_FREE(q->label, q->value);
        gbsi_name_map_free(&q->known);
    }
    GBSI_FREE(r->quantity, r->rows);
}

/* ---- columns --------------------------------------------------------------------------------- */

/* @return whether a name is one of `words`, alone, after '.', or before "__". */
static bool is_word(const char *name, const char *const *words, size_t n_words)
{
    name += name[0] == '.';
    size_t n = strlen(name);
    n -= n > 2 && strcmp(name + n - 2, "__") == 0 ? 2 : 0;
    for (size_t i = 0; i < n_words; i++) {
        if (strlen(words[i]) == n && gbsi_equal_any_case(name, words[i], n)) {
            return true;
        }
    }
    return false;
}

static const char *const chain_words[] = {"chain", "chain_id"};
static const char *const iteration_words[] = {"iteration", "iter"};
static const char *const draw_words[] = {"draw"};

/* @return the first column whose name is one of the words. */
static uint32_t find_named(const gbsi_sheet *s, const char *const *words, size_t n_words)
{
    uint32_t k = 0;
    while (k < s->n_columns && !is_word(s->name[k].text, words, n_words)) {
        k++;
    }
    return k < s->n_columns ? k : NO_COLUMN;
}

/* @return the first column whose name is one of the words, if its first cell is a whole number or,
 * with or_label, a label; else NO_COLUMN. */
static uint32_t find_word(const gbsi_sheet *s, const char *const *words, size_t n_words,
                          bool or_label)
{
    double number = 0.0;
    const uint32_t k = find_named(s, words, n_words);
    if (k == NO_COLUMN) {
        return k;
    }
    const bool is_number = gbsi_cell_number(s, &s->cell[k], &number);
    return (is_number && number == floor(number)) || (!is_number && or_label) ? k : NO_COLUMN;
}

/* Finds the columns of the first file that hold chains and the order of draws, by their names and
 * the first row. */
static gbs_status find_roles(reader *r, gbs_error *err)
{
    gbsi_sheet *s = &r->sheet;
    const char *first = s->text.at;
    bool more = false;
    const gbs_status status = gbsi_sheet_next(s, &more, err);
    s->text.at = first;
    if (status >= 0 && !more) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: found no draw, expected a line of names and lines of numbers",
                         r->input.name);
    }
    r->n_columns = s->n_columns;
    if (status >= 0) {
        r->chain_column = find_word(s, chain_words, 2, true);
        r->iteration_column =
            gbsi_sheet_is_draws(s)
                ? NO_COLUMN /* a variable of the model may be called "iteration" */
                : find_word(s, iteration_words, 2, false);
        r->draw_column = find_word(s, draw_words, 1, false);
    }
    return status;
}

/* @return whether column k is a quantity that was drawn. Columns whose names end in "__" describe
 * the sampler, except the density. */
static bool is_quantity(const reader *r, uint32_t k)
{
    const gbsi_cell *name = &r->sheet.name[k];
    return k != r->chain_column && k != r->iteration_column && k != r->draw_column &&
           (name->n < 2 || strcmp(name->text + name->n - 2, "__") != 0 ||
            strcmp(name->text, "lp__") == 0);
}

static gbs_status check_names(const reader *r, gbs_error *err)
{
    for (uint32_t k = 0; k < r->sheet.n_columns; k++) {
        double number = 0.0;
        const gbsi_cell *name = &r->sheet.name[k];
        if (name->n == 0 || gbsi_cell_number(&r->sheet, name, &number)) {
            return gbsi_cell_unexpected(
                &r->sheet, name, "the name of a quantity: the first line names the columns", err);
        }
    }
    return GBS_OK;
}

/* Lists the quantities of the first file. */
static gbs_status take_names(reader *r, gbs_error *err)
{
    gbs_draws *d = r->draws;
    GBSI_PASS(find_roles(r, err));
    d->name = gbsi_alloc_array_zero(r->n_columns, sizeof *d->name);
    d->value = gbsi_alloc_array_zero(r->n_columns, sizeof *d->value);
    r->quantity = gbsi_alloc_array_zero(r->n_columns, sizeof *r->quantity);
    GBSI_PASS(GBSI_HAVE(err, "names of quantities", d->name, d->value, r->quantity));
    for (uint32_t k = 0; k < r->n_columns; k++) {
        const gbsi_cell *name = &r->sheet.name[k];
        if (!is_quantity(r, k)) {
            continue;
        }
        r->quantity[d->n].column = k;
        d->name[d->n] = gbsi_alloc(name->n + 1);
        GBSI_PASS(GBSI_HAVE(err, "names of quantities", d->name[d->n]));
        memcpy(d->name[d->n++], name->text, name->n + 1);
    }
    if (d->n == 0) {
        return gbsi_cell_unexpected(&r->sheet, &r->sheet.name[0], "the name of a quantity", err);
    }
    return GBS_OK;
}

/* Finds the column of a later file for a role, such as the chain, if the first file has a column
 * for this role. */
static bool find_role_again(const reader *r, const char *const *words, size_t n_words,
                            uint32_t *column)
{
    if (*column != NO_COLUMN) {
        *column = find_named(&r->sheet, words, n_words);
        return *column != NO_COLUMN;
    }
    return true;
}

/* Finds the columns of the first file in a later one by their names. */
static gbs_status find_names(reader *r, const char *first, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_name_map columns = {0};
    bool same = r->sheet.n_columns == r->n_columns &&
                find_role_again(r, chain_words, 2, &r->chain_column) &&
                find_role_again(r, iteration_words, 2, &r->iteration_column) &&
                find_role_again(r, draw_words, 1, &r->draw_column);
    for (uint32_t k = 0; k < r->sheet.n_columns; k++) {
        const gbsi_cell *name = &r->sheet.name[k];
        bool added = false;
        GBSI_TRY(gbsi_name_map_add(&columns, 0, name->text, name->n, k, &added, err));
    }
    for (size_t i = 0; same && i < r->draws->n; i++) {
        const char *name = r->draws->name[i];
        const uint32_t at = r->quantity[i].column;
        const bool in_place = strcmp(r->sheet.name[at].text, name) == 0;
        same =
            in_place || gbsi_name_map_find(&columns, 0, name, strlen(name), &r->quantity[i].column);
    }
    if (!same) {
        status = gbsi_fail(err, GBS_ERR_FORMAT, "%s: found other columns than in %s", r->input.name,
                           first);
    }

cleanup:
    gbsi_name_map_free(&columns);
    return status;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static gbs_status add_label(reader *r, quantity *q, const gbsi_cell *cell, uint32_t *number,
                            gbs_error *err)
{
    bool added = false;
    if (r->sheet.n_columns == 1 && memchr(cell->text, ' ', cell->n) != NULL) {
        return gbsi_cell_unexpected(&r->sheet, cell,
                                    "a number: commas, semicolons or tabs separate columns", err);
    }
    if (q->has_numbers || q->n_labels >= MOST_LABELS) {
        return gbsi_cell_unexpected(&r->sheet, cell,
                                    q->has_numbers ? "a number, as in the rows before"
                                                   : "a number, or one of at most 65536 labels",
                                    err);
    }
    GBSI_PASS(
        gbsi_reserve(&q->label, &q->capacity, q->n_labels + 1, sizeof(char *), "labels", err));
    char *copy = gbsi_alloc(cell->n + 1);
    GBSI_PASS(GBSI_HAVE(err, "labels", copy));
    memcpy(copy, cell->text, cell->n + 1);
    *number = (uint32_t)q->n_labels;
    ((char **)q->label)[q->n_labels++] = copy;
    return gbsi_name_map_add(&q->known, 0, copy, cell->n, *number, &added, err);
}

static gbs_status read_value(reader *r, quantity *q, double *value, gbs_error *err)
{
    const gbsi_cell *cell = &r->sheet.cell[q->column];
    uint32_t number = 0;
    if (gbsi_cell_number(&r->sheet, cell, value)) {
        if (q->n_labels > 0) {
            return gbsi_cell_unexpected(&r->sheet, cell, "a label, as in the rows before", err);
        }
        q->has_numbers = q->has_numbers || !isnan(*value);
        return GBS_OK;
    }
    const int sign = gbsi_find_missing(cell->text, cell->n);
    if (sign >= 0) {
        r->n_missing[sign]++;
        *value = (double)NAN;
        return GBS_OK;
    }
    if (!gbsi_name_map_find(&q->known, 0, cell->text, cell->n, &number)) {
        GBSI_PASS(add_label(r, q, cell, &number, err));
    }
    *value = (double)number;
    return GBS_OK;
}

/* Reads the chain of a row: a number, or the number of a label. */
static gbs_status read_chain(reader *r, double *chain, gbs_error *err)
{
    uint32_t number = (uint32_t)r->chains.n_used;
    bool added = false;
    const gbsi_cell *cell = &r->sheet.cell[r->chain_column];
    const char *at = cell->place +
                     cell->quoted; /* in the text of the file, which outlives the cell's own text */
    const bool is_number = gbsi_cell_number(&r->sheet, cell, chain);
    if ((is_number && (!(*chain == floor(*chain)) || r->chains.n_used > 0)) ||
        (!is_number && r->n_numbered > 0) || gbsi_find_missing(cell->text, cell->n) >= 0) {
        return gbsi_cell_unexpected(&r->sheet, cell, "a chain, by numbers or by labels", err);
    }
    r->n_numbered += is_number;
    if (is_number || gbsi_name_map_find(&r->chains, 0, at, cell->n, &number)) {
        *chain = is_number ? *chain : (double)number;
        return GBS_OK;
    }
    *chain = (double)number;
    return gbsi_name_map_add(&r->chains, 0, at, cell->n, number, &added, err);
}

static gbs_status read_row(reader *r, gbs_error *err)
{
    const uint32_t order = r->iteration_column != NO_COLUMN ? r->iteration_column : r->draw_column;
    row made = {.order = (double)r->n_read, .place = r->sheet.cell[0].place, .at = r->n_read};
    GBSI_PASS(gbsi_reserve(&r->rows, &r->rows_capacity, r->n_rows + 1, sizeof(row), "draws", err));
    if (r->chain_column != NO_COLUMN) {
        GBSI_PASS(read_chain(r, &made.chain, err));
    }
    if (order != NO_COLUMN) {
        const gbsi_cell *cell = &r->sheet.cell[order];
        made.place = cell->place;
        if (!gbsi_cell_number(&r->sheet, cell, &made.order) || !(made.order == floor(made.order)) ||
            !isfinite(made.order)) {
            return gbsi_cell_unexpected(&r->sheet, cell, "the number of a draw", err);
        }
    }
    for (size_t i = 0; i < r->draws->n; i++) {
        quantity *q = &r->quantity[i];
        GBSI_PASS(gbsi_reserve(&q->value, &q->value_capacity, r->n_read + 1, sizeof(double),
                               "draws", err));
        GBSI_PASS(read_value(r, q, (double *)q->value + r->n_read, err));
    }
    ((row *)r->rows)[r->n_rows++] = made;
    r->n_read++;
    return GBS_OK;
}

/* ---- comments of CmdStan --------------------------------------------------------------------- */

/* Reads a comment such as "# num_warmup = 1000 (Default)". */
static void read_comment(reader *r, const char *at, const char *end)
{
    const struct {
        const char *word;
        uint64_t *value;
    } known[] = {
        {"num_warmup", &r->n_warmup}, {"thin", &r->thin}, {"save_warmup", &r->warmup_saved}};
    while (at < end && (*at == '#' || *at == ' ' || *at == '\t')) {
        at++;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const size_t n = strlen(known[i].word);
        if ((size_t)(end - at) <= n || memcmp(at, known[i].word, n) != 0 ||
            (at[n] != ' ' && at[n] != '=')) {
            continue;
        }
        const char *value = at + n;
        while (value < end && (*value == ' ' || *value == '=')) {
            value++;
        }
        uint64_t number = end - value >= 4 && memcmp(value, "true", 4) == 0;
        for (; value < end && *value >= '0' && *value <= '9' && number < UINT64_MAX / 16; value++) {
            number = 10 * number + (uint64_t)(*value - '0');
        }
        *known[i].value = number;
    }
}

static void read_comments(reader *r, const gbsi_text *text)
{
    for (const char *at = text->at; at < text->end;) {
        const char *newline = memchr(at, '\n', (size_t)(text->end - at));
        const char *end = newline == NULL ? text->end : newline;
        if (*at == '#') {
            read_comment(r, at, end);
        }
        at = end == text->end ? end : end + 1;
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static int compare_rows(const void *left, const void *right)
{
    const row *a = left;
    const row *b = right;
    if (a->chain != b->chain) {
        return a->chain < b->chain ? -1 : 1;
    }
    if (a->order != b->order) {
        return a->order < b->order ? -1 : 1;
    }
    return a->at < b->at ? -1 : a->at > b->at;
}

/* Checks one chain whose draws are sorted. @param n number of the chain's rows, some of which are
 * skipped. @param path path of the first file. */
static gbs_status check_chain(reader *r, const row *rows, size_t n, uint64_t skip, const char *path,
                              gbs_error *err)
{
    gbs_draws *d = r->draws;
    for (size_t i = 1; i < n; i++) {
        if (rows[i].order == rows[i - 1].order) {
            return gbsi_text_fail(&r->sheet.text, (gbsi_token){rows[i].place, 1}, err,
                                  "found draw %.15g of a chain again, expected it once: a column "
                                  "\"chain\" tells chains apart, and a quantity has another name",
                                  rows[i].order);
        }
    }
    if (skip >= n) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: found %zu draw%s, of which %" PRIu64 " are warm-up", r->input.name, n,
                         gbsi_plural(n), skip);
    }
    n -= (size_t)skip;
    if (d->n_chains > 0 && n != d->n_draws) {
        return gbsi_text_fail(
            &r->sheet.text, (gbsi_token){rows[0].place, 1}, err,
            "found %zu draw%s, expected %zu as in the first chain of %s: one chain "
            "is as long as the others",
            n, gbsi_plural(n), d->n_draws, path);
    }
    d->n_draws = n;
    d->n_chains++;
    return GBS_OK;
}

/* Sorts the rows of a file by chain and draw, and removes the rows of a warm-up. @param first the
 * file's first row. */
static gbs_status settle_rows(reader *r, size_t first, const char *path, gbs_error *err)
{
    row *rows = r->rows;
    size_t n = first;
    const uint64_t skip = r->warmup_saved == 0 ? 0 : r->n_warmup / (r->thin > 1 ? r->thin : 1);
    qsort(rows + first, r->n_rows - first, sizeof *rows, compare_rows);
    for (size_t begin = first, end = first; begin < r->n_rows; begin = end) {
        for (end = begin; end < r->n_rows && rows[end].chain == rows[begin].chain;) {
            end++;
        }
        GBSI_PASS(check_chain(r, rows + begin, end - begin, skip, path, err));
        memmove(rows + n, rows + begin + skip, r->draws->n_draws * sizeof *rows);
        n += r->draws->n_draws;
    }
    r->n_rows = n;
    return GBS_OK;
}

/* @param first_path path of the first file. */
static gbs_status read_file(reader *r, const char *path, const char *first_path, gbs_error *err)
{
    gbsi_text text;
    const size_t first = r->n_rows;
    bool more = true;
    GBSI_PASS(gbsi_input_read_text(path, &r->input, err));
    GBSI_PASS(gbsi_input_decode(&r->input, r->options, err));
    GBSI_PASS(gbsi_text_open(&text, &r->input, r->options, err));
    read_comments(r, &text);
    text.comment = '#';
    GBSI_PASS(gbsi_refuse_answers(&text, true, "draws: a column for each quantity", err));
    GBSI_PASS(gbsi_sheet_open(&r->sheet, &text, NULL, NULL, err));
    r->sheet.skip_empty = true;
    r->has_index = r->has_index || r->sheet.has_index;
    if (gbsi_text_left(&text) == 0) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: found no draw, expected a line of names and lines of numbers",
                         r->input.name);
    }
    GBSI_PASS(check_names(r, err));
    GBSI_PASS(r->n_columns == 0 ? take_names(r, err) : find_names(r, first_path, err));
    for (;;) {
        GBSI_PASS(gbsi_sheet_next(&r->sheet, &more, err));
        if (!more) {
            break;
        }
        GBSI_PASS(read_row(r, err));
    }
    if (r->n_rows == first) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: found no draw, expected a line of names and lines of numbers",
                         r->input.name);
    }
    return settle_rows(r, first, first_path, err);
}

/* ---- all of them ----------------------------------------------------------------------------- */

typedef struct label {
    const char *text;
    uint32_t number; /* number of the label in the order of first occurrence */
} label;

static int compare_labels(const void *left, const void *right)
{
    return strcmp(((const label *)left)->text, ((const label *)right)->text);
}

/* Numbers labels in alphabetical order. @param value [n] */
static gbs_status sort_labels(const quantity *q, double *value, size_t n, gbs_error *err)
{
    label *sorted = gbsi_alloc_array(q->n_labels, sizeof *sorted);
    uint32_t *rank = gbsi_alloc_array(q->n_labels, sizeof *rank);
    if (sorted == NULL || rank == NULL) {
        GBSI_FREE(sorted, rank);
        return gbsi_no_memory(err, "labels", q->n_labels);
    }
    for (size_t k = 0; k < q->n_labels; k++) {
        sorted[k] = (label){((char **)q->label)[k], (uint32_t)k};
    }
    qsort(sorted, q->n_labels, sizeof *sorted, compare_labels);
    for (size_t k = 0; k < q->n_labels; k++) {
        rank[sorted[k].number] = (uint32_t)k;
    }
    for (size_t i = 0; i < n; i++) {
        value[i] = isnan(value[i]) ? value[i] : (double)rank[(uint32_t)value[i]];
    }
    GBSI_FREE(sorted, rank);
    return GBS_OK;
}

static gbs_status gather(reader *r, gbs_error *err)
{
    gbs_draws *d = r->draws;
    const row *rows = r->rows;
    for (size_t i = 0; i < d->n; i++) {
        quantity *q = &r->quantity[i];
        d->value[i] = gbsi_alloc_array(r->n_rows, sizeof **d->value);
        GBSI_PASS(GBSI_HAVE(err, "draws", d->value[i]));
        for (size_t k = 0; k < r->n_rows; k++) {
            d->value[i][k] = ((double *)q->value)[rows[k].at];
        }
        gbsi_free(q->value);
        q->value = NULL;
        if (q->n_labels > 0) {
            GBSI_PASS(sort_labels(q, d->value[i], r->n_rows, err));
        }
        GBSI_PASS(gbsi_watch_work(gbsi_watch_current(), r->n_rows, "reading draws", err));
    }
    return GBS_OK;
}

static void warn(const reader *r, const char *message)
{
    if (r->options != NULL && r->options->warn != NULL) {
        r->options->warn(r->options->context, message);
    }
}

static void tell_labels(const reader *r)
{
    enum { MOST = 8 };
    char shown[GBSI_SHOWN];
    char message[(MOST + 1) * GBSI_SHOWN + 80];
    size_t n_labelled = 0;
    size_t n = 0;
    for (size_t i = 0; i < r->draws->n; i++) {
        const char *name = r->draws->name[i];
        if (r->quantity[i].n_labels > 0 && n_labelled++ < MOST) {
            n += (size_t)snprintf(message + n, sizeof message - n, "%s%s", n > 0 ? ", " : "",
                                  gbsi_token_show((gbsi_token){name, strlen(name)}, shown));
        }
    }
    if (n_labelled > 0) {
        (void)snprintf(message + n, sizeof message - n,
                       "%s hold%s labels, numbered from 0 in alphabetical order",
                       n_labelled > MOST ? ", ..." : "", gbsi_plural_of(n_labelled, "s", ""));
        warn(r, message);
    }
}

static void tell(const reader *r)
{
    char list[GBSI_MISSING_TEXT];
    char message[GBSI_MISSING_TEXT + 64];
    const uint64_t n = gbsi_missing_text(r->n_missing, list);
    if (r->has_index) {
        warn(r, GBSI_INDEX_NOTE);
    }
    tell_labels(r);
    if (n > 0) {
        (void)snprintf(message, sizeof message, "%" PRIu64 " cell%s no value: %s", n,
                       gbsi_plural_of(n, " has", "s have"), list);
        warn(r, message);
    }
}

static gbs_status read_all(reader *r, const char *const *path, size_t n_paths, gbs_error *err)
{
    for (size_t i = 0; i < n_paths; i++) {
        GBSI_PASS(read_file(r, path[i], path[0], err));
        drop_file(r);
    }
    GBSI_PASS(gather(r, err));
    tell(r);
    return GBS_OK;
}

static bool ask(void *options)
{
    const gbs_read_options *o = options;
    return o->stop != NULL && o->stop(o->stop_context) != 0;
}

gbs_status gbs_draws_read(const char *const *path, size_t n_paths, const gbs_read_options *options,
                          gbs_draws **draws, gbs_error *err)
{
    GBSI_NEED(path, draws);
    GBSI_IN_STRUCT(options, gbs_read_options);
    for (size_t i = 0; i < n_paths; i++) {
        GBSI_NEED(path[i]);
    }
    if (n_paths == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "found no file, expected draws");
    }
    gbs_status status = GBS_OK;
    gbsi_budget budget;
    const uint64_t limit = options == NULL ? 0 : options->memory_limit;
    gbsi_budget_init(&budget, limit != 0 ? limit : gbsi_default_memory_limit(),
                     gbsi_process_bytes());
    gbsi_budget *before = gbsi_budget_enter(&budget);
    gbsi_watch watch = {
        .look = ask,
        .context = (void *)(uintptr_t)options}; /* ask() receives the options as its context */
    gbsi_watch *nobody = gbsi_watch_enter(options == NULL ? NULL : &watch);
    reader r = {.options = options, .draws = gbsi_alloc_zero(sizeof(gbs_draws))};
    status = r.draws == NULL ? gbsi_no_memory(err, "draws", sizeof(gbs_draws))
                             : read_all(&r, path, n_paths, err);
    gbs_draws *made = r.draws;
    drop_reader(&r);
    gbsi_watch_leave(nobody);
    gbsi_budget_leave(before);
    if (status < 0) {
        gbs_draws_free(made);
        return status;
    }
    *draws = made;
    return GBS_OK;
}

/* ---- looking --------------------------------------------------------------------------------- */

size_t gbs_draws_n_quantities(const gbs_draws *draws)
{
    return draws == NULL ? 0 : draws->n;
}

size_t gbs_draws_n_chains(const gbs_draws *draws)
{
    return draws == NULL ? 0 : draws->n_chains;
}

size_t gbs_draws_n_draws(const gbs_draws *draws)
{
    return draws == NULL ? 0 : draws->n_draws;
}

const char *gbs_draws_name(const gbs_draws *draws, size_t id)
{
    return draws == NULL || id >= draws->n ? NULL : draws->name[id];
}

const double *gbs_draws_values(const gbs_draws *draws, size_t id)
{
    return draws == NULL || id >= draws->n ? NULL : draws->value[id];
}
