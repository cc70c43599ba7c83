/* SPDX-License-Identifier: Apache-2.0 */
/* Text in which lines matter: tokens end where their line does, and so does a search for more. */
#ifndef GBSI_IO_LINES_H
#define GBSI_IO_LINES_H

#include "io/text.h"

/* The next line with something on it, as a text of its own with the places of the file; text moves
 * behind it. false: the file has no more. */
bool gbsi_line_next(gbsi_text *text, gbsi_text *line);

/* As the calls of text.h, but the end of a line is called that. Numbers must be finite;
 * *n_underflow counts what rounds to zero. */
gbs_status gbsi_line_integer(gbsi_text *line, const char *expected, uint64_t max, uint64_t *value,
                             gbs_error *err);
gbs_status gbsi_line_number(gbsi_text *line, const char *expected, double *value,
                            size_t *n_underflow, gbs_error *err);
/* "found ..., expected ..." at a token of the line, or at its end if the token is empty. */
gbs_status gbsi_line_unexpected(const gbsi_text *line, gbsi_token token, const char *expected,
                                gbs_error *err);
/* Nothing but blanks may follow. */
gbs_status gbsi_line_expect_end(gbsi_text *line, const char *last, gbs_error *err);

/* A count of things that follow the line, of at least least_bytes each (their separator included).
 * text stands behind the line. */
gbs_status gbsi_line_count(const gbsi_text *text, gbsi_text *line, const char *expected,
                           size_t least_bytes, uint64_t *value, gbs_error *err);

/* Variables need not occur in such files, so that no count of theirs can be held against the bytes
 * of the file alone: it may be a million (2^20) more. */
uint64_t gbsi_most_variables(const gbsi_text *text);
gbs_status gbsi_check_variables(const gbsi_text *text, gbsi_token token, uint64_t n,
                                gbs_error *err);

#endif
