/* SPDX-License-Identifier: Apache-2.0 */
/* Marginal MAP: the exact answer, or the result of a search and a bound on the optimum. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/machine.h"
#include "base/memory.h"
#include "gibbsite/generate.h"
#include "gibbsite/gibbsite.h"
#include "gibbsite/map.h"
#include "reference/testing.h"

/* Spins in a chain, each linked to a spin of the query. Summing out the chain first couples all
 * spins of the query, in a table of 2^n entries; in another order every table has 8 entries. */
static gbs_model *comb(uint32_t n)
{
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t arity[64];
    assert_true(2 * n <= 64);
    for (uint32_t v = 0; v < 2 * n; ++v) {
        arity[v] = 2;
    }
    test_ok(gbs_builder_new(&b, NULL));
    test_ok(gbs_builder_add_variables(b, 2 * n, arity, NULL, NULL));
    test_draws_restart();
    for (uint32_t v = 0; v < n; ++v) {
        if (v + 1 < n) {
            test_ok(gbs_builder_add_ising(b, v, v + 1, test_below(200) / 100.0 - 1.0, NULL));
        }
        test_ok(gbs_builder_add_ising(b, v, n + v, test_below(200) / 100.0 - 1.0, NULL));
        test_ok(gbs_builder_add_field(b, v, test_below(100) / 50.0 - 1.0, NULL));
        test_ok(gbs_builder_add_field(b, n + v, test_below(100) / 50.0 - 1.0, NULL));
    }
    test_ok(gbs_builder_build(b, &model, NULL));
    gbs_builder_free(b);
    return model;
}

/* ln of the sum over the other variables, computed as ln Z with the query observed. */
static double weight_of(const gbs_model *model, uint32_t n, const uint32_t *query,
                        const uint32_t *state)
{
    gbs_evidence *e = NULL;
    double log_p = 0.0;
    test_ok(gbs_evidence_new(model, &e, NULL));
    for (uint32_t i = 0; i < n; ++i) {
        test_ok(gbs_evidence_observe(e, query[i], state[i], NULL));
    }
    test_ok(gbs_exact_log_z(model, e, NULL, &log_p, NULL));
    gbs_evidence_free(e);
    return log_p;
}

/* The search alone (method SAMPLE) on models that are also solved exactly: it finds the best state
 * of nearly all models, and its bound is never below the optimum. */
static void random_models(void **state)
{
    (void)state;
    uint32_t n_rounds = 0;
    uint32_t n_best = 0;
    test_draws_restart();
    for (uint32_t round = 0; round < 60; ++round) {
        gbs_model *model = test_random_model();
        const uint32_t n_variables = gbs_model_n_variables(model);
        gbs_run_options options = gbs_run_options_default();
        gbs_mmap_report exact = {.size = sizeof exact};
        gbs_mmap_report found = {.size = sizeof found};
        uint32_t query[TEST_MAX_VARIABLES];
        uint32_t best[TEST_MAX_VARIABLES];
        uint32_t x[TEST_MAX_VARIABLES];
        uint32_t n = 0;
        for (uint32_t v = n_variables; v-- > 0;) {
            if (test_below(2) == 0) {
                query[n++] = v;
            }
        }
        options.sweeps = 16;
        options.chains = 2;
        const gbs_status possible =
            gbs_mmap(model, NULL, &options, NULL, n, query, best, &exact, NULL);
        options.method = GBS_METHOD_SAMPLE;
        if (possible == GBS_OK) {
            test_ok(gbs_mmap(model, NULL, &options, NULL, n, query, x, &found, NULL));
            assert_string_equal(exact.stop, "exact");
            assert_true(exact.log_bound == exact.log_p);
            assert_true(found.log_p <= exact.log_p + 1e-9);
            assert_true(found.log_bound >= exact.log_p - 1e-9);
            assert_true(fabs(weight_of(model, n, query, x) - found.log_p) < 1e-9);
            ++n_rounds;
            n_best += found.log_p > exact.log_p - 1e-9;
        } else {
            assert_int_equal(possible, GBS_ERR_IMPOSSIBLE);
            assert_int_equal(gbs_mmap(model, NULL, &options, NULL, n, query, x, &found, NULL),
                             GBS_ERR_IMPOSSIBLE);
        }
        gbs_model_free(model);
    }
    assert_true(n_rounds > 30 && n_best * 10 >= n_rounds * 9);
}

/* With too little memory for 2^20 entries, the search finds the state that exact inference finds
 * with enough memory. */
static void beyond_memory(void **state)
{
    (void)state;
    enum { N = 20 };
    gbs_model *model = comb(N);
    uint32_t query[N];
    uint32_t best[N];
    uint32_t x[N];
    double log_p = 0.0;
    gbs_error err = {GBS_OK, ""};
    gbs_run_options options = gbs_run_options_default();
    gbs_mmap_report report = {.size = sizeof report};
    for (uint32_t i = 0; i < N; ++i) {
        query[i] = N + i;
    }
    if (gbs_exact_mmap(model, NULL, NULL, N, query, best, &log_p, &err) < 0) {
        fail_msg("%s", err.message);
    }
    options.memory_limit = gbsi_program_bytes() + 6000000; /* 2^20 entries are 8 388 608 bytes */
    options.chains = 2;
    options.sweeps = 64;
    options.method = GBS_METHOD_EXACT;
    assert_int_equal(gbs_mmap(model, NULL, &options, NULL, N, query, x, &report, &err),
                     GBS_ERR_LIMIT);
    options.method = GBS_METHOD_AUTO;
    if (gbs_mmap(model, NULL, &options, NULL, N, query, x, &report, &err) < 0) {
        fail_msg("%s", err.message);
    }
    assert_true(strcmp(report.stop, "settled") == 0 || strcmp(report.stop, "bound") == 0);
    assert_memory_equal(x, best, sizeof x);
    assert_true(fabs(report.log_p - log_p) < 1e-9);
    assert_true(report.log_bound >= log_p - 1e-9 && report.log_bound < log_p + 10.0);
    assert_true(report.n_sums >= N);
    options.budget_s = 0.001; /* time for a few sums */
    test_ok(gbs_mmap(model, NULL, &options, NULL, N, query, x, &report, NULL));
    assert_string_equal(report.stop, "budget");
    assert_true(report.n_sums < 10);
    assert_true(fabs(weight_of(model, N, query, x) - report.log_p) < 1e-9);
    options.memory_limit = 0; /* room for the tables of 2^20 entries, but not enough time */
    test_ok(gbs_mmap(model, NULL, &options, NULL, N, query, x, &report, NULL));
    assert_string_equal(report.stop, "budget");
    options.method = GBS_METHOD_EXACT;
    test_ok(gbs_mmap(model, NULL, &options, NULL, N, query, x, &report, NULL));
    assert_string_equal(report.stop, "exact");
    gbs_model_free(model);
}

static int stop_at_once(void *context, const gbs_progress *progress)
{
    (void)context;
    (void)progress;
    return 1;
}

/* If the sums do not fit either, the answer is a state and a bound; if the search is stopped, it is
 * a state. */
static void beyond_sums(void **state)
{
    (void)state;
    enum { SIDE = 20 };
    const gbs_generate_ising_options grid = {.side = {SIDE, SIDE, 1}, .coupling = 0.3};
    const gbs_map_callbacks callbacks = {.size = sizeof callbacks, .progress = stop_at_once};
    const uint32_t query[] = {7, 2};
    uint32_t x[2] = {9, 9};
    gbs_model *model = NULL;
    gbs_run_options options = gbs_run_options_default();
    gbs_mmap_report report = {.size = sizeof report};
    test_ok(gbs_generate_ising(&grid, &model, NULL));
    options.memory_limit = gbsi_program_bytes() + 8000000;
    options.chains = 2;
    options.sweeps = 16;
    test_ok(gbs_mmap(model, NULL, &options, NULL, 2, query, x, &report, NULL));
    assert_string_equal(report.stop, "limit");
    assert_true(isnan(report.log_p) && isfinite(report.log_bound));
    assert_true(x[0] < 2 && x[1] < 2);
    /* free spins bound ln Z from below; half of the edges, and all spins, bound ln Z from above */
    const double n_edges = 2.0 * SIDE * (SIDE - 1);
    assert_true(report.log_bound >= (SIDE * SIDE - 2) * log(2.0));
    assert_true(report.log_bound <= (SIDE * SIDE - 2) * log(2.0) + 0.3 * n_edges + 1e-9);
    assert_int_equal(gbs_mmap(model, NULL, &options, &callbacks, 2, query, x, &report, NULL),
                     GBS_STOPPED);
    assert_true(x[0] < 2 && x[1] < 2);
    gbs_model_free(model);
}

/* If any allocation fails, the call returns an error and does not change its outputs. */
static void no_memory(void **state)
{
    (void)state;
    gbs_model *model = comb(3);
    const uint32_t query[] = {3, 4, 5};
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.sweeps = 4;
    options.chains = 1;
    options.threads = 1;
    gbs_status status = GBS_ERR_MEMORY;
    for (uint64_t n = 0; status != GBS_OK; n = n < 60 ? n + 1 : n + n / 16) {
        uint32_t x[3] = {9, 9, 9};
        gbs_mmap_report report = {.size = sizeof report, .log_p = 7.0};
        gbsi_alloc_fail_after(n);
        status = gbs_mmap(model, NULL, &options, NULL, 3, query, x, &report, NULL);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK ||
                    (status == GBS_ERR_MEMORY && x[0] == 9 && x[2] == 9 && report.log_p == 7.0));
    }
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_models),
        cmocka_unit_test(beyond_memory),
        cmocka_unit_test(beyond_sums),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
