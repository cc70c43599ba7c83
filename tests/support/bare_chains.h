/* SPDX-License-Identifier: Apache-2.0 */
/* Chains without a run around them: a plan, a schedule, an executor, and files in memory. */
#ifndef GBSI_TESTS_BARE_CHAINS_H
#define GBSI_TESTS_BARE_CHAINS_H

#include "chains/executor.h"

typedef struct test_chains {
    gbs_model *model;
    gbsi_conditioned *conditioned;
    gbsi_graph *graph;
    gbsi_plan *plan;
    gbsi_schedule schedule;
    gbs_run_options options;
} test_chains;

/* @param model taken. @param extra NULL: edges of factors alone. */
void test_chains_set_up(test_chains *f, gbs_model *model, const gbsi_edges *extra,
                        const uint32_t *sequence, size_t n, gbsi_plan_options how,
                        gbs_run_options options);
void test_chains_tear_down(test_chains *f);

/* Makes a start of a chain.
 * @param x [n_variables] out. */
void test_chains_start_of(const test_chains *f, uint32_t chain, uint32_t *x);
/* Makes an executor of the plan with the scan of the options, with all chains started. */
void test_chains_start(const test_chains *f, gbsi_simd level, gbsi_pool *pool, uint64_t draw_room,
                       gbsi_executor *x);
/* Asserts that all chains of both are in the same states. */
void test_chains_same(const test_chains *f, const gbsi_executor *a, const gbsi_executor *b);

/* Makes an empty estimate of the executor's chains.
 * @param each_once whether a sweep updates every variable once. */
gbsi_estimate *test_chains_estimate(const test_chains *f, const gbsi_executor *x,
                                    gbs_estimator_kind kind, bool each_once);

/* A file in memory. */
typedef struct test_file {
    unsigned char *bytes;
    size_t n, at, capacity;
} test_file;

gbsi_sink test_file_sink(test_file *file);
gbsi_source test_file_source(test_file *file); /* GBS_ERR_FORMAT at its end */
void test_file_free(test_file *file);

#endif
