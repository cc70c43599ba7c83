/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of sheet.c and arff.c that put cells into the current row. */
#ifndef GBSI_TABLES_SHEET_INTERNAL_H
#define GBSI_TABLES_SHEET_INTERNAL_H

#include "tables/sheet.h"

/* gbsi_sheet_add_bytes() adds bytes to the current cell, and gbsi_sheet_add_cell() ends the cell
 * and adds it to the row.
 * @param begin value that s->n_bytes had before the first byte of the cell was added. */
gbs_status gbsi_sheet_add_bytes(gbsi_sheet *s, const char *at, size_t n, gbs_error *err);
gbs_status gbsi_sheet_add_cell(gbsi_sheet *s, const char *place, size_t begin, bool quoted,
                               gbs_error *err);

/* ---- arff.c: tables of Weka ------------------------------------------------------------------ */

/* Whether the text is ARFF: its first line that is neither empty nor a comment names a relation. */
bool gbsi_arff_begins(const gbsi_text *text);
/* Reads the header, up to the first row. Makes a cell for each attribute; a cell is `numeric` if
 * the attribute has no list of values. */
gbs_status gbsi_arff_header(gbsi_sheet *s, gbs_error *err);
/* Reads a text in single or double quotes and drops the quotes. A backslash before a quote keeps
 * the quote from ending the text. The sheet's text is then behind the closing quote. */
gbs_status gbsi_arff_quoted(gbsi_sheet *s, gbs_error *err);

#endif
