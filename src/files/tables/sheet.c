/* SPDX-License-Identifier: Apache-2.0 */
/* Reads rows of cells as RFC 4180 describes them, and as spreadsheets, pandas and R write them. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "decimal/decimal.h"
#include "tables/sheet_internal.h"
#include "text/common.h"

enum { MOST_COLUMNS = 1 << 24 }; /* limits the memory of the column names to half a gigabyte */

/* ---- messages -------------------------------------------------------------------------------- */

const char *gbsi_cell_show(const gbsi_cell *cell, char shown[GBSI_SHOWN])
{
    return cell->n == 0 ? "an empty cell"
                        : gbsi_token_show((gbsi_token){cell->text, cell->n}, shown);
}

gbs_status gbsi_cell_unexpected(const gbsi_sheet *s, const gbsi_cell *cell, const char *expected,
                                gbs_error *err)
{
    char shown[GBSI_SHOWN];
    return gbsi_cell_fail(s, cell, err, "found %s, expected %s", gbsi_cell_show(cell, shown),
                          expected);
}

/* Fails with a message about a cell in a table that a caller has in memory as columns. */
static gbs_status fail_in_columns(const gbsi_sheet *s, const gbsi_cell *cell, gbs_error *err,
                                  const char *what)
{
    char shown[GBSI_SHOWN];
    if (cell >= s->name && cell < s->name + s->n_columns) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s, column %zu: %s", s->text.name,
                         (size_t)(cell - s->name) + 1, what);
    }
    return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s, row %" PRIu64 ", column %s: %s", s->text.name,
                     s->at_row, gbsi_cell_show(&s->name[cell - s->cell], shown), what);
}

gbs_status gbsi_cell_fail(const gbsi_sheet *s, const gbsi_cell *cell, gbs_error *err,
                          const char *format, ...)
{
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return s->column != NULL
               ? fail_in_columns(s, cell, err, what)
               : gbsi_text_fail(&s->text, (gbsi_token){cell->place, 1}, err, "%s", what);
}

static gbs_status fail_at(const gbsi_sheet *s, const char *at, gbs_error *err, const char *what)
{
    return gbsi_text_fail(&s->text, (gbsi_token){at, 1}, err, "%s", what);
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* Adds bytes to the row. The texts of a row are stored as offsets until the row is complete,
 * because their memory may move. */
gbs_status gbsi_sheet_add_bytes(gbsi_sheet *s, const char *at, size_t n, gbs_error *err)
{
    const gbs_status status = s->n_bytes + n < s->row_capacity
                                  ? GBS_OK
                                  : gbsi_reserve(&s->row, &s->row_capacity, s->n_bytes + n + 1, 1,
                                                 "a row of a table", err);
    if (status >= 0 && n > 0) {
        memcpy((char *)s->row + s->n_bytes, at, n);
        s->n_bytes += n;
    }
    return status;
}

gbs_status gbsi_sheet_add_cell(gbsi_sheet *s, const char *place, size_t begin, bool quoted,
                               gbs_error *err)
{
    const gbs_status status =
        s->n_cells < s->row_cells_capacity
            ? GBS_OK
            : gbsi_reserve(&s->row_cells, &s->row_cells_capacity, s->n_cells + 1, sizeof(gbsi_cell),
                           "a row of a table", err);
    if (status >= 0) {
        ((gbsi_cell *)s->row_cells)[s->n_cells++] =
            (gbsi_cell){.n = s->n_bytes - begin, .place = place, .quoted = quoted};
        ((char *)s->row)[s->n_bytes++] = '\0';
    }
    return status;
}

/* Whether c is a blank and not the separator. */
static bool is_space(const gbsi_sheet *s, char c)
{
    return (c == ' ' || c == '\t') && (c != s->separator || c == ' ');
}

/* Skips a run of blanks. If blanks separate columns, such a run is one separator. */
static const char *skip_spaces(const gbsi_sheet *s, const char *at)
{
    while (at < s->text.end && is_space(s, *at)) {
        at++;
    }
    return at;
}

/* Finds the end of a cell.
 * @param at position behind the text of the cell.
 * @param ended out: whether a line or the file ends there.
 * @return the start of the next cell; NULL if neither a quote nor a separator follows the text. */
static const char *end_cell(const gbsi_sheet *s, const char *at, bool *ended)
{
    const char *end = s->text.end;
    if (s->separator == ' ') { /* the blanks that separate columns were already skipped */
        at += at < end && *at == '\r';
        *ended = at == end || *at == '\n';
        return at == end ? at : *ended ? at + 1 : at[-1] == ' ' || at[-1] == '\t' ? at : NULL;
    }
    at += at + 1 < end && at[0] == '\r' && at[1] == '\n';
    at += at + 1 == end && at[0] == '\r';
    *ended = at == end || *at == '\n';
    return at == end ? at : *ended || *at == s->separator ? at + 1 : NULL;
}

/* Reads a cell in quotes. Two quotes inside the cell mean one quote. @param at position of the
 * opening quote. */
static gbs_status read_quoted(gbsi_sheet *s, const char *at, bool *ended, gbs_error *err)
{
    const char *begin = at++;
    const char *end = s->text.end;
    const size_t first = s->n_bytes;
    for (bool open = true; open;) {
        const char *quote = memchr(at, '"', (size_t)(end - at));
        if (quote == NULL) {
            return fail_at(s, begin, err,
                           "found the end of the table in a field that begins with a quote, "
                           "expected a quote that ends it");
        }
        const size_t n = (size_t)(quote - at);
        open = quote + 1 < end && quote[1] == '"';
        GBSI_PASS(gbsi_sheet_add_bytes(s, at, n + open, err));
        at = quote + 1 + open;
    }
    GBSI_PASS(gbsi_sheet_add_cell(s, begin, first, true, err));
    at = skip_spaces(s, at);
    const char *next = end_cell(s, at, ended);
    if (next == NULL) {
        return fail_at(s, at, err,
                       "found text behind a quote, expected a separator or the end of the line");
    }
    s->text.at = next;
    return GBS_OK;
}

/* Skips a comment behind a cell of an ARFF file: % with a blank or a quote before it. */
static const char *skip_comment(const gbsi_sheet *s, const char *at)
{
    if (s->is_arff && at < s->text.end && *at == '%') {
        while (at < s->text.end && *at != '\n') {
            at++;
        }
    }
    return at;
}

/* Reads a cell in quotes in an ARFF file. */
static gbs_status read_quoted_arff(gbsi_sheet *s, const char *begin, bool *ended, gbs_error *err)
{
    const size_t first = s->n_bytes;
    s->text.at = begin;
    GBSI_PASS(gbsi_arff_quoted(s, err));
    GBSI_PASS(gbsi_sheet_add_cell(s, begin, first, true, err));
    const char *at = skip_comment(s, skip_spaces(s, s->text.at));
    const char *next = end_cell(s, at, ended);
    if (next == NULL) {
        return fail_at(s, at, err,
                       "found text behind a quote, expected a comma or the end of the line");
    }
    s->text.at = next;
    return GBS_OK;
}

static gbs_status read_cell(gbsi_sheet *s, bool *ended, gbs_error *err)
{
    const char *begin = skip_spaces(s, s->text.at);
    const char *at = begin;
    const size_t first = s->n_bytes;
    if (s->is_arff && at < s->text.end && (*at == '"' || *at == '\'')) {
        return read_quoted_arff(s, at, ended, err);
    }
    if (s->is_arff && at < s->text.end && *at == '{') {
        return fail_at(s, at, err,
                       s->n_cells == 0
                           ? "found a sparse row, expected a value for each attribute, as Weka's "
                             "filter SparseToNonSparse writes it"
                           : "found a weight of the row in braces, expected no weight: weights are "
                             "read from a column that --weights names");
    }
    if (at < s->text.end && *at == '"') {
        return read_quoted(s, at, ended, err);
    }
    while (at < s->text.end && *at != s->separator && *at != '\n' &&
           !(s->is_arff && *at == '%' && at > begin && is_space(s, at[-1]))) {
        at++;
    }
    const char *next = s->separator == ' ' ? skip_spaces(s, at) : skip_comment(s, at);
    next += next < s->text.end && *next == '\r' && s->separator == ' ';
    *ended = next == s->text.end || *next == '\n';
    s->text.at = next == s->text.end || (s->separator == ' ' && !*ended) ? next : next + 1;
    while (at > begin && (is_space(s, at[-1]) || (*ended && at[-1] == '\r'))) {
        at--;
    }
    GBSI_PASS(gbsi_sheet_add_bytes(s, begin, (size_t)(at - begin), err));
    return gbsi_sheet_add_cell(s, begin, first, false, err);
}

/* Turns the offsets of a complete row into pointers. Afterwards the texts of the row no longer
 * move. */
static void place_texts(gbsi_sheet *s)
{
    const char *text = s->row;
    for (size_t k = 0; k < s->n_cells; k++) {
        gbsi_cell *cell = (gbsi_cell *)s->row_cells + k;
        cell->text = text;
        text += cell->n + 1;
    }
}

/* Reads up to `most` cells of a row. To notice a row that is too long, a caller sets `most` to one
 * more than it expects. */
static gbs_status read_row(gbsi_sheet *s, size_t most, gbs_error *err)
{
    s->n_cells = 0;
    s->n_bytes = 0;
    for (bool ended = false; !ended && s->n_cells < most;) {
        GBSI_PASS(read_cell(s, &ended, err));
    }
    place_texts(s);
    return GBS_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const char *line_end(const gbsi_sheet *s, const char *at)
{
    const char *end = memchr(at, '\n', (size_t)(s->text.end - at));
    return end == NULL ? s->text.end : end;
}

static bool is_empty_line(const gbsi_sheet *s, const char *end)
{
    const char *at = skip_spaces(s, s->text.at);
    return at == end || (at + 1 == end && *at == '\r');
}

/* Skips comments and empty lines. @param keep_empty whether an empty line is a row. */
static void skip_lines(gbsi_sheet *s, bool keep_empty)
{
    while (s->text.at < s->text.end) {
        const char *end = line_end(s, s->text.at);
        const bool is_comment = s->text.comment != 0 && *s->text.at == s->text.comment;
        if (!is_comment && (keep_empty || !is_empty_line(s, end))) {
            return;
        }
        s->n_comments += is_comment;
        s->text.at = end == s->text.end ? end : end + 1;
    }
}

static gbs_status next_of_columns(gbsi_sheet *s, bool *more, gbs_error *err)
{
    const gbs_status status = gbsi_watch_work(s->text.watch, s->n_columns, "reading a table", err);
    *more = status >= 0 && s->at_row < s->n_rows;
    for (uint32_t k = 0; *more && k < s->n_columns; k++) {
        const char *text = s->column[k].cell == NULL ? NULL : s->column[k].cell[s->at_row];
        s->cell[k] = (gbsi_cell){.text = text == NULL ? "" : text, .place = text, .quoted = true};
        s->cell[k].n = strlen(s->cell[k].text);
    }
    s->at_row += *more;
    return status;
}

void gbsi_sheet_rewind(gbsi_sheet *s, const char *first)
{
    s->text.at = first;
    s->at_row = 0;
}

gbs_status gbsi_sheet_next(gbsi_sheet *s, bool *more, gbs_error *err)
{
    const size_t width = (size_t)s->n_columns + s->has_index;
    if (s->column != NULL) {
        return next_of_columns(s, more, err);
    }
    skip_lines(s, width == 1 && !s->skip_empty);
    *more = s->text.at < s->text.end;
    if (!*more) {
        return GBS_OK;
    }
    const char *line = s->text.at;
    GBSI_PASS(gbsi_watch_work(s->text.watch, width, "reading a table", err));
    GBSI_PASS(read_row(s, width + 1, err));
    if (s->n_cells != width) {
        const size_t n = s->n_cells < width ? s->n_cells : width;
        return gbsi_text_fail(&s->text, (gbsi_token){line, 1}, err,
                              "found %s%zu field%s, expected %zu as in the header%s%s",
                              s->n_cells > width ? "more than " : "", n, gbsi_plural(n), width,
                              s->has_index && s->name == s->name_cells ? " and a row name" : "",
                              *line == '#' ? ": lines of comments stand before the names" : "");
    }
    s->cell = (gbsi_cell *)s->row_cells + s->has_index;
    return GBS_OK;
}

/* ---- the header ------------------------------------------------------------------------------ */

/* Makes the row that was read last the column names. */
static void keep_names(gbsi_sheet *s)
{
    s->names = s->row;
    s->names_capacity = s->row_capacity;
    s->name_cells = s->row_cells;
    s->name_cells_capacity = s->row_cells_capacity;
    s->row = s->row_cells = NULL;
    s->row_capacity = s->row_cells_capacity = 0;
    s->name = s->name_cells;
    s->n_columns = (uint32_t)s->n_cells;
}

/* Takes a first line "sep=;", which spreadsheets write. @return the separator, or 0 if there is
 * no such line. */
static char take_separator_line(gbsi_sheet *s)
{
    const char *at = s->text.at;
    const char *end = line_end(s, at);
    const size_t n = (size_t)(end - at);
    if (n < 5 || n > 6 || memcmp(at, "sep=", 4) != 0 || (n == 6 && at[5] != '\r') ||
        strchr(",;\t", at[4]) == NULL) {
        return 0;
    }
    s->text.at = end == s->text.end ? end : end + 1;
    return at[4];
}

/* Whether the header has several names separated by blanks, and the first row fits these names. The
 * row fits if it has as many cells as there are names, or one more for a row name. */
static bool blanks_fit(gbsi_sheet *s)
{
    const char *header = s->text.at;
    s->separator = ' ';
    const bool read = read_row(s, MOST_COLUMNS + 1, NULL) >= 0;
    const size_t n = s->n_cells;
    skip_lines(s, false);
    const bool fits = read && n > 1 && s->text.at < s->text.end && read_row(s, n + 2, NULL) >= 0 &&
                      (s->n_cells == n || s->n_cells == n + 1);
    s->text.at = header;
    return fits;
}

/* Counts the column names into which s->separator cuts the header. The position in the text is then
 * at the beginning of the header.
 * @param n_known out: number of names that are expected. */
static size_t count_names(gbsi_sheet *s, gbsi_is_column known, const void *context, size_t *n_known)
{
    const char *header = s->text.at;
    *n_known = 0;
    if (read_row(s, MOST_COLUMNS + 1, NULL) < 0) {
        s->n_cells = 0;
    }
    for (size_t k = 0; k < s->n_cells && known != NULL; k++) {
        *n_known += known(context, ((gbsi_cell *)s->row_cells)[k].text);
    }
    s->text.at = header;
    return s->n_cells;
}

/* Finds the separator that gives the best header. Blanks are chosen only if no other separator
 * yields an expected column. If `known` is NULL, any name is expected, and blanks are chosen only
 * if no other separator yields two columns. */
static char find_separator(gbsi_sheet *s, gbsi_is_column known, const void *context)
{
    static const char candidates[] = {',', ';', '\t'};
    char best = ',';
    size_t most_known = 0;
    size_t most_cells = 0;
    size_t n_known = 0;
    for (size_t i = 0; i < sizeof candidates; i++) {
        s->separator = candidates[i];
        const size_t n_cells = count_names(s, known, context, &n_known);
        if (n_known > most_known || (n_known == most_known && n_cells > most_cells)) {
            best = candidates[i];
            most_known = n_known;
            most_cells = n_cells;
        }
    }
    if (known == NULL ? most_cells == 1 && blanks_fit(s) : most_known == 0) {
        s->separator = ' ';
        (void)count_names(s, known, context, &n_known);
        best = known == NULL || n_known > 0 ? ' ' : best;
    }
    return best;
}

/* Whether the first cell of a row may be a row name. A row name is not empty, not in quotes and not
 * a fraction. It differs from the first cells of all rows before.
 * @param before [n] first cells of the rows before. */
static bool is_row_name(const gbsi_cell *cell, const gbsi_token *before, size_t n)
{
    const bool digits = cell->n > 0 && strspn(cell->text, "0123456789") == cell->n;
    double number = 0.0;
    bool is = cell->n > 0 && !cell->quoted &&
              (digits || gbsi_decimal_read(cell->text, cell->n, &number) == GBSI_DECIMAL_BAD);
    for (size_t k = 0; k < n && is; k++) {
        is = before[k].n != cell->n || memcmp(before[k].at, cell->place, cell->n) != 0;
    }
    return is;
}

/* Whether the rows begin with row names, and the header has no name for them, as in tables of R.
 * Each row then has one more cell than the header. If the column names are in quotes, one row name
 * in quotes is enough. Otherwise is_row_name() must be true of the first cell of at least three
 * rows, or of two rows if these cells are 1 and 2. The last cell of a row must not be empty,
 * because an empty last cell is a sign of a superfluous separator. */
static bool has_row_names(gbsi_sheet *s)
{
    enum { LOOK = 64 };
    gbsi_token before[LOOK] = {{NULL, 0}};
    const char *first = s->text.at;
    const size_t width = (size_t)s->n_columns + 1;
    bool has = true;
    bool quoted = false;
    bool numbered = true;
    size_t n = 0;
    for (skip_lines(s, false); has && !quoted && n < LOOK && s->text.at < s->text.end;
         skip_lines(s, false)) {
        const bool fits = read_row(s, width + 1, NULL) >= 0 && s->n_cells == width;
        const gbsi_cell *cell = s->row_cells;
        quoted = fits && s->name[0].quoted && cell[0].quoted;
        has = quoted || (fits ? cell[width - 1].n > 0 && is_row_name(&cell[0], before, n) : n > 0);
        if (has && fits) {
            numbered = numbered && cell[0].n == 1 && cell[0].text[0] == (char)('1' + n);
            before[n++] = (gbsi_token){cell[0].place, cell[0].n};
        }
    }
    s->text.at = first;
    return quoted || (has && n > (numbered ? 1 : 2));
}

/* Whether a line begins with a row name as R writes it: in quotes, with a blank behind it. */
static bool begins_with_row_name(const gbsi_sheet *s, const char *line)
{
    const size_t n = (size_t)(line_end(s, line) - line);
    const char *quote = n > 1 && *line == '"' ? memchr(line + 1, '"', n - 1) : NULL;
    return quote != NULL && quote + 1 < line + n && quote[1] == ' ';
}

/* Whether the header looks as if R's write.table() wrote it. Such a header has names in quotes,
 * with a blank between two names and no other character outside the quotes. If the header has a
 * single name, the first row must begin with a row name in quotes. */
static bool is_of_write_table(const gbsi_sheet *s)
{
    const char *end = line_end(s, s->text.at);
    const char *at = s->text.at;
    size_t n = 0;
    while (at < end && *at == '"') {
        const char *quote = memchr(at + 1, '"', (size_t)(end - at - 1));
        if (quote == NULL) {
            return false;
        }
        n++;
        at = quote + 1;
        at += at < end && *at == ' ';
    }
    at += at < end && *at == '\r';
    return at == end &&
           (n > 1 || (n == 1 && end < s->text.end && begins_with_row_name(s, end + 1)));
}

/* Counts the cells of a line, with the separator that find_separator() chooses for the line.
 * @param n_known out: number of cells that are expected names. */
static size_t look_at(gbsi_sheet *s, const char *line, gbsi_is_column known, const void *context,
                      size_t *n_known)
{
    const char *at = s->text.at;
    s->text.at = line;
    s->separator = find_separator(s, known, context);
    const size_t n = count_names(s, known, context, n_known);
    s->text.at = at;
    return n;
}

/* Whether all cells of the row that was read last are numbers. */
static bool all_numbers(const gbsi_sheet *s)
{
    bool numbers = s->n_cells > 0;
    for (size_t k = 0; k < s->n_cells && numbers; k++) {
        double number = 0.0;
        numbers = gbsi_cell_number(s, (const gbsi_cell *)s->row_cells + k, &number);
    }
    return numbers;
}

/* Whether the text behind a # consists of column names, as numpy.savetxt() writes them. The
 * function is called only if any name is expected. The next line must have as many numbers as there
 * are names.
 * @param names position behind the #.
 * @param next position of the next line that does not begin with #. */
static bool has_names(gbsi_sheet *s, const char *names, const char *next)
{
    size_t n_known = 0;
    const size_t width = look_at(s, names, NULL, NULL, &n_known);
    if (all_numbers(s)) {
        return false;
    }
    s->text.at = next;
    return count_names(s, NULL, NULL, &n_known) == width && all_numbers(s);
}

/* Finds column names in a line that begins with #. @return the position at which the names begin,
 * at the # or behind it; NULL if the line is a comment. A line is a comment if it has no more
 * expected columns than `next`, the first later line without #. */
static const char *find_names(gbsi_sheet *s, const char *line, const char *next,
                              gbsi_is_column known, const void *context)
{
    const char *names = line;
    size_t n_line = 0;
    size_t n_names = 0;
    size_t n_next = 0;
    while (names < s->text.end && (*names == '#' || *names == ' ')) {
        names++;
    }
    if (known == NULL) {
        return has_names(s, names, next) ? names : NULL;
    }
    (void)look_at(s, next, known, context, &n_next);
    (void)look_at(s, line, known, context, &n_line);
    const bool lone = s->separator == ' ' && line + 1 < s->text.end && line[1] == ' ';
    (void)look_at(s, names, known, context, &n_names);
    return !lone && n_line > n_next && n_line >= n_names ? line : n_names > n_next ? names : NULL;
}

/* Skips the lines before the header that begin with #. If the header itself begins with #, skips
 * only the # before its names. */
static void skip_hash_lines(gbsi_sheet *s, gbsi_is_column known, const void *context)
{
    const char comment = s->text.comment;
    const char *next = s->text.at;
    s->text.comment = 0;
    for (skip_lines(s, false); s->text.at < s->text.end && *s->text.at == '#';
         skip_lines(s, false)) {
        const char *line = s->text.at;
        next = next < line ? line : next;
        while (next < s->text.end && *next == '#') {
            const char *last = line_end(s, next);
            next = last == s->text.end ? last : last + 1;
        }
        const char *names = find_names(s, line, next, known, context);
        const char *end = line_end(s, line);
        s->text.at = names != NULL ? names : end == s->text.end ? end : end + 1;
        if (names != NULL) {
            break;
        }
    }
    s->text.comment = comment;
}

gbs_status gbsi_sheet_open(gbsi_sheet *s, const gbsi_text *text, gbsi_is_column known,
                           const void *context, gbs_error *err)
{
    *s = (gbsi_sheet){.text = *text};
    const size_t n = gbsi_text_left(text);
    const char *lone =
        n == 0 || memchr(text->at, '\n', n) != NULL ? NULL : memchr(text->at, '\r', n - 1);
    if (lone != NULL) {
        return fail_at(s, lone, err,
                       "found a carriage return alone, expected lines that end in a line feed");
    }
    if (gbsi_arff_begins(text)) {
        GBSI_PASS(gbsi_arff_header(s, err));
        place_texts(s);
        keep_names(s);
        return GBS_OK;
    }
    char separator = n == 0 ? 0 : take_separator_line(s);
    skip_hash_lines(s, known, context);
    if (n > 0 && gbsi_text_peek(&s->text).n == 0) {
        return fail_at(s, s->text.at, err,
                       "found only comments and blank lines, expected a line that names columns");
    }
    s->separator = separator != 0         ? separator
                   : is_of_write_table(s) ? ' '
                                          : find_separator(s, known, context);
    GBSI_PASS(read_row(s, MOST_COLUMNS + 1, err));
    if (s->n_cells > MOST_COLUMNS) {
        return fail_at(s, s->text.begin, err, "found more than 16777216 columns");
    }
    keep_names(s);
    s->has_index = s->name[0].n == 0 && s->n_columns > 1;
    if (s->has_index) {
        s->name++;
        s->n_columns--;
    } else {
        s->has_index = has_row_names(s);
    }
    return GBS_OK;
}

gbs_status gbsi_sheet_of_columns(gbsi_sheet *s, const gbsi_text *text, const gbs_column *column,
                                 uint32_t n_columns, uint64_t n_rows, gbs_error *err)
{
    *s = (gbsi_sheet){.text = *text, .column = column, .n_columns = n_columns, .n_rows = n_rows};
    GBSI_PASS(gbsi_reserve(&s->name_cells, &s->name_cells_capacity, (size_t)n_columns + 1,
                           sizeof(gbsi_cell), "columns of a table", err));
    GBSI_PASS(gbsi_reserve(&s->row_cells, &s->row_cells_capacity, (size_t)n_columns + 1,
                           sizeof(gbsi_cell), "columns of a table", err));
    s->name = s->name_cells;
    s->cell = s->row_cells;
    s->name[0] = (gbsi_cell){.text = ""};
    for (uint32_t k = 0; k < n_columns; k++) {
        s->name[k] = (gbsi_cell){.text = column[k].name, .n = strlen(column[k].name)};
    }
    return GBS_OK;
}

void gbsi_sheet_free(gbsi_sheet *s)
{
    GBSI_FREE(s->names, s->row, s->name_cells, s->row_cells);
    *s = (gbsi_sheet){0};
}

bool gbsi_sheet_is_draws(const gbsi_sheet *s)
{
    static const char *const names[GBSI_DRAW_COLUMNS] = {"chain", "draw", "lp"};
    bool same = s->n_columns > GBSI_DRAW_COLUMNS;
    for (uint32_t k = 0; same && k < GBSI_DRAW_COLUMNS; k++) {
        same = strcmp(s->name[k].text, names[k]) == 0;
    }
    return same;
}
