/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of text: a line of names, and rows of cells. */
#ifndef GBSI_TABLES_SHEET_H
#define GBSI_TABLES_SHEET_H

#include "gibbsite/table.h"
#include "text/text.h"

/* ---- sheet.c: rows cut into cells ----------------------------------------------------------- */

typedef struct gbsi_cell {
    const char *text; /* text of the cell without quotes, ended by 0 */
    size_t n;
    /* position in the file at which the cell begins. For a cell of a caller's columns: the text
     * that the caller gave, or NULL. */
    const char *place;
    bool quoted;
    bool numeric; /* whether the cell names an attribute of ARFF without a list of values */
} gbsi_cell;

/* A table of text. `cell` points to the cells of the row that was read last, without the cell of an
 * index. The cells and their texts last until the next row is read. */
typedef struct gbsi_sheet {
    gbsi_text text;
    char separator;
    uint32_t n_columns; /* number of columns that have a name */
    bool is_arff;   /* whether the file is ARFF of Weka, which has two kinds of quotes, and comments
                       behind % */
    bool has_index; /* whether the rows begin with the cell of a column without a name */
    uint64_t n_comments; /* number of lines below the header that begin with text.comment */
    /* set by the caller if empty lines are not rows, even in a table of one column */
    bool skip_empty;
    gbsi_cell *name;   /* [n_columns] column names; their texts last as long as the sheet */
    gbsi_cell *cell;   /* [n_columns] */
    void *names, *row; /* char: texts of the names, and texts of the row */
    size_t names_capacity, row_capacity;
    void *name_cells, *row_cells; /* gbsi_cell */
    size_t name_cells_capacity, row_cells_capacity;
    size_t n_cells, n_bytes;  /* numbers of cells and bytes of the row */
    const gbs_column *column; /* [n_columns] the caller's columns; NULL for a table in a file */
    /* for the caller's columns: number of rows, and number of rows read */
    uint64_t n_rows, at_row;
} gbsi_sheet;

/* Whether a column with this name is expected. The answers decide which separator the header
 * has. */
typedef bool (*gbsi_is_column)(const void *context, const char *name);

/* Reads the header. Lines before the header that begin with # are skipped, unless the column names
 * follow the #. ARFF has a header of its own. Among ',', ';' and tab, the separator is the one that
 * yields the most expected columns. If several separators yield equally many, the one with the most
 * columns of any kind is chosen. A first line such as "sep=;" names the separator. Blanks are
 * separators if only blanks yield expected columns, as in tables of R's write.table(). Rows with
 * one cell more than the header begin with row names, as R writes them. The caller must free the
 * sheet even after a failure.
 * @param text copied; the bytes to which it points are borrowed. A line that begins with
 *   text->comment is skipped.
 * @param known NULL: any name is expected. */
gbs_status gbsi_sheet_open(gbsi_sheet *s, const gbsi_text *text, gbsi_is_column known,
                           const void *context, gbs_error *err);
void gbsi_sheet_free(gbsi_sheet *s);

/* Makes a sheet of columns that a caller has in memory. The columns are borrowed. Messages name the
 * row, counted from 1, and the column. Failures are GBS_ERR_ARGUMENT.
 * @param text an empty input, whose name and watch are used. */
gbs_status gbsi_sheet_of_columns(gbsi_sheet *s, const gbsi_text *text, const gbs_column *column,
                                 uint32_t n_columns, uint64_t n_rows, gbs_error *err);

/* Message about a table that has an index. */
#define GBSI_INDEX_NOTE "the first column has no name: it numbers the rows, and is left out"

/* Goes back to the first row.
 * @param first value that text.at had before the first row was read. */
void gbsi_sheet_rewind(gbsi_sheet *s, const char *first);

/* Reads the next row, which must have as many cells as there are columns. Empty lines are
 * skipped, except in a table of one column, where an empty line is a row.
 * @param more out: false after the last row. */
gbs_status gbsi_sheet_next(gbsi_sheet *s, bool *more, gbs_error *err);

/* Fails with "FILE:LINE:COLUMN: found CELL, expected ...". */
gbs_status gbsi_cell_unexpected(const gbsi_sheet *s, const gbsi_cell *cell, const char *expected,
                                gbs_error *err);
/* gbsi_cell_show() writes the text of a cell for a message and returns the text.
 * gbsi_cell_fail() fails with "FILE:LINE:COLUMN: " and the caller's message. */
const char *gbsi_cell_show(const gbsi_cell *cell, char shown[GBSI_SHOWN]);
gbs_status gbsi_cell_fail(const gbsi_sheet *s, const gbsi_cell *cell, gbs_error *err,
                          const char *format, ...) GBSI_PRINTF(4, 5);

/* Whether the table has draws in the form of `gibbsite sample`. Such a table begins with the
 * columns chain, draw and lp, and gives states by their numbers. */
enum { GBSI_DRAW_COLUMNS = 3 };
bool gbsi_sheet_is_draws(const gbsi_sheet *s);

/* ---- answer_tables.c ------------------------------------------------------------------------ */

/* Fails if the text begins with the line of names of a table of answers, such as marginals. The
 * message says what was found, what was expected, and which verb reads such a table.
 * @param draws whether the caller reads draws. */
gbs_status gbsi_refuse_answers(const gbsi_text *text, bool draws, const char *expected,
                               gbs_error *err);

/* ---- cell.c: what cells mean ---------------------------------------------------------------- */

enum { GBSI_MISSING_SIGNS = 17 };
/* @return the index of a text among the signs of missing values; -1 if the text is no such sign. */
int gbsi_find_missing(const char *text, size_t n);

/* Whether the text resembles a sign of a missing value, such as "n.a.". */
bool gbsi_nearly_missing(const char *text);
/* Writes counts of missing values as "2 empty, 1 NaN".
 * @return the sum of the counts. */
enum { GBSI_MISSING_TEXT = 512 };
uint64_t gbsi_missing_text(const uint64_t n[GBSI_MISSING_SIGNS], char text[GBSI_MISSING_TEXT]);

/* Writes numbers such as "1", "1.0", "1.000", "1,0" and "1e0" as "1".
 * @param whole out: [GBSI_WHOLE], "" if the text is no whole number. */
enum { GBSI_WHOLE = 24 };
bool gbsi_whole_text(const char *text, size_t n, char *whole);
/* @return 1 for True, TRUE and true, 0 for False, FALSE and false, -1 for anything else. */
int gbsi_truth(const char *text);
/* Reads a number. A decimal comma is allowed if commas do not separate the columns of the sheet. */
bool gbsi_cell_number(const gbsi_sheet *s, const gbsi_cell *cell, double *number);

/* Whether two names differ only by case, quotes, blanks, '.', '_' and '-'. */
bool gbsi_alike_names(const char *a, const char *b);
/* Whether two names are alike, or differ by one letter, or by two letters that changed places.
 * Numbers in the names must be equal: x1 is not close to x2. */
bool gbsi_close_names(const char *a, const char *b);

#endif
