/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts text in which lines matter. A token ends where its line ends, and the search for the next
 * token stays in the line. */
#ifndef GBSI_TEXT_LINES_H
#define GBSI_TEXT_LINES_H

#include "text/text.h"

/* Finds the next line that is not empty, and makes it a text whose tokens know their places in
 * the file. Moves `text` behind the line.
 * @return false if the file has no more lines. */
bool gbsi_line_next(gbsi_text *text, gbsi_text *line);

/* These functions read tokens as the functions of text.h do, but their messages name the end of
 * a line. Numbers must be finite; *n_underflow counts numbers that round to zero. */
gbs_status gbsi_line_integer(gbsi_text *line, const char *expected, uint64_t max, uint64_t *value,
                             gbs_error *err);
gbs_status gbsi_line_number(gbsi_text *line, const char *expected, double *value,
                            size_t *n_underflow, gbs_error *err);
/* Fails with "found ..., expected ..." at a token of the line, or at its end if the token is
 * empty. */
gbs_status gbsi_line_unexpected(const gbsi_text *line, gbsi_token token, const char *expected,
                                gbs_error *err);
/* Fails unless only blanks follow in the line. */
gbs_status gbsi_line_expect_end(gbsi_text *line, const char *last, gbs_error *err);

/* Reads the number of items that follow the line, and compares it with the bytes left in `text`.
 * @param text the text, positioned behind the line.
 * @param least_bytes smallest number of bytes of an item, including its separator. */
gbs_status gbsi_line_count(const gbsi_text *text, gbsi_text *line, const char *expected,
                           size_t least_bytes, uint64_t *value, gbs_error *err);

/* A file of these formats need not mention all variables, so the size of a file limits the number
 * of variables only loosely. The limit is GBSI_FREE_VARIABLES, plus GBSI_VARIABLES_PER_BYTE for
 * each byte. An edge of a large graph takes about 15 bytes. A large graph is therefore within the
 * limit if one variable in a hundred has an edge. With this limit, a model takes at most a few
 * hundred times the memory of its file. */
enum { GBSI_FREE_VARIABLES = 4096, GBSI_VARIABLES_PER_BYTE = 16 };
uint64_t gbsi_most_variables(const gbsi_text *text);
gbs_status gbsi_check_variables(const gbsi_text *text, gbsi_token token, uint64_t n,
                                gbs_error *err);
/* Warns about a file that other programs may read, but that gbsi_check_variables() would refuse.
 * The caller must have written the whole file. */
void gbsi_tell_most_variables(const gbs_write_options *options, const gbs_output *output,
                              uint64_t n);

#endif
