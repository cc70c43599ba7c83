/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a table of cases, twice: once to check it as a whole, once to answer it. */
#include "case_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct cli_case_table {
    const gbs_model *model;
    const char *path; /* for messages */
    FILE *file;
    const char *weights; /* name of the column of weights; NULL: none */
    uint32_t weight_at;  /* number of that field; UINT32_MAX: none */
    double weight;       /* of the case that was read last */
    uint32_t n_fields;   /* columns, weights and what is skipped */
    uint32_t n_skipped;  /* fields before them: of draws of gibbsite sample, else 0 */
    uint32_t n_columns;
    uint32_t *column;         /* [n_columns] */
    unsigned char *na_is_one; /* [n_columns] 1: a state is called NA */
    char *field;              /* the one that was read last, without quotes */
    size_t n, capacity;
    int quoted;
    int complete;              /* every variable has a value */
    uint64_t line, byte;       /* of what is read next, from 1 */
    uint64_t at_line, at_byte; /* of the field */
    long first;                /* offset of the first case ... */
    uint64_t first_line;       /* ... and its line */
};

typedef enum ending { AT_COMMA, AT_LINE, AT_END, BAD } ending;

void cli_case_table_free(cli_case_table *table)
{
    cli_case_table *t = table;
    if (t == NULL) {
        return;
    }
    if (t->file != NULL) {
        (void)fclose(t->file);
    }
    free(t->column);
    free(t->na_is_one);
    free(t->field);
    free(t);
}

const uint32_t *cli_case_table_columns(const cli_case_table *table, uint32_t *n)
{
    const cli_case_table *t = table;
    *n = t->n_columns;
    return t->column;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static int refuse(const cli_case_table *t, uint64_t line, uint64_t byte, const char *what)
{
    return cli_error(CLI_INPUT, "%s:%" PRIu64 ":%" PRIu64 ": %s", t->path, line, byte, what);
}

static int take(cli_case_table *t)
{
    const int c = getc_unlocked(t->file);
    t->byte++;
    if (c == '\n') {
        t->line++;
        t->byte = 1;
    }
    return c;
}

static int put(cli_case_table *t, int c)
{
    if (t->n + 1 >= t->capacity) {
        const size_t capacity = 2 * t->capacity + 64;
        char *grown = realloc(t->field, capacity);
        if (grown == NULL) {
            (void)cli_error(CLI_FAILED, "out of memory");
            return 0;
        }
        t->field = grown;
        t->capacity = capacity;
    }
    if (c == '\0') {
        (void)refuse(t, t->line, t->byte - 1, "found a byte of value 0, expected text");
        return 0;
    }
    t->field[t->n++] = (char)c;
    t->field[t->n] = '\0';
    return 1;
}

/* What ends a field; a carriage return counts with the line feed after it. */
static int ends(cli_case_table *t, int c, ending *how)
{
    if (c == '\r') {
        const int next = getc_unlocked(t->file);
        if (next == '\n') {
            t->line++;
            t->byte = 1;
            *how = AT_LINE;
            return 1;
        }
        (void)ungetc(next, t->file);
    }
    *how = c == ',' ? AT_COMMA : c == '\n' ? AT_LINE : AT_END;
    return c == ',' || c == '\n' || c == EOF;
}

/* The rest of a field in quotes; two quotes are one. */
static ending quoted_field(cli_case_table *t)
{
    ending how = BAD;
    for (;;) {
        int c = take(t);
        if (c == EOF) {
            (void)refuse(t, t->at_line, t->at_byte,
                         "found the end of the table in a field that begins with a quote, expected "
                         "a quote that ends it");
            return BAD;
        }
        if (c == '"') {
            const uint64_t line = t->line;
            const uint64_t byte = t->byte;
            c = take(t);
            if (c != '"') {
                if (ends(t, c, &how)) {
                    return how;
                }
                (void)refuse(t, line, byte,
                             "found text behind a quote, expected a comma or the end of the line");
                return BAD;
            }
        }
        if (!put(t, c)) {
            return BAD;
        }
    }
}

/* Blanks around a field without quotes do not count. */
static void trim(cli_case_table *t)
{
    size_t begin = 0;
    while (t->n > 0 && (t->field[t->n - 1] == ' ' || t->field[t->n - 1] == '\t')) {
        t->n--;
    }
    while (begin < t->n && (t->field[begin] == ' ' || t->field[begin] == '\t')) {
        begin++;
    }
    memmove(t->field, t->field + begin, t->n - begin);
    t->n -= begin;
    t->field[t->n] = '\0';
}

static ending next_field(cli_case_table *t)
{
    ending how = BAD;
    t->n = 0;
    t->at_line = t->line;
    t->at_byte = t->byte;
    t->field[0] = '\0';
    int c = take(t);
    t->quoted = c == '"';
    if (t->quoted) {
        return quoted_field(t);
    }
    while (!ends(t, c, &how)) {
        if (!put(t, c)) {
            return BAD;
        }
        c = take(t);
    }
    trim(t);
    return how;
}

/* ---- opening --------------------------------------------------------------------------------- */

static int copy_once(cli_case_table *t, FILE *from)
{
    char block[1 << 16];
    t->file = tmpfile();
    size_t n = 0;
    while (t->file != NULL && (n = fread(block, 1, sizeof block, from)) > 0) {
        if (fwrite(block, 1, n, t->file) != n) {
            break;
        }
    }
    if (t->file == NULL || n > 0 || ferror(from) || fflush(t->file) != 0) {
        const int number = errno;
        return cli_error(CLI_FAILED, "%s: cannot keep a copy to read twice: %s", t->path,
                         strerror(number)); // NOLINT(concurrency-mt-unsafe): one thread
    }
    rewind(t->file);
    return CLI_DONE;
}

static int open_file(cli_case_table *t, const char *path)
{
    struct stat is;
    if (strcmp(path, "-") == 0) {
        return copy_once(t, stdin);
    }
    FILE *file = fopen(path, "rbe");
    if (file == NULL || fstat(fileno(file), &is) != 0 || S_ISDIR(is.st_mode)) {
        const int number = file == NULL ? errno : EISDIR;
        if (file != NULL) {
            (void)fclose(file);
        }
        return cli_error(CLI_INPUT, "%s: cannot read: %s", path,
                         strerror(number)); // NOLINT(concurrency-mt-unsafe): one thread
    }
    if (S_ISREG(is.st_mode)) {
        t->file = file;
        return CLI_DONE;
    }
    const int status = copy_once(t, file);
    (void)fclose(file);
    return status;
}

/* A mark of the byte order is skipped, packed files are refused. */
static int look_at_beginning(cli_case_table *t)
{
    unsigned char magic[4] = {0};
    const size_t n = fread(magic, 1, sizeof magic, t->file);
    if ((magic[0] == 0x1f && magic[1] == 0x8b) || memcmp(magic, "\x28\xb5\x2f\xfd", 4) == 0) {
        return cli_error(CLI_INPUT,
                         "%s: found a compressed file, expected a table: unpack it first, or pipe "
                         "it to --cases -",
                         t->path);
    }
    const long skip = n >= 3 && memcmp(magic, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    return fseek(t->file, skip, SEEK_SET) == 0
               ? CLI_DONE
               : cli_error(CLI_FAILED, "%s: cannot read it twice", t->path);
}

/* Whether some variable has a state called so. */
static int is_state(const gbs_model *model, const char *text)
{
    uint32_t state = 0;
    for (uint32_t v = 0; v < gbs_model_n_variables(model); v++) {
        if (gbs_model_find_state(model, v, text, &state, NULL) >= 0) {
            return 1;
        }
    }
    return 0;
}

/* Whether these are draws as `sample` writes them: three columns, then states by number. Names of
 * the model win. */
static int are_draws(const cli_case_table *t)
{
    static const char head[] = "chain,draw,lp,";
    char found[sizeof head - 1];
    uint32_t v = 0;
    const long at = ftell(t->file);
    const size_t n = fread(found, 1, sizeof found, t->file);
    (void)fseek(t->file, at, SEEK_SET);
    return n == sizeof found && memcmp(found, head, n) == 0 &&
           gbs_model_find_variable(t->model, "chain", &v, NULL) < 0;
}

/* In draws variable 5 without a name is called x5. */
static gbs_status find_column(const cli_case_table *t, uint32_t *v, gbs_error *err)
{
    const gbs_status found = gbs_model_find_variable(t->model, t->field, v, err);
    const int has_number = found < 0 && t->n_skipped > 0 && t->field[0] == 'x';
    return has_number && gbs_model_find_variable(t->model, t->field + 1, v, NULL) >= 0 ? GBS_OK
                                                                                       : found;
}

static int add_column(cli_case_table *t, unsigned char *seen)
{
    gbs_error err = {GBS_OK, ""};
    char text[640];
    uint32_t v = 0;
    const gbs_status found = find_column(t, &v, &err);
    if (found < 0) {
        const char *hint = strpbrk(t->field, ";\t") != NULL      ? "; commas separate columns"
                           : strstr(err.message, "mean") != NULL ? ""
                           : is_state(t->model, t->field) ? "; the first line names the variables"
                                                          : "; leave other columns out";
        (void)snprintf(text, sizeof text, "found \"%.64s\", expected a variable: %.480s%s",
                       t->field, err.message, hint);
        return refuse(t, t->at_line, t->at_byte, text);
    }
    if (seen[v]) {
        (void)snprintf(text, sizeof text,
                       "found \"%.64s\" again, expected each variable in one column", t->field);
        return refuse(t, t->at_line, t->at_byte, text);
    }
    seen[v] = 1;
    for (uint32_t a = 0; a < gbs_model_arity(t->model, v); a++) {
        const char *label = gbs_model_state_label(t->model, v, a);
        t->na_is_one[t->n_columns] |= label != NULL && strcmp(label, "NA") == 0;
    }
    t->column[t->n_columns++] = v;
    return CLI_DONE;
}

static int read_header(cli_case_table *t)
{
    int status = CLI_DONE;
    ending how = AT_COMMA;
    unsigned char *seen = calloc((size_t)gbs_model_n_variables(t->model) + 1, 1);
    if (seen == NULL) {
        return cli_error(CLI_FAILED, "out of memory");
    }
    t->n_skipped = are_draws(t) ? 3 : 0;
    for (; status == CLI_DONE && how == AT_COMMA; t->n_fields++) {
        how = next_field(t);
        if (how == BAD) {
            status = CLI_INPUT;
        } else if (t->n_fields < t->n_skipped) {
            continue;
        } else if (how == AT_END && t->n_fields == 0 && t->n == 0) {
            status = refuse(t, 1, 1, "found an empty line, expected a variable for each column");
        } else if (t->weights != NULL && t->weight_at == UINT32_MAX &&
                   strcmp(t->field, t->weights) == 0) {
            t->weight_at = t->n_fields;
        } else {
            status = add_column(t, seen);
        }
    }
    free(seen);
    if (status == CLI_DONE && t->weights != NULL && t->weight_at == UINT32_MAX) {
        status = cli_error(CLI_INPUT, "%s: found no column \"%.64s\", expected the weights there",
                           t->path, t->weights);
    }
    t->first = ftell(t->file);
    t->first_line = t->line;
    return status;
}

int cli_case_table_open(const gbs_model *model, const char *path, const char *weights,
                        cli_case_table **table)
{
    const size_t n = (size_t)gbs_model_n_variables(model) + 1;
    cli_case_table *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return cli_error(CLI_FAILED, "out of memory");
    }
    t->model = model;
    t->weights = weights;
    t->weight_at = UINT32_MAX;
    t->weight = 1.0;
    t->path = strcmp(path, "-") == 0 ? "standard input" : path;
    t->line = t->byte = 1;
    t->capacity = 64;
    t->field = calloc(t->capacity, 1);
    t->column = calloc(n, sizeof *t->column);
    t->na_is_one = calloc(n, 1);
    int status = t->field == NULL || t->column == NULL || t->na_is_one == NULL
                     ? cli_error(CLI_FAILED, "out of memory")
                     : open_file(t, path);
    if (status == CLI_DONE) {
        status = look_at_beginning(t);
    }
    if (status == CLI_DONE) {
        status = read_header(t);
    }
    if (status != CLI_DONE) {
        cli_case_table_free(t);
        return status;
    }
    *table = t;
    return CLI_DONE;
}

int cli_case_table_want_all(cli_case_table *table)
{
    cli_case_table *t = table;
    const uint32_t n = gbs_model_n_variables(t->model);
    char name[32];
    char text[160];
    unsigned char *seen = calloc((size_t)n + 1, 1);
    if (seen == NULL) {
        return cli_error(CLI_FAILED, "out of memory");
    }
    int status = CLI_DONE;
    for (uint32_t k = 0; k < t->n_columns; k++) {
        seen[t->column[k]] = 1;
    }
    for (uint32_t v = 0; status == CLI_DONE && v < n; v++) {
        if (!seen[v] && gbs_model_arity(t->model, v) > 1) {
            (void)snprintf(text, sizeof text,
                           "found no column of variable %.64s, expected one of each variable",
                           cli_variable_text(t->model, v, "", name));
            status = refuse(t, 1, 1, text);
        }
    }
    free(seen);
    t->complete = 1;
    return status;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static int read_state(const cli_case_table *t, uint32_t k, uint32_t *state)
{
    gbs_error err = {GBS_OK, ""};
    char text[640];
    char number[32] = "";
    if (t->n == 0 || (strcmp(t->field, "NA") == 0 && !t->na_is_one[k])) {
        *state = GBS_UNOBSERVED;
        return !t->complete || gbs_model_arity(t->model, t->column[k]) == 1
                   ? CLI_DONE
                   : refuse(t, t->at_line, t->at_byte,
                            "found no value, expected a state: weights are learnt from complete "
                            "rows");
    }
    if (t->n_skipped > 0 && t->n + 2 <= sizeof number) { /* longer ones are no numbers of states */
        (void)snprintf(number, sizeof number, "#%s", t->field);
    }
    if (gbs_model_find_state(t->model, t->column[k], t->n_skipped > 0 ? number : t->field, state,
                             &err) < 0) {
        static const char *const unknown[] = {"?",    "*",    "nan", "na",  "NaN", "null", "NULL",
                                              "None", "none", "N/A", "n/a", ".",   "-"};
        const char *hint = "";
        for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
            hint = strcmp(t->field, unknown[i]) == 0 ? "; what is not known is an empty field or NA"
                                                     : hint;
        }
        (void)snprintf(text, sizeof text, "found \"%.64s\", expected a state, or nothing: %.480s%s",
                       t->field, err.message, hint);
        return refuse(t, t->at_line, t->at_byte, text);
    }
    return CLI_DONE;
}

static int read_weight(cli_case_table *t)
{
    char text[160];
    if (cli_parse_real(t->field, &t->weight) && t->weight >= 0.0 &&
        t->weight <= GBS_MAX_ROW_WEIGHT) {
        return CLI_DONE;
    }
    (void)snprintf(text, sizeof text, "found \"%.64s\", expected a weight of 0 to %g", t->field,
                   GBS_MAX_ROW_WEIGHT);
    return refuse(t, t->at_line, t->at_byte, text);
}

double cli_case_table_weight(const cli_case_table *table)
{
    return table->weight;
}

static int refuse_width(const cli_case_table *t, uint64_t line, uint32_t n)
{
    char text[128];
    (void)snprintf(text, sizeof text,
                   "found %s%" PRIu32 " field%s, expected %" PRIu32 " as in the header",
                   n > t->n_fields ? "more than " : "", n > t->n_fields ? t->n_fields : n,
                   (n > t->n_fields ? t->n_fields : n) == 1 ? "" : "s", t->n_fields);
    return refuse(t, line, 1, text);
}

int cli_case_table_next(cli_case_table *table, uint32_t *state, int *end)
{
    cli_case_table *t = table;
    const uint64_t line = t->line;
    ending how = AT_COMMA;
    uint32_t k = 0;
    *end = 0;
    for (; how == AT_COMMA; k++) {
        how = next_field(t);
        if (how == BAD) {
            return CLI_INPUT;
        }
        if (k == 0 && how == AT_END && t->n == 0 && !t->quoted) {
            *end = 1;
            return ferror(t->file) ? cli_error(CLI_INPUT, "%s: cannot read", t->path) : CLI_DONE;
        }
        if (k == t->n_fields) {
            return refuse_width(t, line, k + 1);
        }
        if (k < t->n_skipped) {
            continue;
        }
        const uint32_t column = k - t->n_skipped - (k > t->weight_at);
        const int status =
            k == t->weight_at ? read_weight(t) : read_state(t, column, &state[column]);
        if (status != CLI_DONE) {
            return status;
        }
    }
    return k < t->n_fields ? refuse_width(t, line, k) : CLI_DONE;
}

int cli_case_table_check(cli_case_table *table, uint64_t *n)
{
    cli_case_table *t = table;
    int status = CLI_DONE;
    int end = 0;
    uint32_t *state = calloc((size_t)t->n_columns + 1, sizeof *state);
    if (state == NULL) {
        return cli_error(CLI_FAILED, "out of memory");
    }
    *n = 0;
    for (;;) {
        status = cli_case_table_next(t, state, &end);
        if (status != CLI_DONE || end) {
            break;
        }
        ++*n;
    }
    free(state);
    if (status == CLI_DONE && fseek(t->file, t->first, SEEK_SET) != 0) {
        status = cli_error(CLI_FAILED, "%s: cannot read it twice", t->path);
    }
    t->line = t->first_line;
    t->byte = 1;
    return status;
}
