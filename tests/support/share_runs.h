/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of models that ranks share, and of one process, which the suites of shares compare. Ranks
 * are threads (thread_ranks.h). Include cmocka.h first. */
#ifndef GBSI_TESTS_SHARE_RUNS_H
#define GBSI_TESTS_SHARE_RUNS_H

#include <stdbool.h>

#include "base/digest.h"
#include "gibbsite/gibbsite.h"
#include "gibbsite/share.h"
#include "support/runs.h"

#define TEST_MOST_RANKS 4

/* The scans, numbers of chains and divisions that the suites go through; splashes have a suite of
 * their own. */
extern const int test_share_scans[4];
extern const uint64_t test_share_chains[5];
extern const gbs_parts test_share_parts[3];

typedef struct test_share_problem {
    const gbs_model *model;
    const gbs_evidence *evidence;
    gbs_run_options options;
    gbs_parts parts;
    uint32_t scattered;    /* variables are given to ranks in turn, so many at once (1: as bad as it
                              gets); 0: by parts */
    const char *folder;    /* shares go through files here; NULL: through messages */
    bool gives;            /* draws, rather than marginals */
    const char *from, *to; /* checkpoints; NULL: none */
    uint64_t stop_after;   /* the pass; 0: its end */
} test_share_problem;

typedef struct test_share_answer {
    gbs_status status;
    gbs_error err;
    gbs_report report;
    size_t n_warnings;
    size_t n; /* given to `sink` */
    char told[33];
} test_share_answer;

typedef struct test_share_job {
    test_share_problem problem;
    gbsi_digest *digest; /* of what rank 0 was told */
    test_answer *answer; /* NULL, or the marginals too, out */
    const gbs_partition *partition;
    gbs_share *share[TEST_MOST_RANKS];
    test_share_answer of[TEST_MOST_RANKS];
} test_share_job;

/* @param n_ranks 0: one process. */
test_share_job test_run_job(const test_share_problem *p, uint32_t n_ranks, uint32_t n_threads);
/* @return the marginals of such a run, which must not fail. */
test_answer test_run_shared(const test_share_problem *p, uint32_t n_ranks, uint32_t n_threads);
/* Fails if ranks have other bits than one process.
 * @return whether it was run: a run that one process refuses must be refused here too. */
bool test_check_shares(const test_share_problem *p, uint32_t n_ranks, uint32_t n_threads);
/* The same, with the job of one process at hand. */
bool test_check_against(const test_share_job *one, const test_share_problem *p, uint32_t n_ranks,
                        uint32_t n_threads);
void test_check_refused(const test_share_problem *p, uint32_t n_ranks, gbs_status status,
                        const char *why);

#endif
