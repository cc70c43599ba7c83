/* SPDX-License-Identifier: Apache-2.0 */
/* What herding chooses for a user and says of itself: bins and threshold where options leave them
 * open, the period that a run is in, the draw to use. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "draw/herding.h"
#include "gibbsite/generate.h"
#include "gibbsite/info.h"
#include "gibbsite/map.h"
#include "support/runs.h"
#include "support/small_models.h"

static gbs_run_options options_of(int draw, uint64_t chains, uint64_t sweeps)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.draw = draw;
    options.chains = chains;
    options.sweeps = sweeps;
    options.burn_in = 16;
    return options;
}

/* ---- bins ------------------------------------------------------------------------------------ */

static void bins_of_a_budget(void **state)
{
    (void)state;
    gbs_run_options options = options_of(GBS_DRAW_DISCRETIZED, 16, 100);
    assert_int_equal(gbsi_draw_bins(&options, 10), 10); /* sqrt(T) */
    options.sweeps = 1000000;
    assert_int_equal(gbsi_draw_bins(&options, 10), 64);
    options.max_updates = 16 * 10 * 36;
    assert_int_equal(gbsi_draw_bins(&options, 10), 6); /* what is allowed is less */
    options = options_of(GBS_DRAW_DISCRETIZED, 16, 0);
    assert_int_equal(gbsi_draw_bins(&options, 10), 50); /* sqrt(1 / (0.005^2 16)) */
    options.target_error = 0.02;
    assert_int_equal(gbsi_draw_bins(&options, 10), 12);
    options = options_of(GBS_DRAW_BOUNDED_ERROR, 16, 100);
    assert_int_equal(gbsi_draw_bins(&options, 10), 0); /* has none */
    options.keys = GBS_KEYS_BINS;
    options.threshold = 3.0;
    assert_int_equal(gbsi_draw_bins(&options, 10), 5); /* weights are bounded by 1 + c */
    options.bins = 7;
    assert_int_equal(gbsi_draw_bins(&options, 10), 7);
}

/* ---- the threshold --------------------------------------------------------------------------- */

/* A run that finds its threshold is the run with that threshold given, bit by bit. */
static void auto_is_its_threshold(void **state)
{
    (void)state;
    static const struct {
        test_family family;
        uint32_t n;
        uint64_t chains;
        int keys;
    } cases[] = {{TEST_ISING, 8, 1, 0},   {TEST_ISING, 8, 16, 0},
                 {TEST_ISING, 20, 3, 0},  {TEST_MIXED, 9, 16, 0},
                 {TEST_MIXED, 24, 16, 0}, {TEST_ISING, 20, 16, GBS_KEYS_BINS},
                 {TEST_ISING, 8, 70, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i += test_share(1, 3)) {
        gbs_model *model = test_model(cases[i].family, 3, cases[i].n);
        gbs_run_options options = options_of(GBS_DRAW_BOUNDED_ERROR, cases[i].chains, 256);
        test_choose_draw(&options, GBS_DRAW_BOUNDED_ERROR, cases[i].keys, 0);
        options.threshold = GBS_THRESHOLD_AUTO;
        test_answer found = test_run_once(model, NULL, &options);
        assert_true(found.report.threshold >= 0.0);
        assert_int_equal(found.report.sweeps, 256);
        options.threads = 2;
        test_answer again = test_run_once(model, NULL, &options);
        assert_string_equal(found.digest, again.digest);
        options.threshold = found.report.threshold;
        test_answer given = test_run_once(model, NULL, &options);
        assert_string_equal(found.digest, given.digest);
        assert_int_equal(found.report.updates, given.report.updates);
        assert_int_equal(found.report.bins, given.report.bins);
        test_drop(&found);
        test_drop(&again);
        test_drop(&given);
        gbs_model_free(model);
    }
}

static double worst(const test_answer *found, const double *exact)
{
    double most = 0.0;
    for (size_t i = 0; i < found->n; ++i) {
        most = fmax(most, fabs(found->p[i] - exact[i]));
    }
    return most;
}

/* One weight for all of what a variable sees is far off, rule pre: chance must be let in. And where
 * every context has its own, herding is as good as chance for a short run. */
static void finds_what_is_needed(void **state)
{
    (void)state;
    gbs_model *model = test_model(TEST_ISING, 2, 8);
    double exact[16];
    test_exact(model, NULL, exact);
    gbs_run_options options = options_of(GBS_DRAW_BOUNDED_ERROR, 16, 4096);
    options.estimator = GBS_ESTIMATOR_COUNT;
    options.threshold = GBS_THRESHOLD_AUTO;
    test_answer full = test_run_once(model, NULL, &options);
    assert_true(full.report.threshold <= 1.0);
    options.keys = GBS_KEYS_ONE;
    test_answer one = test_run_once(model, NULL, &options);
    assert_true(one.report.threshold >= 0.5);
    options.threshold = 0.0;
    test_answer herded = test_run_once(model, NULL, &options);
    assert_true(worst(&one, exact) < 0.6 * worst(&herded, exact));
    test_drop(&full);
    test_drop(&one);
    test_drop(&herded);
    gbs_model_free(model);
}

static void refusals(void **state)
{
    (void)state;
    gbs_model *model = test_model(TEST_ISING, 1, 8);
    uint32_t x[8];
    gbs_error err = {0};
    gbs_run_options options = options_of(GBS_DRAW_BOUNDED_ERROR, 16, 255);
    options.threshold = GBS_THRESHOLD_AUTO;
    test_refused(model, &options, "at least --sweeps 256");
    options.threshold = -0.5;
    test_refused(model, &options, "--threshold -0.5");
    options = options_of(GBS_DRAW_HERDED, 16, 256);
    options.threshold = GBS_THRESHOLD_AUTO;
    test_refused(model, &options, "applies with --draw bounded-error");
    options = options_of(GBS_DRAW_BOUNDED_ERROR, 16, 256);
    options.threshold = GBS_THRESHOLD_AUTO;
    assert_int_equal(gbs_map(model, NULL, &options, NULL, x, NULL, &err), GBS_ERR_ARGUMENT);
    gbs_model_free(model);
}

/* ---- periods --------------------------------------------------------------------------------- */

static void expect(const gbs_model *model, int draw, uint64_t sweeps, const char *period,
                   const char *advised)
{
    gbs_run_options options = options_of(draw, 16, sweeps);
    options.estimator = GBS_ESTIMATOR_COUNT;
    options.bins = draw == GBS_DRAW_DISCRETIZED ? 16 : 0;
    test_answer found = test_run_once(model, NULL, &options);
    assert_non_null(found.report.period);
    if (strcmp(found.report.period, period) != 0 ||
        strcmp(found.report.advised_draw, advised) != 0) {
        fail_msg("draw %d, %d sweeps: %s, use %s; expected %s, use %s", draw, (int)sweeps,
                 found.report.period, found.report.advised_draw, period, advised);
    }
    test_drop(&found);
}

/* Yamashita & Suzuki (2019), figure 2: like random draws while weights are many for the sweeps,
 * then faster, then on a plateau. */
static void periods(void **state)
{
    (void)state;
    const gbs_generate_complete_options all = {
        .variables = 12, .coupling_spread = 0.5, .random_field = 0.5, .seed = 3};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_complete(&all, &model, NULL), GBS_OK);
    expect(model, GBS_DRAW_HERDED_COMPLETE, 128, "gibbs-like", "herded");
    expect(model, GBS_DRAW_HERDED, 128, "gibbs-like", "herded-shared");
    expect(model, GBS_DRAW_HERDED_SHARED, 128, "gibbs-like", "discretized");
    expect(model, GBS_DRAW_DISCRETIZED, 1024, "fast", "discretized");
    expect(model, GBS_DRAW_ONE_BIN, 128, "fast", "one-bin");
    expect(model, GBS_DRAW_ONE_BIN, 65536, "plateau", "random");
    expect(model, GBS_DRAW_HERDED, 65536, "fast", "herded");
    gbs_model_free(model);
}

/* Weights of a chain: dense ones all, hashed ones as met. */
static void weights(void **state)
{
    (void)state;
    const gbs_generate_ring_options ring = {.variables = 6, .coupling = 0.4, .random_field = 0.3};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ring(&ring, &model, NULL), GBS_OK);
    static const struct {
        int draw;
        uint64_t bins;
        double least, most;
    } cases[] = {{GBS_DRAW_RANDOM, 0, 0, 0},
                 {GBS_DRAW_CUD, 0, 0, 0},
                 {GBS_DRAW_HERDED, 0, 24, 24},
                 {GBS_DRAW_HERDED_SHARED, 0, 18, 18}, /* one coupling: by the sum */
                 {GBS_DRAW_HERDED_COMPLETE, 0, 150, 192},
                 {GBS_DRAW_DISCRETIZED, 5, 30, 30},
                 {GBS_DRAW_RANDOMLY_DISCRETIZED, 5, 36, 36},
                 {GBS_DRAW_ONE_BIN, 0, 6, 6},
                 {GBS_DRAW_BOUNDED_ERROR, 0, 24, 24}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        gbs_run_options options = options_of(cases[i].draw, 16, 1023);
        options.bins = cases[i].bins;
        test_answer found = test_run_once(model, NULL, &options);
        if (found.report.n_weights < cases[i].least || found.report.n_weights > cases[i].most) {
            fail_msg("draw %d: %g weights", cases[i].draw, found.report.n_weights);
        }
        assert_int_equal(found.report.bins, cases[i].bins);
        test_drop(&found);
    }
    gbs_model_free(model);
}

/* Sixteen bins: at most 100 bytes per variable and chain, and info names every draw. */
static void bytes_of_bins(void **state)
{
    (void)state;
    const gbs_generate_ising_options grid = {
        .side = {100, 100, 1}, .torus = 1, .coupling = 0.2, .random_field = 0.3, .seed = 1};
    gbs_model *model = NULL;
    gbs_error err = {0};
    assert_int_equal(gbs_generate_ising(&grid, &model, &err), GBS_OK);
    for (uint64_t chains = 1; chains <= 16; chains += 15) {
        gbs_run_options options = options_of(GBS_DRAW_DISCRETIZED, chains, 100);
        gbs_draw_sizes sizes = {.size = sizeof sizes};
        options.bins = 16;
        assert_int_equal(gbs_model_draw_sizes(model, NULL, &options, &sizes, &err), GBS_OK);
        assert_int_equal(sizes.n, GBS_DRAW_CUD + 1);
        assert_false(sizes.stopped);
        for (uint32_t d = GBS_DRAW_HERDED; d < sizes.n; ++d) {
            assert_true(sizes.bytes[d] > 0 && sizes.bytes[d] < UINT64_MAX);
        }
        const double each = (double)sizes.bytes[GBS_DRAW_DISCRETIZED] / (1e4 * (double)chains);
        assert_true(each >= 64.0 && each <= 100.0);
    }
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_of_a_budget),
        cmocka_unit_test(auto_is_its_threshold),
        cmocka_unit_test(finds_what_is_needed),
        cmocka_unit_test(refusals),
        cmocka_unit_test(periods),
        cmocka_unit_test(weights),
        cmocka_unit_test(bytes_of_bins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
