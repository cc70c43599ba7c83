/* SPDX-License-Identifier: Apache-2.0 */
/* A scan and a draw are added by a file and a row each. Linked here are the library and, from
 * tests/door, a scan and two draws more: what is made from the tables of rows is compiled with
 * theirs, and nothing else knows of them. They are found by name, run like all others, and are
 * right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "options/needs.h"
#include "plan/draw.h"
#include "scan/scan.h"
#include "support/runs.h"
#include "support/small_models.h"

static gbs_run_options options_of(const char *scan, const char *draw, uint64_t chains)
{
    gbs_error err = {0};
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.chains = chains;
    options.sweeps = chains == 1 ? 2048 : 256;
    options.burn_in = 64;
    options.seed = 20261122;
    assert_int_equal(gbs_option_set(&options, "scan", scan, &err), GBS_OK);
    assert_int_equal(gbs_option_set(&options, "draw", draw, &err), GBS_OK);
    return options;
}

static void found_by_name(void **state)
{
    (void)state;
    const gbs_run_options options = options_of("there-and-back", "turned", 1);
    assert_true(options.scan == FIRST_NEW_SCAN && options.draw == FIRST_NEW_DRAW);
    assert_non_null(strstr(gbs_option_find("scan")->choices, "|there-and-back|"));
    assert_non_null(strstr(gbs_option_find("draw")->choices, "|turned"));
    assert_true(gbsi_scan_traits(options.scan) == GBSI_SCAN_REPEATS);
    assert_true(gbsi_draw_traits(&options) == (GBSI_DRAW_EXACT | GBSI_DRAW_HEATS));
}

/* Both estimators, one chain and many. */
static size_t check_case(const test_case *c, const char *scan, const char *draw)
{
    gbs_model *model = c->make();
    gbs_evidence *evidence = test_observe(model, c->observe);
    test_answer exact = test_exactly(model, evidence);
    size_t n_compared = 0;
    for (int estimator = 0; estimator <= GBS_ESTIMATOR_COUNT; ++estimator) {
        for (uint64_t chains = 1; chains <= 16; chains += 15) {
            gbs_run_options options = options_of(scan, draw, chains);
            options.estimator = estimator;
            test_answer found = test_run_once(model, evidence, &options);
            n_compared += test_close(c->name, &options, &found, &exact);
            test_drop(&found);
        }
    }
    test_drop(&exact);
    gbs_evidence_free(evidence);
    gbs_model_free(model);
    return n_compared;
}

static void right(void **state)
{
    (void)state;
    size_t n_compared = 0;
    for (size_t i = 0; i < n_test_cases; i += test_share(1, 5)) {
        if (test_cases[i].crossable) {
            n_compared += check_case(&test_cases[i], "there-and-back", "random");
            n_compared += check_case(&test_cases[i], "chromatic", "turned");
            n_compared += check_case(&test_cases[i], "chromatic", "looking");
        }
    }
    assert_true(n_compared > test_share(1000, 150));
}

/* The same bits on every instruction set, and other ones than those of the rows beside them. */
static void bits(void **state)
{
    (void)state;
    gbs_model *model = test_model(TEST_MIXED, 3, 20);
    for (uint64_t chains = 3; chains <= 16; chains += 13) {
        gbs_run_options options = options_of("there-and-back", "turned", chains);
        test_same_bits(model, NULL, &options);
        const uint64_t both = test_trajectory(model, NULL, options, chains, 2);
        assert_true(both == test_trajectory(model, NULL, options, 19, 2));
        options = options_of("there-and-back", "random", chains);
        assert_true(both != test_trajectory(model, NULL, options, chains, 2));
        options = options_of("systematic", "turned", chains);
        assert_true(both != test_trajectory(model, NULL, options, chains, 2));
        options = options_of("there-and-back", "looking", chains);
        test_same_bits(model, NULL, &options);
        assert_true(both != test_trajectory(model, NULL, options, chains, 2));
    }
    gbs_model_free(model);
}

/* A splash draws a variable without the states of its neighbours: a draw that reads these is
 * refused, and told that it keeps weights only where it does. */
static void states_that_are_not_there(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"looking", "--draw: looking reads the states of a variable's neighbours, and the splash "
                    "scan draws it given others every time: use --scan chromatic"},
        {"herded", "--draw: herded keeps a weight for each state of a variable's neighbours, and "
                   "the splash scan draws it given others every time: use keys that look at the "
                   "conditional alone: --keys bins (or one)"}};
    gbs_model *model = test_model(TEST_ISING, 1, 8);
    for (size_t i = 0; i < 2; ++i) {
        gbs_error err = {0};
        gbs_run *run = NULL;
        const gbs_run_options options = options_of("splash", cases[i][0], 1);
        assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_ERR_ARGUMENT);
        assert_string_equal(err.message, cases[i][1]);
    }
    gbs_model_free(model);
}

/* What a draw or a scan does not have is refused with the names of those that have it. */
static void options_of_others(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_run *run = NULL;
    gbs_model *model = test_model(TEST_ISING, 1, 8);
    gbs_run_options options = options_of("there-and-back", "turned", 1);
    options.origin = 1;
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_ERR_ARGUMENT);
    assert_string_equal(err.message, "--origin applies with --scan systematic only");
    options.origin = 0;
    options.herd_rule = GBS_HERD_PRE;
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_ERR_ARGUMENT);
    assert_string_equal(err.message, "--herd-rule applies with --draw herded, herded-shared, "
                                     "herded-complete, discretized, one-bin, "
                                     "randomly-discretized, bounded-error only");
    options.herd_rule = GBS_HERD_RULE_AUTO;
    options.keys = GBS_KEYS_NEIGHBOURS;
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "--keys applies with --draw herded, herded-shared, "));
    gbs_model_free(model);
}

/* Somebody who asks for the default of an option of herding is told what gbs_run_new() cannot see:
 * draws that keep no weights have no such option, whoever added them. */
static void options_of_herding(void **state)
{
    (void)state;
    static const char *const herding[] = {"keys",     "herd-rule", "herd-init", "bin-edge",
                                          "bin-rule", "bins",      "threshold", "dummy-edges"};
    for (int draw = 0; gbsi_draw_name(draw) != NULL; ++draw) {
        const char *name = gbsi_draw_name(draw);
        const gbs_run_options options = options_of("chromatic", name, 1);
        const bool herds = (gbsi_draw_traits(&options) & GBSI_DRAW_HERDS) != 0;
        for (size_t i = 0; i < sizeof herding / sizeof herding[0]; ++i) {
            gbs_error err = {0};
            char refusal[96];
            (void)snprintf(refusal, sizeof refusal,
                           "--%s applies to herded draws only; choose one with --draw", herding[i]);
            assert_int_equal(gbsi_draw_takes_herding(draw, herding[i], &err),
                             herds ? GBS_OK : GBS_ERR_ARGUMENT);
            assert_string_equal(err.message, herds ? "" : refusal);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_by_name),
        cmocka_unit_test(right),
        cmocka_unit_test(bits),
        cmocka_unit_test(states_that_are_not_there),
        cmocka_unit_test(options_of_others),
        cmocka_unit_test(options_of_herding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
