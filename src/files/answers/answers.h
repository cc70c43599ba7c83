/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that accompany a model, as the program reads and writes them beyond the public headers.
 *
 * Called by the program, which links the static library; the shared library does not show them.
 * For NULL in place of an object or output, and for an index that does not exist, calls that return
 * a status return GBS_ERR_ARGUMENT; the others return 0, or do nothing.
 */
#ifndef GBSI_ANSWERS_ANSWERS_H
#define GBSI_ANSWERS_ANSWERS_H

#include "gibbsite/io.h"

/* ---- result_write.c ---------------------------------------------------------------------- */

/* Writes the line of a UAI result that follows the task word; each marginal is scaled to sum to
 * one. @param base of the logarithm in a PR result. */
void gbsi_result_write_solution(gbs_output *output, const gbs_result *result, gbs_log_base base);

#endif
