/* SPDX-License-Identifier: Apache-2.0 */
/* The combinations that the suites of ranks run, and checks that one process and ranks give the
 * same results. Include cmocka.h first. */
#ifndef GBSI_TESTS_RANKS_ALIKE_H
#define GBSI_TESTS_RANKS_ALIKE_H

#include "gibbsite/gibbsite.h"

extern const size_t test_n_rank_draws;
extern const int test_rank_estimators[2];

/* A short run. @param draw below test_n_rank_draws. @param estimator below 2. */
gbs_run_options test_rank_options(int scan, size_t draw, size_t estimator, uint64_t n_chains);
/* A short run of ladders of temperatures. @param turn which of the shapes: a lane a group; two
 * groups and a bit; more than sixteen ladders ... */
gbs_run_options test_ladder_options(size_t turn);
/* Makes a sequence with every variable at least once and some twice.
 * @param sequence [2 n] out.
 * @return its length. */
size_t test_rank_sequence(uint32_t n, uint32_t *sequence);

/* Asserts that numbers have the same bits; NaNs are equal.
 * @param what their name for the message: "estimate". */
void test_same_numbers(const double *a, const double *b, size_t n, const char *what);
/* @param a of one process. @param b of a rank. */
void test_same_report(const gbs_report *a, const gbs_report *b);

#endif
