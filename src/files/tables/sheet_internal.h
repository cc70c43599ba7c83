/* SPDX-License-Identifier: Apache-2.0 */
/* What sheet.c and arff.c share: cells are put into the row that is being read. */
#ifndef GBSI_TABLES_SHEET_INTERNAL_H
#define GBSI_TABLES_SHEET_INTERNAL_H

#include "tables/sheet.h"

/* Adds bytes to the cell that is being read, and ends that cell.
 * @param begin s->n_bytes where the cell begins. */
gbs_status gbsi_sheet_add_bytes(gbsi_sheet *s, const char *at, size_t n, gbs_error *err);
gbs_status gbsi_sheet_add_cell(gbsi_sheet *s, const char *place, size_t begin, bool quoted,
                               gbs_error *err);

/* ---- arff.c: tables of Weka ------------------------------------------------------------------ */

/* Whether the text is ARFF: its first line that is neither empty nor a comment names a relation. */
bool gbsi_arff_begins(const gbsi_text *text);
/* Reads the header, up to the first row: a cell for each attribute, `numeric` if it has no list of
 * values. */
gbs_status gbsi_arff_header(gbsi_sheet *s, gbs_error *err);
/* Reads a text in quotes, of either kind, which a backslash keeps from ending it, without the
 * quotes. The text of the sheet then stands behind them. */
gbs_status gbsi_arff_quoted(gbsi_sheet *s, gbs_error *err);

#endif
