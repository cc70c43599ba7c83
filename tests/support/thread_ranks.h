/* SPDX-License-Identifier: Apache-2.0 */
/* Threads as the ranks of a run, so that tests need no MPI. */
#ifndef GBSI_TESTS_THREAD_RANKS_H
#define GBSI_TESTS_THREAD_RANKS_H

#include "gibbsite/ranks.h"

/* The work of a rank.
 * @param ranks of this rank. */
typedef gbs_status (*test_rank_work)(const gbs_ranks *ranks, void *context, gbs_error *err);

/* Runs the work in a thread of its own for each of the ranks 0 .. n - 1. If one fails, calls of
 * the others that wait for it fail with GBS_ERR_STATE. cmocka's assertions may be used on the first
 * rank only, which runs in the calling thread.
 * @param context of all ranks, shared.
 * @param err the message of the first failure, NULL allowed.
 * @return the status of the rank that failed first, or the largest of all. */
gbs_status test_on_ranks(uint32_t n, test_rank_work work, void *context, gbs_error *err);

#endif
