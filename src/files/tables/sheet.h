/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of text: a line of names, and rows of cells. */
#ifndef GBSI_TABLES_SHEET_H
#define GBSI_TABLES_SHEET_H

#include "gibbsite/table.h"
#include "text/text.h"

/* ---- sheet.c: rows cut into cells ----------------------------------------------------------- */

typedef struct gbsi_cell {
    const char *text; /* without quotes, ended by 0 */
    size_t n;
    const char *place; /* position in the file where the cell begins, for messages; NULL: there is
                          no text */
    bool quoted;
    bool numeric; /* the name of an attribute of ARFF without a list of values */
} gbsi_cell;

/* Invariant: `cell` holds the columns of the row that was read last, without the cell of an index;
 * it and its texts last until the next row is read. */
typedef struct gbsi_sheet {
    gbsi_text text;
    char separator;
    uint32_t n_columns; /* those with a name */
    bool is_arff;       /* of Weka: quotes of two kinds, comments behind % */
    bool has_index;     /* a first column without a name stands before them */
    bool skip_empty;    /* set it if empty lines do not count as rows, not even in a table of one
                           column */
    gbsi_cell *name;    /* [n_columns] their texts last as long as the sheet */
    gbsi_cell *cell;    /* [n_columns] */
    void *names, *row;  /* char: the texts of the names and of the row */
    size_t names_capacity, row_capacity;
    void *name_cells, *row_cells; /* gbsi_cell */
    size_t name_cells_capacity, row_cells_capacity;
    size_t n_cells, n_bytes;  /* of the row */
    const gbs_column *column; /* [n_columns] NULL for a table in a file */
    uint64_t n_rows, at_row;  /* number of columns; at_row rows were read */
} gbsi_sheet;

/* Whether a column of that name is expected: tells which separator the header has. */
typedef bool (*gbsi_is_column)(const void *context, const char *name);

/* Reads the header. Lines before it that begin with # are skipped, unless the names stand behind
 * the #; ARFF has a header of its own. The separator is the one of ',', ';' and tab that makes the
 * most expected columns and, of equal ones, the most columns of any kind; a first line "sep=;"
 * names it. Blanks separate where none of them makes a column that is expected and blanks do, as in
 * tables of R's write.table(). Rows of one cell more than the header begin with row names, as R
 * writes them.
 * @param text copied, what it points to is borrowed; a line that begins with its comment is none.
 * @param known NULL: any name is expected. Free in either case. */
gbs_status gbsi_sheet_open(gbsi_sheet *s, const gbsi_text *text, gbsi_is_column known,
                           const void *context, gbs_error *err);
void gbsi_sheet_free(gbsi_sheet *s);

/* Makes a sheet of columns that a caller holds, which are borrowed. Messages name the row, from 1,
 * and the column; failures are GBS_ERR_ARGUMENT.
 * @param text an empty input, whose name and watch are used. */
gbs_status gbsi_sheet_of_columns(gbsi_sheet *s, const gbsi_text *text, const gbs_column *column,
                                 uint32_t n_columns, uint64_t n_rows, gbs_error *err);

/* The message about a table that has an index. */
#define GBSI_INDEX_NOTE "the first column has no name: it numbers the rows, and is left out"

/* Makes the first row the next one. @param first text.at before that row was read. */
void gbsi_sheet_rewind(gbsi_sheet *s, const char *first);

/* Reads the next row, of as many cells as there are columns. Empty lines are skipped, but in a
 * table of one column they are rows. @param more out: false after the last row. */
gbs_status gbsi_sheet_next(gbsi_sheet *s, bool *more, gbs_error *err);

/* Fails with "FILE:LINE:COLUMN: found CELL, expected ...". */
gbs_status gbsi_cell_unexpected(const gbsi_sheet *s, const gbsi_cell *cell, const char *expected,
                                gbs_error *err);
/* gbsi_cell_show() writes a cell for a message that the caller makes, and returns it.
 * gbsi_cell_fail() fails with "FILE:LINE:COLUMN: " and a message of any form. */
const char *gbsi_cell_show(const gbsi_cell *cell, char shown[GBSI_SHOWN]);
gbs_status gbsi_cell_fail(const gbsi_sheet *s, const gbsi_cell *cell, gbs_error *err,
                          const char *format, ...) GBSI_PRINTF(4, 5);

/* Whether the table is one of draws as `gibbsite sample` writes them: its first columns are chain,
 * draw and lp, and the states are numbers. */
enum { GBSI_DRAW_COLUMNS = 3 };
bool gbsi_sheet_is_draws(const gbsi_sheet *s);

/* ---- answer_tables.c ------------------------------------------------------------------------ */

/* Fails if the line of names is that of a table of answers, such as marginals: says what it is,
 * what was expected, and which verb reads it.
 * @param draws whether draws are read here. */
gbs_status gbsi_refuse_answers(const gbsi_text *text, bool draws, const char *expected,
                               gbs_error *err);

/* ---- cell.c: what cells mean ---------------------------------------------------------------- */

enum { GBSI_MISSING_SIGNS = 15 };
/* @return which sign of a missing value the text is, or -1. */
int gbsi_find_missing(const char *text, size_t n);

/* Whether it is nearly one: "na", say. */
bool gbsi_nearly_missing(const char *text);
/* Writes counts of missing values as "2 empty, 1 NaN".
 * @return the sum of the counts. */
enum { GBSI_MISSING_TEXT = 512 };
uint64_t gbsi_missing_text(const uint64_t n[GBSI_MISSING_SIGNS], char text[GBSI_MISSING_TEXT]);

/* Writes "1", "1.0", "1.000", "1,0" and "1e0" as "1".
 * @param whole [GBSI_WHOLE], "" for anything else. */
enum { GBSI_WHOLE = 24 };
bool gbsi_whole_text(const char *text, size_t n, char *whole);
/* @return 1 for True, TRUE and true, 0 for False, FALSE and false, -1 for anything else. */
int gbsi_truth(const char *text);
/* Reads a number, with a decimal comma if the columns of the sheet are not separated by commas. */
bool gbsi_cell_number(const gbsi_sheet *s, const gbsi_cell *cell, double *number);

/* Whether two names differ only by case, quotes, blanks, '.', '_' and '-'. */
bool gbsi_alike_names(const char *a, const char *b);
/* Whether two names are alike, or differ by one letter more, or by two that changed places.
 * Numbers in them must be equal: x1 is not close to x2. */
bool gbsi_close_names(const char *a, const char *b);

#endif
