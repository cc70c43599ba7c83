/* SPDX-License-Identifier: Apache-2.0 */
/* Memory limits: a limit equal to the prediction is allowed, and one byte less is refused, with the
 * figure. tests/cli/test_info.py compares predictions with the memory that a process takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/machine.h"
#include "base/test_scale.h"
#include "chains/tiles.h"
#include "drive/run_memory.h"
#include "gibbsite/gibbsite.h"
#include "gibbsite/info.h"
#include "gibbsite/log_z.h"
#include "gibbsite/map.h"

static gbs_model *grid(uint32_t side)
{
    const gbs_generate_ising_options o = {.side = {side, side, 1}, .coupling = 0.3, .field = 0.1};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&o, &model, NULL), GBS_OK);
    return model;
}

static gbs_run_options sampling(uint64_t chains, int estimator)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.chains = chains;
    options.estimator = estimator;
    return options;
}

static void test_limit_is_the_prediction(void **unused)
{
    (void)unused;
    gbs_model *model = grid(60);
    for (uint64_t chains = 1; chains <= 64; chains *= 8) {
        for (int estimator = 0; estimator <= GBS_ESTIMATOR_TRACES; ++estimator) {
            gbs_run_options options = sampling(chains, estimator);
            gbs_run *run = NULL;
            gbs_error err = {GBS_OK, ""};
            gbs_info info = {.size = sizeof info};
            char figure[40];
            assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_OK);
            const uint64_t said = gbs_run_report(run)->predicted_bytes;
            gbs_run_free(run);
            run = NULL;
            assert_int_equal(gbs_model_info(model, NULL, &options, &info, &err), GBS_OK);
            assert_true(info.run_bytes == said);
            options.memory_limit = said;
            assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_OK);
            gbs_run_free(run);
            run = NULL;
            options.memory_limit = said - 1;
            assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_ERR_LIMIT);
            assert_null(run);
            (void)snprintf(figure, sizeof figure, "(%llu bytes)", (unsigned long long)said);
            assert_non_null(strstr(err.message, figure));
            assert_null(strstr(err.message, "at least"));
        }
    }
    gbs_model_free(model);
}

/* The number of chains is halved until the run fits, but not below options.least_chains. The run
 * equals a run with this number of chains. */
static void fewer_chains(void **unused)
{
    (void)unused;
    gbs_model *model = grid(20);
    gbs_run_options options = sampling(64, GBS_ESTIMATOR_RAO_BLACKWELL);
    gbs_run *run = NULL;
    gbs_error err = {0};
    gbs_info info = {.size = sizeof info};
    options.sweeps = 10;
    options.chains = 48;
    assert_int_equal(gbs_model_info(model, NULL, &options, &info, &err), GBS_OK);
    options.chains = 64;
    options.memory_limit = info.run_bytes; /* the bytes of a run with sixteen chains side by side */
    options.least_chains = 40;
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_OK);
    const gbs_report *r = gbs_run_report(run);
    assert_true(r->chains == 40 && r->predicted_bytes == info.run_bytes);
    assert_int_equal(r->n_warnings, 1);
    assert_string_equal(r->warning[0],
                        "40 chains instead of 64, as many as the memory limit allows");
    gbs_run_free(run);
    options.least_chains = 1;
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_OK);
    assert_int_equal(gbs_run_report(run)->chains, 32);
    gbs_run_free(run);
    run = NULL;
    for (options.least_chains = 0; options.least_chains <= 49; options.least_chains += 49) {
        assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_ERR_LIMIT);
        assert_null(run);
    }
    options.least_chains = 65;
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_ERR_ARGUMENT);
    gbs_model_free(model);
}

/* Annealings take less memory; their number of chains is lowered in the same way. */
static void fewer_annealed_chains(void **unused)
{
    (void)unused;
    gbs_model *model = grid((uint32_t)test_share(40, 20));
    gbs_run_options options = gbs_run_options_default();
    gbs_map_report map = {.size = sizeof map};
    gbs_log_z_report log_z = {.size = sizeof log_z};
    uint32_t *state = malloc(gbs_model_n_variables(model) * sizeof *state);
    gbs_error err = {0};
    assert_non_null(state);
    options.method = GBS_METHOD_SAMPLE;
    options.chains = 4096;
    options.sweeps = 1;
    options.target_error = 1.0;
    options.memory_limit =
        gbsi_program_bytes() + gbs_model_bytes(model) + (test_share(24, 5) << 18);
    assert_int_equal(gbs_map(model, NULL, &options, NULL, state, &map, &err), GBS_ERR_LIMIT);
    options.least_chains = 1;
    assert_true(gbs_map(model, NULL, &options, NULL, state, &map, &err) >= 0);
    assert_in_range(map.chains, 1, 2048);
    options.target_error = 0.0;
    options.temper = GBS_TEMPER_OFF;
    assert_true(gbs_log_z(model, NULL, &options, NULL, &log_z, &err) >= 0);
    assert_in_range(log_z.chains, 1, 2048);
    free(state);
    gbs_model_free(model);
}

/* Ladders and their blocks take no more memory than was predicted, whether the user asked for
 * ladders or plain chains were replaced by ladders. */
static void test_ladders_are_foreseen(void **unused)
{
    (void)unused;
    const gbs_generate_bayes_options bayes = {
        .variables = 300, .parents = 3, .min_states = 2, .max_states = 4, .seed = 3};
    for (int kind = 0; kind < 2; ++kind) {
        gbs_model *model = kind == 0 ? grid(30) : NULL;
        if (model == NULL) {
            assert_int_equal(gbs_generate_bayes(&bayes, &model, NULL), GBS_OK);
        }
        for (uint64_t levels = 4; levels <= test_share(64, 16); levels *= 4) {
            gbs_run_options options = sampling(16, GBS_ESTIMATOR_RAO_BLACKWELL);
            gbs_run *run = NULL;
            options.temper = levels;
            options.chains = 3;
            options.burn_in = 260;
            options.sweeps = 16;
            options.threads = 1;
            assert_int_equal(gbs_run_new(model, NULL, &options, &run, NULL), GBS_OK);
            assert_int_equal(gbs_run_execute(run, NULL, NULL), GBS_OK);
            const uint64_t there = gbsi_program_bytes() + gbs_model_bytes(model);
            const uint64_t taken = there + (uint64_t)run->budget.own.most;
            assert_true(taken <= run->report.public.predicted_bytes);
            assert_true(run->memory.blocks > 0);
            gbs_run_free(run);
        }
        gbs_model_free(model);
    }
}

static gbs_status ignore_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                              const uint32_t *state, gbs_error *err)
{
    (void)context;
    (void)draw;
    (void)chain;
    (void)log_density;
    (void)state;
    (void)err;
    return GBS_OK;
}

/* Exact answers and draws take the predicted memory within one per cent, including the scratch
 * memory of threads. */
static void test_exact_is_foreseen(void **unused)
{
    (void)unused;
    const gbs_generate_ising_options o = {.side = {10, 60, 1}, .coupling = 0.3, .field = 0.1};
    const gbs_run_callbacks callbacks = {.size = sizeof callbacks, .draw = ignore_draw};
    gbs_model *model = NULL;
    uint64_t said[2] = {0, 0};
    assert_int_equal(gbs_generate_ising(&o, &model, NULL), GBS_OK);
    for (int draws = 0; draws < 2; ++draws) {
        for (uint32_t threads = 1; threads <= 4; threads += 3) {
            gbs_run_options options = gbs_run_options_default();
            gbs_run *run = NULL;
            options.threads = threads;
            options.sweeps = 2;
            options.chains = 1;
            const gbs_run_setup setup = {.model = model,
                                         .options = &options,
                                         .task = draws ? GBS_RUN_DRAWS : GBS_RUN_MARGINALS};
            assert_int_equal(gbs_run_new_with(&setup, &run, NULL), GBS_OK);
            assert_int_equal(gbs_run_execute(run, draws ? &callbacks : NULL, NULL), GBS_OK);
            assert_string_equal(run->report.public.stop, "exact");
            const uint64_t there = gbsi_program_bytes() + gbs_model_bytes(model);
            said[threads > 1] = run->report.public.predicted_bytes;
            assert_true(there + (uint64_t)run->budget.own.most <= said[threads > 1] / 100 * 101);
            gbs_run_free(run);
        }
        assert_true(said[1] > said[0] + 4 * (UINT64_C(1) << 18));
    }
    gbs_model_free(model);
}

/* A run that cannot fit is refused before a plan is made, from the memory of chains and estimates,
 * or from the model alone. gbs_model_info() with the same options still gives the figures. */
static void test_early(void **unused)
{
    (void)unused;
    gbs_model *model = grid(100);
    gbs_run_options options = sampling(4096, GBS_ESTIMATOR_RAO_BLACKWELL);
    gbs_run *run = NULL;
    gbs_error err = {GBS_OK, ""};
    gbs_info info = {.size = sizeof info};
    const uint64_t program =
        gbsi_program_bytes(); /* with a sanitizer, the program takes much memory */
    options.memory_limit = program + (100 << 20);
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_ERR_LIMIT);
    assert_non_null(strstr(err.message, "at least "));
    assert_int_equal(gbs_model_info(model, NULL, &options, &info, &err), GBS_OK);
    assert_true(info.run_bytes > (UINT64_C(800) << 20));
    assert_true(info.entry_limit < options.memory_limit / 8 && info.entry_limit > (70 << 20) / 8);
    options.chains = 1;
    options.memory_limit = gbsi_program_bytes();
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_ERR_LIMIT);
    assert_non_null(strstr(err.message, "at least"));
    gbs_model_free(model);
}

/* The figure of an early refusal is never above the prediction: a run that fits is never refused.
 */
static void test_early_is_below(void **unused)
{
    (void)unused;
    const gbs_generate_bayes_options o = {
        .variables = 3000, .parents = 2, .min_states = 2, .max_states = 7, .seed = 3};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_bayes(&o, &model, NULL), GBS_OK);
    for (uint64_t chains = 1; chains <= 200; chains += test_share(33, 99)) {
        for (int scan = 0; scan <= GBS_SCAN_PERMUTED; ++scan) {
            gbs_run_options options = sampling(chains, GBS_ESTIMATOR_RAO_BLACKWELL);
            gbs_run *run = NULL;
            options.scan = scan;
            assert_int_equal(gbs_run_new(model, NULL, &options, &run, NULL), GBS_OK);
            run->task.options.memory_limit = run->report.public.predicted_bytes;
            assert_int_equal(
                gbsi_run_check_model(&run->task.options, &run->task.problem, &run->budget, NULL),
                GBS_OK);
            assert_int_equal(
                gbsi_run_check_part(&run->task, &run->sampling.estimates, &run->budget, NULL),
                GBS_OK);
            assert_int_equal(gbsi_run_check(&run->task.options, &run->memory, &run->budget, NULL),
                             GBS_OK);
            gbs_run_free(run);
        }
    }
    gbs_model_free(model);
}

/* If all variables are observed, or the model is small enough for exact answers, no memory is
 * predicted for sampling, and the limit is not reached. */
static void test_nothing_to_sample(void **unused)
{
    (void)unused;
    gbs_model *model = grid(2);
    gbs_evidence *evidence = NULL;
    gbs_run_options options = gbs_run_options_default();
    gbs_info info = {.size = sizeof info};
    gbs_run *run = NULL;
    options.memory_limit = gbsi_program_bytes() + (20 << 20);
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, NULL), GBS_OK);
    assert_int_equal(gbs_run_report(run)->n_exact_variables, 4);
    gbs_run_free(run);
    assert_int_equal(gbs_evidence_new(model, &evidence, NULL), GBS_OK);
    for (uint32_t v = 0; v < 4; ++v) {
        assert_int_equal(gbs_evidence_observe(evidence, v, 1, NULL), GBS_OK);
    }
    assert_int_equal(gbs_model_info(model, evidence, &options, &info, NULL), GBS_OK);
    assert_int_equal(info.n_free, 0);
    gbs_draw_sizes sizes = {.size = sizeof sizes};
    assert_int_equal(gbs_model_draw_sizes(model, evidence, &options, &sizes, NULL), GBS_OK);
    assert_int_equal(sizes.n, 0);
    assert_true(info.run_bytes > 0 && info.exact_fits && info.entries == 0 && info.width == 0);
    gbs_evidence_free(evidence);
    gbs_model_free(model);
}

/* Bytes of the states and estimates of this many variables of two states; no memory is taken. */
static size_t bytes_of(uint32_t n_variables, uint32_t chains, gbs_estimator_kind kind)
{
    const gbsi_plan plan = {.n_slots = n_variables, .max_arity = 2, .value_bytes = 1};
    const gbsi_estimate_shape shape = {.n_slots = n_variables,
                                       .same_arity = 2,
                                       .n_chains = chains,
                                       .lanes = gbsi_lanes_of(chains),
                                       .n_groups = gbsi_groups_of(chains),
                                       .value_bytes = 1,
                                       .kind = kind,
                                       .each_once = true};
    size_t estimators = 0;
    assert_int_equal(gbsi_estimate_bytes(&shape, &estimators, NULL), GBS_OK);
    const gbs_run_options options = {.scan = GBS_SCAN_CHROMATIC, .chains = chains};
    const gbsi_executor_setting setting = {
        .pass = &gbsi_pass_tiles, .plan = &plan, .options = &options};
    return gbsi_executor_bytes(&setting, 1) + estimators;
}

/* Above 2^32 bytes, the bytes per variable are the same as below. All models have more than 2^28
 * places, above which totals are pooled over chains. */
static void test_many_variables_are_counted(void **unused)
{
    (void)unused;
    const gbs_estimator_kind kinds[] = {GBS_ESTIMATOR_RAO_BLACKWELL, GBS_ESTIMATOR_COUNT};
    for (int k = 0; k < 2; ++k) {
        const size_t some = bytes_of(5000000, 64, kinds[k]);
        const size_t each = (bytes_of(10000000, 64, kinds[k]) - some) / 5000000;
        const size_t many = bytes_of(100000000, 64, kinds[k]);
        assert_true(each >= 3 * 64); /* a state, and a sum of at least two bytes */
        assert_true(many > UINT32_MAX);
        assert_int_equal(many, some + each * 95000000);
    }
}

/* Memory that a caller reports counts towards the limit; a new figure replaces the figure before.
 */
static void test_bytes_of_the_caller(void **unused)
{
    (void)unused;
    gbs_model *model = grid(4);
    gbs_run_options options = sampling(4, GBS_ESTIMATOR_COUNT);
    gbs_run *run = NULL;
    gbs_error err = {GBS_OK, ""};
    options.sweeps = 10;
    options.memory_limit = gbsi_program_bytes() + (30 << 20);
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, NULL), GBS_OK);
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(gbs_run_count_bytes(run, 20 << 20, "draws", &err), GBS_OK);
        assert_int_equal(gbs_run_count_bytes(run, 40 << 20, "draws", &err), GBS_ERR_LIMIT);
        assert_non_null(strstr(err.message, "draws: 41943040 bytes more would exceed"));
    }
    assert_int_equal(gbs_run_count_bytes(run, SIZE_MAX, NULL, &err), GBS_ERR_LIMIT);
    assert_int_equal(gbs_run_count_bytes(run, 0, NULL, &err), GBS_OK);
    assert_int_equal(gbs_run_execute(run, NULL, &err), GBS_OK);
    gbs_run_free(run);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limit_is_the_prediction),
        cmocka_unit_test(fewer_chains),
        cmocka_unit_test(fewer_annealed_chains),
        cmocka_unit_test(test_ladders_are_foreseen),
        cmocka_unit_test(test_exact_is_foreseen),
        cmocka_unit_test(test_early),
        cmocka_unit_test(test_early_is_below),
        cmocka_unit_test(test_nothing_to_sample),
        cmocka_unit_test(test_many_variables_are_counted),
        cmocka_unit_test(test_bytes_of_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
