/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that readers of UAI result files share: the task word, and solutions of which the
 * last one counts. */
#ifndef GBSI_ANSWERS_RESULT_H
#define GBSI_ANSWERS_RESULT_H

#include "text/text.h"

#define GBSI_LN10 2.302585092994045684

/* The value in place of a state that is known by its label alone. */
#define GBSI_NO_NUMBER UINT32_MAX

/* Call it behind the task word. It moves to the solution after the last -BEGIN-, if there is one,
 * and over the task word if the word is repeated there. */
void gbsi_result_last_solution(gbsi_text *text, gbsi_token task);

/* In files of 2010 and 2011 the number of evidence samples, 1, stands before the solution. Moves
 * over it if the remaining tokens fit a solution only then (lenient).
 * @param fits tells whether the tokens from here on are one solution and nothing else.
 * @param expected what stands there otherwise, for the message: "the number of variables". */
gbs_status gbsi_result_skip_samples(gbsi_text *text, bool (*fits)(gbsi_text text),
                                    const char *expected, gbs_error *err);

/* Reads the solution of MAR, from behind the task word. On failure marginals is unchanged. */
gbs_status gbsi_marginals_solution(gbsi_text *text, gbsi_token task, gbs_marginals *marginals,
                                   gbs_error *err);

/* Readers of the results that this library writes: CSV and JSON. */
bool gbsi_result_is_table(const gbsi_text *text);
gbs_status gbsi_result_read_table(gbsi_text *text, gbs_result *result, gbs_error *err);

/* The variables of marginals or of a state. */
static inline uint32_t gbsi_result_size(const gbs_result *r)
{
    return r->task == GBS_TASK_MAR ? r->marginals.n_variables : r->n;
}

/* Makes an array of pointers to the n texts of a pool, each ended by 0, with a copy of the texts
 * behind it. */
gbs_status gbsi_result_texts(const char *pool, size_t n_bytes, size_t n, char ***texts,
                             gbs_error *err);

/* Keeps n variables of marginals or of states, in the order of kept. */
gbs_status gbsi_result_keep(gbs_result *r, const uint32_t *kept, uint32_t n, gbs_error *err);

/* Puts the cells of marginals, with their errors and labels, into the order of cells: [n]. */
gbs_status gbsi_result_keep_cells(gbs_result *r, const size_t *cells, size_t n, gbs_error *err);

#endif
