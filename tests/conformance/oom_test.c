/* SPDX-License-Identifier: Apache-2.0 */
/* Every public call of a run with 0, 1, 2, ... requests for memory allowed until it succeeds: an
 * error each time, nothing crashed, outputs untouched (and under the address sanitizer, no leak).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/test_row.h"
#include "gibbsite/dobrushin.h"
#include "gibbsite/info.h"
#include "gibbsite/log_z.h"
#include "support/runs.h"
#include "support/small_models.h"

#define MOST_REQUESTS 100000

static gbs_run_options options_of(int method, uint64_t chains)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = method;
    options.chains = chains;
    options.sweeps = 70;
    return options;
}

/* A whole run and its marginals; GBS_OK if nothing failed. */
static gbs_status whole_run(const gbs_model *model, const gbs_evidence *evidence,
                            const gbs_run_options *options, double *p, gbs_error *err)
{
    gbs_run *run = NULL;
    gbs_status status = gbs_run_new(model, evidence, options, &run, err);
    if (status < 0) {
        assert_null(run);
        return status;
    }
    status = gbs_run_execute(run, NULL, err);
    if (status >= 0) {
        status = gbs_run_marginals(run, p, NULL, NULL, NULL, err);
    }
    gbs_run_free(run);
    return status;
}

/* One request fails in each run: the first, one `every` later, and so on. At other scales than the
 * full one every third or seventh of these, and other ones with the next call. */
static void check_runs(const test_case *c, const gbs_run_options *options, uint64_t every)
{
    static uint64_t n_calls = 0;
    const uint64_t share = test_scaled(1, 3, 7);
    const uint64_t step = share * every;
    gbs_error err = {0};
    gbs_model *model = c->make();
    gbs_evidence *evidence = NULL;
    const size_t n = gbs_model_state_offsets(model)[gbs_model_n_variables(model)];
    double *p = calloc(n + 1, sizeof *p);
    assert_non_null(p);
    assert_int_equal(gbs_evidence_new(model, &evidence, &err), GBS_OK);
    if (c->observe >= 0) {
        assert_int_equal(gbs_evidence_observe(evidence, (uint32_t)c->observe, 1, &err), GBS_OK);
    }
    uint64_t allowed = n_calls++ % share;
    test_row("%s, method %d, scan %d, draw %d, %d chains", c->name, options->method, options->scan,
             options->draw, (int)options->chains);
    for (; allowed < MOST_REQUESTS; allowed += step) {
        for (size_t i = 0; i < n; ++i) {
            p[i] = -1.0;
        }
        memset(&err, 0, sizeof err);
        gbsi_alloc_fail_after(allowed);
        const gbs_status status = whole_run(model, evidence, options, p, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        if (status >= 0) {
            break;
        }
        assert_int_equal(status, GBS_ERR_MEMORY);
        assert_int_equal(err.status, GBS_ERR_MEMORY);
        assert_true(strlen(err.message) > 0);
        for (size_t i = 0; i < n; ++i) {
            assert_true(p[i] == -1.0);
        }
    }
    assert_true(allowed > 5 && allowed < MOST_REQUESTS);
    gbs_evidence_free(evidence);
    gbs_model_free(model);
    free(p);
}

static void check_method(const test_case *c, int method, uint64_t chains)
{
    const gbs_run_options options = options_of(method, chains);
    check_runs(c, &options, 1);
}

static gbs_model *logical(void)
{
    return test_model(TEST_LOGICAL, 1, 8);
}

static void check_methods(const test_case *c)
{
    check_method(c, GBS_METHOD_SAMPLE, 16);
    check_method(c, GBS_METHOD_SAMPLE, 1);
    check_method(c, GBS_METHOD_MEAN_FIELD, 16);
    check_method(c, GBS_METHOD_EXACT, 16);
}

static void splashes(void **state)
{
    (void)state;
    static const char *const names[] = {"one-observed", "coloring", "mixed", "bayes-observed"};
    gbs_run_options options = options_of(GBS_METHOD_SAMPLE, 16);
    options.scan = GBS_SCAN_SPLASH;
    options.splash_size = 4;
    for (size_t i = 0; i < n_test_cases; ++i) {
        for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k) {
            if (strcmp(test_cases[i].name, names[k]) == 0) {
                options.locking = (int)k % 2;
                options.grow = k < 2 ? GBS_GROW_ADAPTIVE : GBS_GROW_RANDOM;
                options.adapt = k < 2 ? 3 : 0;
                check_runs(&test_cases[i], &options, 1);
            }
        }
    }
    options.draw = GBS_DRAW_DISCRETIZED; /* tables grow round by round */
    options.bins = 8;
    options.grow = GBS_GROW_RANDOM;
    options.adapt = 0;
    for (size_t i = 0; i < n_test_cases; ++i) {
        if (strcmp(test_cases[i].name, "mixed") == 0) {
            check_runs(&test_cases[i], &options, 1);
        }
    }
}

/* With a pilot of both scans. */
static void pilots(void **state)
{
    (void)state;
    gbs_run_options options = options_of(GBS_METHOD_SAMPLE, 3);
    options.scan = GBS_SCAN_AUTO;
    options.max_updates = 100000;
    for (size_t i = 0; i < n_test_cases; ++i) {
        if (strcmp(test_cases[i].name, "xor") == 0) {
            check_runs(&test_cases[i], &options, test_share(11, 37)); /* a race takes its time */
        }
    }
}

/* Models of few states: the support is enumerated in most of the runs. */
static void runs(void **state)
{
    (void)state;
    static const char *const names[] = {"one-observed", "coloring", "mixed", "bayes-observed"};
    const test_case clauses = {.name = "logical", .make = logical, .observe = -1};
    for (size_t i = 0; i < n_test_cases; ++i) {
        for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k) {
            if (strcmp(test_cases[i].name, names[k]) == 0) {
                check_methods(&test_cases[i]);
            }
        }
    }
    check_methods(&clauses);
}

/* Ladders of temperatures: collapse, soft zeros, blocks, levels that move, draws back. */
static void ladders(void **state)
{
    (void)state;
    static const char *const names[] = {"one-observed", "coloring", "mixed", "bayes-observed"};
    gbs_run_options options = options_of(GBS_METHOD_SAMPLE, 2);
    options.temper = 4;
    options.burn_in = 40; /* levels move once, a harder penalty may come */
    options.sweeps = 8;
    for (size_t i = 0; i < n_test_cases; ++i) {
        for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k) {
            if (strcmp(test_cases[i].name, names[k]) == 0) {
                options.chains = k % 2 == 0 ? 2 : 5; /* one lane at a time, and sixteen */
                check_runs(&test_cases[i], &options, 1);
            }
        }
    }
}

/* Of the report nothing is touched while ln Z fails. */
static void partition_functions(void **state)
{
    (void)state;
    for (uint64_t temper = GBS_TEMPER_OFF; temper <= 4; temper += 3) {
        gbs_model *model = test_model(TEST_MIXED, 1, 8);
        gbs_run_options options = options_of(GBS_METHOD_SAMPLE, 5);
        options.temper = temper;
        options.burn_in = 40;
        options.sweeps = 8;
        uint64_t allowed = 0;
        for (; allowed < MOST_REQUESTS; ++allowed) {
            gbs_error err = {0};
            gbs_log_z_report report = {.size = sizeof report, .log_z = -1.0};
            gbsi_alloc_fail_after(allowed);
            const gbs_status status = gbs_log_z(model, NULL, &options, NULL, &report, &err);
            gbsi_alloc_fail_after(UINT64_MAX);
            if (status >= 0) {
                break;
            }
            assert_int_equal(status, GBS_ERR_MEMORY);
            assert_true(report.log_z == -1.0 && strlen(err.message) > 0);
        }
        assert_true(allowed > 5 && allowed < MOST_REQUESTS);
        gbs_model_free(model);
    }
}

/* Weights dense and hashed, of phases, vectors and balances. */
static void herded_runs(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        int draw, keys, rule;
        double threshold;
    } rows[] = {{"one-observed", GBS_DRAW_HERDED, 0, 0, 1.0},
                {"mixed", GBS_DRAW_HERDED, 0, 0, 1.0},
                {"mixed", GBS_DRAW_HERDED_SHARED, 0, 0, 1.0},
                {"mixed", GBS_DRAW_HERDED_COMPLETE, 0, 0, 1.0},
                {"mixed", GBS_DRAW_DISCRETIZED, 0, 0, 1.0},
                {"one-observed", GBS_DRAW_DISCRETIZED, 0, GBS_HERD_PRE, 1.0},
                {"mixed", GBS_DRAW_ONE_BIN, 0, 0, 1.0},
                {"mixed", GBS_DRAW_RANDOMLY_DISCRETIZED, 0, 0, 1.0},
                {"mixed", GBS_DRAW_BOUNDED_ERROR, 0, 0, 1.0},
                {"mixed", GBS_DRAW_BOUNDED_ERROR, GBS_KEYS_BINS, 0, 1.0},
                {"one-observed", GBS_DRAW_BOUNDED_ERROR, 0, 0, GBS_THRESHOLD_AUTO},
                {"mixed", GBS_DRAW_CUD, 0, 0, 1.0}};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
        for (size_t i = 0; i < n_test_cases; ++i) {
            for (uint64_t chains = 1; chains <= 16; chains += 15) {
                gbs_run_options options = options_of(GBS_METHOD_SAMPLE, chains);
                test_choose_draw(&options, rows[r].draw, rows[r].keys, rows[r].rule);
                options.threshold = rows[r].threshold;
                options.sweeps = rows[r].threshold == GBS_THRESHOLD_AUTO ? 256
                                 : rows[r].draw == GBS_DRAW_CUD          ? 127
                                                                         : 70;
                options.burn_in = 4;
                if (strcmp(test_cases[i].name, rows[r].model) == 0) {
                    check_runs(&test_cases[i], &options, 1);
                }
            }
        }
    }
}

static void information(void **state)
{
    (void)state;
    gbs_model *model = test_model(TEST_MIXED, 1, 8);
    uint64_t allowed = 0;
    for (; allowed < MOST_REQUESTS; ++allowed) {
        gbs_error err = {0};
        gbs_info info = {.size = sizeof info};
        gbs_info untouched;
        memset(&info, 0x5a, sizeof info);
        info.size = sizeof info;
        memcpy(&untouched, &info, sizeof untouched);
        gbsi_alloc_fail_after(allowed);
        const gbs_status status = gbs_model_info(model, NULL, NULL, &info, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        if (status >= 0) {
            assert_int_equal(info.n_variables, 8);
            break;
        }
        assert_int_equal(status, GBS_ERR_MEMORY);
        assert_memory_equal(&info, &untouched, sizeof info);
    }
    assert_true(allowed > 5 && allowed < MOST_REQUESTS);
    gbs_model_free(model);
}

/* Whatever computes refuses an instruction set that does not exist. */
static void unknown_simd(void **state)
{
    (void)state;
    gbs_error err;
    gbs_model *model = test_cases[0].make();
    gbs_run *run = NULL;
    gbs_influences *influences = NULL;
    gbs_info info = {.size = sizeof info};
    double log_z = 0.0;
    assert_int_equal(setenv("GIBBSITE_SIMD", "sse9", 1), 0);
    assert_int_equal(gbs_run_new(model, NULL, NULL, &run, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "GIBBSITE_SIMD=sse9"));
    assert_int_equal(gbs_model_info(model, NULL, NULL, &info, NULL), GBS_ERR_ARGUMENT);
    assert_int_equal(gbs_exact_log_z(model, NULL, NULL, &log_z, NULL), GBS_ERR_ARGUMENT);
    assert_int_equal(gbs_influences_new(model, NULL, NULL, &influences, NULL), GBS_ERR_ARGUMENT);
    assert_int_equal(unsetenv("GIBBSITE_SIMD"), 0);
    assert_int_equal(gbs_exact_log_z(model, NULL, NULL, &log_z, NULL), GBS_OK);
    gbs_model_free(model);
}

/* What would not fit is refused with the figure, before it is taken. */
static void memory_limit(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_run *run = NULL;
    gbs_model *model = test_model(TEST_ISING, 1, 40);
    gbs_run_options options = options_of(GBS_METHOD_SAMPLE, 4096);
    options.memory_limit = 100000;
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_ERR_LIMIT);
    assert_non_null(strstr(err.message, "bytes"));
    assert_null(run);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs),
        cmocka_unit_test(splashes),
        cmocka_unit_test(pilots),
        cmocka_unit_test(ladders),
        cmocka_unit_test(partition_functions),
        cmocka_unit_test(herded_runs),
        cmocka_unit_test(information),
        cmocka_unit_test(memory_limit),
        cmocka_unit_test(unknown_simd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
