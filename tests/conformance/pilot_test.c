/* SPDX-License-Identifier: Apache-2.0 */
/* --scan auto: on easy models the chromatic scan with its very bits; where hard zeros stop single
 * variables, splashes that converge to exact answers; a choice that depends on nothing but the
 * model, the options and the seed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/machine.h"
#include "gibbsite/dobrushin.h"
#include "gibbsite/generate.h"
#include "gibbsite/map.h"
#include "support/runs.h"
#include "support/small_models.h"

/* As in conformance_test.c. */
#define LIMIT    6.0
#define ROUNDING 2e-5

static gbs_run_options automatic(void)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.scan = GBS_SCAN_AUTO;
    options.seed = 20261121;
    return options;
}

static size_t check_close(const char *what, const test_answer *found, const test_answer *exact)
{
    size_t n = 0;
    for (size_t i = 0; i < found->n; ++i) {
        const double error = fabs(found->p[i] - exact->p[i]);
        const double mcse = isnan(found->mcse[i]) ? 0.0 : found->mcse[i];
        if (!(error <= LIMIT * mcse + ROUNDING)) {
            fail_msg("%s: entry %zu is %.6f +- %.6f, exact %.6f", what, i, found->p[i], mcse,
                     exact->p[i]);
        }
        n += mcse > 0.0;
    }
    return n;
}

/* The options that name what was chosen. */
static gbs_run_options named(const gbs_run_options *options, const gbs_report *report)
{
    gbs_run_options by_name = *options;
    const gbs_trial *chosen = &report->trial[report->chosen];
    by_name.scan = GBS_SCAN_CHROMATIC;
    if (chosen->width > 0) {
        by_name.scan = GBS_SCAN_SPLASH;
        by_name.width = chosen->width;
        by_name.splash_size = chosen->splash_size;
        by_name.grow = GBS_GROW_FIFO;
    }
    return by_name;
}

/* ---- deterministic networks ----------------------------------------------------------------- */

static void add_table(gbs_builder *b, uint32_t n, const uint32_t *scope, const double *p)
{
    uint32_t table = 0;
    double logw[16];
    const size_t n_entries = (size_t)1 << n;
    for (size_t i = 0; i < n_entries; ++i) {
        logw[i] = p[i] > 0.0 ? log(p[i]) : -INFINITY;
    }
    assert_int_equal(gbs_builder_add_table(b, n_entries, logw, &table, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(b, n, scope, table, NULL), GBS_OK);
}

static gbs_builder *binary(uint32_t n)
{
    gbs_builder *b = NULL;
    uint32_t *two = calloc(n, sizeof *two);
    for (uint32_t v = 0; v < n; ++v) {
        two[v] = 2;
    }
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, n, two, NULL, NULL), GBS_OK);
    free(two);
    return b;
}

static gbs_model *finish(gbs_builder *b)
{
    gbs_model *model = NULL;
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

/* Running parities of noisy bits: s_i = s_(i-1) xor b_i, bits 0..n-1, sums n..2n-1. */
static gbs_model *parity_chain(uint32_t n)
{
    static const double parity[] = {1, 0, 0, 1, 0, 1, 1, 0};
    test_stream s = {.seed = 1};
    gbs_builder *b = binary(2 * n);
    for (uint32_t i = 0; i < n; ++i) {
        const double p = test_uniform(&s, 0.2, 0.8);
        const uint32_t scope[] = {n + i - 1, i, n + i};
        add_table(b, 1, &i, (double[]){1.0 - p, p});
        if (i == 0) {
            add_table(b, 2, scope + 1, (double[]){1, 0, 0, 1});
        } else {
            add_table(b, 3, scope, parity);
        }
    }
    add_table(b, 1, (uint32_t[]){2 * n - 1}, (double[]){0.9, 0.1});
    return finish(b);
}

/* n causes of probability 1e-5, n effects: a noisy or of two causes each, with a leak and failures
 * of 1e-4. All effects are seen by a sensor that is nearly always right, and most are on. */
static gbs_model *noisy_or(uint32_t n)
{
    const double q = 1e-4;
    gbs_builder *b = binary(2 * n);
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t scope[] = {i, (i + 1) % n, n + i};
        add_table(b, 1, &i, (double[]){1.0, 1e-5});
        add_table(b, 3, scope, (double[]){1 - q, q, q, 1 - q, q, 1 - q, q * q, 1 - q * q});
        add_table(b, 1, scope + 2, i % 6 == 5 ? (double[]){1.0, 1e-3} : (double[]){1e-3, 1.0});
    }
    return finish(b);
}

/* A Bayesian network in which all but the roots are functions of two earlier variables, and the
 * last few are seen through noise. */
static gbs_model *functions(uint32_t n_roots, uint32_t n, uint64_t seed)
{
    test_stream s = {.seed = seed};
    gbs_builder *b = binary(n);
    for (uint32_t v = 0; v < n_roots; ++v) {
        const double p = test_uniform(&s, 0.3, 0.7);
        add_table(b, 1, &v, (double[]){1.0 - p, p});
    }
    for (uint32_t v = n_roots; v < n; ++v) {
        const uint32_t near = v < 6 ? v : 6;
        const uint32_t first = v - 1 - test_below(&s, near - 1);
        uint32_t second = v - 1 - test_below(&s, near);
        second = second == first ? v - near : second;
        const uint32_t scope[] = {first, second == first ? first - 1 : second, v};
        const uint32_t values = 1 + test_below(&s, 14); /* not constant */
        double p[8];
        for (uint32_t i = 0; i < 4; ++i) {
            p[2 * i] = (values >> i & 1u) == 0;
            p[2 * i + 1] = 1.0 - p[2 * i];
        }
        add_table(b, 3, scope, p);
    }
    for (uint32_t v = n - 3; v < n; ++v) {
        add_table(b, 1, &v, (double[]){0.3, 0.7});
    }
    return finish(b);
}

/* The first in which nothing turns out to be constant. */
static gbs_model *functions_that_move(uint32_t n_roots, uint32_t n)
{
    for (uint64_t seed = 1;; ++seed) {
        gbs_model *model = functions(n_roots, n, seed);
        test_answer exact = test_exactly(model, NULL);
        double least = 1.0;
        for (size_t i = 0; i < exact.n; ++i) {
            least = exact.p[i] < least ? exact.p[i] : least;
        }
        test_drop(&exact);
        if (least > 0.01) {
            return model;
        }
        gbs_model_free(model);
    }
}

typedef struct network {
    const char *name;
    gbs_model *model;
    bool has_zeros;
} network;

static const network *networks(size_t *n)
{
    static network all[5];
    all[0] = (network){"parity chain of 8", parity_chain(8), true};
    all[1] = (network){"parity chain of 200", parity_chain(200), true};
    all[2] = (network){"noisy or of 12", noisy_or(12), false};
    all[3] = (network){"noisy or of 60", noisy_or(60), false};
    all[4] = (network){"functions", functions_that_move(6, 19), true};
    *n = 5;
    return all;
}

static void check_converges(const network *net)
{
    test_answer exact = test_exactly(net->model, NULL);
    gbs_run_options options = automatic();
    options.target_error = test_scale_asked() == TEST_SMALL ? 0.03 : 0.01;
    options.max_updates = test_share(100000000, 10000000);
    test_answer found = test_run_once(net->model, NULL, &options);
    if (found.report.converged != 1 || strcmp(found.report.scan, "splash") != 0) {
        fail_msg("%s: scan %s, %s", net->name, found.report.scan, found.report.verdict);
    }
    (void)check_close(net->name, &found, &exact);
    const gbs_trial *chosen = &found.report.trial[found.report.chosen];
    assert_true(chosen->reaches_zeros || !net->has_zeros);
    gbs_run_options by_name = named(&options, &found.report);
    test_answer again = test_run_once(net->model, NULL, &by_name);
    assert_string_equal(found.digest, again.digest);
    assert_int_equal(again.report.n_trials, 0);
    assert_null(again.report.scan_reason);
    options.scan = GBS_SCAN_CHROMATIC;
    test_answer single = test_run_once(net->model, NULL, &options);
    assert_true(!net->has_zeros || !single.report.converged);
    assert_true(net->has_zeros ||
                chosen->ess_per_operation > 2.0 * found.report.trial[0].ess_per_operation);
    test_drop(&single);
    test_drop(&again);
    test_drop(&found);
    test_drop(&exact);
}

/* They are what single variables cannot answer and auto does, with the bits of what it names. */
static void deterministic_networks_converge(void **state)
{
    (void)state;
    size_t n = 0;
    const network *all = networks(&n);
    for (size_t m = 0; m < n; ++m) {
        if (m % test_share(1, 2) == 0) { /* at small scale one of each kind */
            check_converges(&all[m]);
        }
        gbs_model_free(all[m].model);
    }
}

/* ---- support by blocks ---------------------------------------------------------------------- */

/* A chain of n pairs with a table of their own each, softly coupled: one component. */
static gbs_model *chain_of_pairs(uint32_t n, const double *pair)
{
    gbs_builder *b = binary(2 * n);
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t scope[] = {2 * i, 2 * i + 1};
        add_table(b, 2, scope, pair);
        if (i > 0) {
            assert_int_equal(gbs_builder_add_ising(b, 2 * i - 1, 2 * i, 0.3, NULL), GBS_OK);
        }
    }
    return finish(b);
}

/* Far more states than are enumerated, but each zero concerns two variables. */
static void blocks_tell_the_support(void **state)
{
    (void)state;
    gbs_run_options options = automatic();
    options.target_error = test_scale_asked() == TEST_SMALL ? 0.03 : 0.01;
    gbs_model *model = chain_of_pairs(40, (double[]){0.3, 0.2, 0.0, 0.5});
    test_answer exact = test_exactly(model, NULL);
    test_answer found = test_run_once(model, NULL, &options);
    assert_true(found.report.converged);
    assert_string_equal(found.report.scan, "chromatic");
    assert_true(check_close("implications", &found, &exact) > 100);
    test_drop(&found);
    test_drop(&exact);
    gbs_model_free(model);
    model = chain_of_pairs(40, (double[]){0.4, 0.0, 0.0, 0.6});
    exact = test_exactly(model, NULL);
    found = test_run_once(model, NULL, &options);
    assert_true(found.report.converged);
    assert_string_equal(found.report.scan, "splash");
    (void)check_close("equalities", &found, &exact);
    test_drop(&found);
    options.scan = GBS_SCAN_CHROMATIC;
    found = test_run_once(model, NULL, &options);
    assert_non_null(strstr(found.report.verdict, "split the support"));
    assert_string_equal(found.report.stop, "support");
    test_drop(&found);
    options.scan = GBS_SCAN_SPLASH; /* a pair at a time will do */
    options.splash_size = 2;
    found = test_run_once(model, NULL, &options);
    assert_true(found.report.converged);
    (void)check_close("equalities, pair by pair", &found, &exact);
    test_drop(&found);
    test_drop(&exact);
    gbs_model_free(model);
}

/* ---- all models ----------------------------------------------------------------------------- */

static void every_model(void **state)
{
    (void)state;
    static const uint64_t chains[] = {16, 3, 1, 20};
    size_t n_compared = 0;
    for (size_t m = 0; m < n_test_cases; m += test_share(1, 5)) {
        gbs_model *model = test_cases[m].make();
        gbs_evidence *evidence = test_observe(model, test_cases[m].observe);
        test_answer exact = test_exactly(model, evidence);
        gbs_run_options options = automatic();
        options.chains = chains[m % 4];
        options.estimator = (int)(m / 2 % 2);
        options.lattice = GBS_LATTICE_NEVER;
        options.sweeps = 4096;
        options.burn_in = 64;
        options.max_updates = 10000000;
        test_answer found = test_run_once(model, evidence, &options);
        n_compared += check_close(test_cases[m].name, &found, &exact);
        gbs_run_options by_name = named(&options, &found.report);
        test_answer again = test_run_once(model, evidence, &by_name);
        assert_string_equal(found.digest, again.digest);
        test_drop(&again);
        test_drop(&found);
        test_drop(&exact);
        gbs_evidence_free(evidence);
        gbs_model_free(model);
    }
    assert_true(n_compared > test_share(50, 10));
}

static gbs_model *torus(uint32_t side, double coupling)
{
    const gbs_generate_ising_options o = {
        .side = {side, side, 1}, .torus = 1, .coupling = coupling, .field = 0.1};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&o, &model, NULL), GBS_OK);
    return model;
}

/* The pilot of an easy model is a few passes of single variables. */
static void easy_models_try_nothing_else(void **state)
{
    (void)state;
    gbs_model *model = torus(60, 0.2);
    gbs_run_options options = automatic();
    options.target_error = 0.01;
    test_answer found = test_run_once(model, NULL, &options);
    assert_int_equal(found.report.n_trials, 1);
    assert_string_equal(found.report.scan, "chromatic");
    const double passes = (double)(found.report.sweeps + found.report.burn_in);
    assert_true((double)found.report.trial[0].passes <= 0.08 * passes);
    test_drop(&found);
    gbs_model_free(model);
}

static void same_choice_from_any_threads(void **state)
{
    (void)state;
    gbs_model *models[] = {torus(8, 0.5), torus(150, 0.35), parity_chain(100), noisy_or(30)};
    for (size_t m = 0; m < sizeof models / sizeof models[0]; ++m) {
        gbs_run_options options = automatic();
        options.sweeps = test_share(100, 20);
        options.burn_in = 10;
        options.threads = 1;
        test_answer one = test_run_once(models[m], NULL, &options);
        for (options.threads = 2; options.threads <= test_share(3, 2); ++options.threads) {
            test_answer many = test_run_once(models[m], NULL, &options);
            assert_string_equal(one.digest, many.digest);
            assert_int_equal(one.report.n_trials, many.report.n_trials);
            assert_int_equal(one.report.chosen, many.report.chosen);
            for (uint32_t i = 0; i < one.report.n_trials; ++i) {
                assert_true(one.report.trial[i].ess_per_operation ==
                            many.report.trial[i].ess_per_operation);
            }
            test_drop(&many);
        }
        test_drop(&one);
        gbs_model_free(models[m]);
    }
}

/* The splashes of a trial have the size of those in runs without --splash-size, which is small
 * enough for splashes to grow side by side. */
static void size_is_that_of_runs(void **state)
{
    (void)state;
    gbs_model *model = noisy_or(600);
    gbs_run_options options = automatic();
    options.sweeps = 200;
    options.burn_in = 1;
    test_answer found = test_run_once(model, NULL, &options);
    assert_true(found.report.n_trials > 1);
    const uint32_t size = found.report.trial[1].splash_size;
    assert_int_equal(size, 1200 / (4 * options.splashes));
    options.scan = GBS_SCAN_SPLASH;
    options.grow = GBS_GROW_FIFO;
    options.width = found.report.trial[1].width;
    options.sweeps = 2;
    test_answer usual = test_run_once(model, NULL, &options);
    options.splash_size = size;
    test_answer typed = test_run_once(model, NULL, &options);
    assert_string_equal(usual.digest, typed.digest);
    test_drop(&typed);
    test_drop(&usual);
    test_drop(&found);
    gbs_model_free(model);
}

/* ---- where there is nothing to choose ------------------------------------------------------- */

static void nothing_to_choose(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_run *run = NULL;
    gbs_model *model = torus(6, 0.2);
    uint32_t x[36];
    gbs_run_options options = automatic();
    options.sweeps = 50;
    options.draw = GBS_DRAW_HERDED;
    test_answer found = test_run_once(model, NULL, &options);
    assert_string_equal(found.report.scan, "chromatic");
    assert_int_equal(found.report.n_trials, 0);
    assert_non_null(strstr(found.report.scan_reason, "do not support these options"));
    test_drop(&found);
    options = automatic();
    options.sweeps = 50;
    assert_int_equal(gbs_map(model, NULL, &options, NULL, x, NULL, &err), GBS_OK);
    options.width = 3;
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "applies with --scan splash"));
    options = automatic();
    options.memory_limit = gbsi_program_bytes() + (5 << 20);
    found = test_run_once(model, NULL, &options);
    assert_string_equal(found.report.scan, "chromatic");
    test_drop(&found);
    gbs_influences *influences = NULL;
    uint64_t length = 0;
    assert_int_equal(gbs_influences_new(model, NULL, NULL, &influences, &err), GBS_OK);
    assert_int_equal(gbs_pass_length(influences, &options, &length, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "a bound needs one given scan"));
    gbs_influences_free(influences);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deterministic_networks_converge),
        cmocka_unit_test(blocks_tell_the_support),
        cmocka_unit_test(every_model),
        cmocka_unit_test(easy_models_try_nothing_else),
        cmocka_unit_test(same_choice_from_any_threads),
        cmocka_unit_test(size_is_that_of_runs),
        cmocka_unit_test(nothing_to_choose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
