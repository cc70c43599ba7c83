/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that readers of UAI result files share. A file may have several solutions, of which the
 * last one is read. */
#ifndef GBSI_ANSWERS_RESULT_H
#define GBSI_ANSWERS_RESULT_H

#include "text/text.h"

#define GBSI_LN10 2.302585092994045684

/* State number of a state of which only the label is known. */
#define GBSI_NO_NUMBER UINT32_MAX

/* Moves `text` behind the last -BEGIN-, if the text has one, and then behind the task word, if the
 * task word is repeated there. The caller must have read the first task word. */
void gbsi_result_last_solution(gbsi_text *text, gbsi_token task);

/* Skips a 1 before the solution. Files of 2010 and 2011 have the number of evidence samples in this
 * place. The 1 is recognised by this test: the remaining tokens are one solution only if the 1 is
 * left out. The 1 is a deviation from the format, and only lenient reading accepts it.
 * @param fits function that tells whether the remaining tokens are exactly one solution.
 * @param expected for the message, the name of the number that the format has in this place: "the
 * number of variables". */
gbs_status gbsi_result_skip_samples(gbsi_text *text, bool (*fits)(gbsi_text text),
                                    const char *expected, gbs_error *err);

/* Reads the solution of MAR that begins behind the task word. After a failure `marginals` is
 * unchanged. */
gbs_status gbsi_marginals_solution(gbsi_text *text, gbsi_token task, gbs_marginals *marginals,
                                   gbs_error *err);

/* @return the number of variables in the marginals or in the assignment. */
static inline uint32_t gbsi_result_size(const gbs_result *r)
{
    return r->task == GBS_TASK_MAR ? r->marginals.n_variables : r->n;
}

/* Copies the n texts of a pool, each of which ends with 0. The result is one block of memory with n
 * pointers, followed by the texts to which they point. */
gbs_status gbsi_result_texts(const char *pool, size_t n_bytes, size_t n, char ***texts,
                             gbs_error *err);

/* Reduces a result to n of its variables, in the order of kept[0 .. n). */
gbs_status gbsi_result_keep(gbs_result *r, const uint32_t *kept, uint32_t n, gbs_error *err);

/* Reduces marginals, with their errors and labels, to n of their cells, in the order of cells[0 ..
 * n). */
gbs_status gbsi_result_keep_cells(gbs_result *r, const size_t *cells, size_t n, gbs_error *err);

#endif
