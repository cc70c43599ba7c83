/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that readers of UAI result files share. They read the task word and find the last
 * solution, which is the one that counts. */
#ifndef GBSI_ANSWERS_RESULT_H
#define GBSI_ANSWERS_RESULT_H

#include "text/text.h"

#define GBSI_LN10 2.302585092994045684

/* State number of a state of which only the label is known. */
#define GBSI_NO_NUMBER UINT32_MAX

/* Moves to the solution after the last -BEGIN-, if there is one, and over a task word repeated
 * there. To be called behind the task word. */
void gbsi_result_last_solution(gbsi_text *text, gbsi_token task);

/* Skips the number of evidence samples, 1, which files of 2010 and 2011 have before the
 * solution. The number is recognised if the tokens are one solution only without it. It is a
 * deviation, which only lenient reading accepts.
 * @param fits tells whether the remaining tokens are exactly one solution.
 * @param expected names the number that stands there otherwise, for the message: "the number of
 *   variables". */
gbs_status gbsi_result_skip_samples(gbsi_text *text, bool (*fits)(gbsi_text text),
                                    const char *expected, gbs_error *err);

/* Reads the solution of MAR that begins behind the task word. On failure marginals is unchanged. */
gbs_status gbsi_marginals_solution(gbsi_text *text, gbsi_token task, gbs_marginals *marginals,
                                   gbs_error *err);

/* Readers of the results that this library writes as CSV and JSON. */
bool gbsi_result_is_table(const gbsi_text *text);
gbs_status gbsi_result_read_table(gbsi_text *text, gbs_result *result, gbs_error *err);

/* @return the number of variables of marginals or of a state. */
static inline uint32_t gbsi_result_size(const gbs_result *r)
{
    return r->task == GBS_TASK_MAR ? r->marginals.n_variables : r->n;
}

/* Makes an array of pointers to the n texts of a pool. Each text ends with 0, and copies of the
 * texts stand behind the pointers. */
gbs_status gbsi_result_texts(const char *pool, size_t n_bytes, size_t n, char ***texts,
                             gbs_error *err);

/* Keeps n variables of marginals or of states, in the order of kept. */
gbs_status gbsi_result_keep(gbs_result *r, const uint32_t *kept, uint32_t n, gbs_error *err);

/* Puts the n cells of marginals, with their errors and labels, into the order of cells[0 .. n). */
gbs_status gbsi_result_keep_cells(gbs_result *r, const size_t *cells, size_t n, gbs_error *err);

#endif
