/* SPDX-License-Identifier: Apache-2.0 */
/* Partition functions by annealed importance sampling and by ladders of temperatures against exact
 * ones, over families of models, scans and numbers of chains; hard zeros; the same bits; what is
 * refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/machine.h"
#include "gibbsite/generate.h"
#include "gibbsite/log_z.h"
#include "simd/dispatch.h"
#include "support/runs.h"
#include "support/small_models.h"

static gbs_run_options options_of(uint64_t sweeps, uint64_t chains)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.temper = GBS_TEMPER_OFF;
    options.sweeps = sweeps;
    options.chains = chains;
    options.threads = 1;
    return options;
}

static gbs_log_z_report estimate(const gbs_model *model, const gbs_evidence *evidence,
                                 const gbs_run_options *options)
{
    gbs_error err = {0};
    gbs_log_z_report report = {.size = sizeof report};
    if (gbs_log_z(model, evidence, options, NULL, &report, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    return report;
}

/* Errors in units of the claimed one are standard normal, but for the skew of a mean of 64 weights:
 * some 200 of them stay within 5 and their mean square near 1. */
static void errors_are_as_claimed(void **state)
{
    (void)state;
    double squares = 0.0;
    unsigned n = 0;
    for (int family = 0; family < TEST_N_FAMILIES; ++family) {
        for (uint64_t seed = 1; seed <= test_share(6, 2); ++seed) {
            for (int scan = 0; scan < GBS_SCAN_SEQUENCE; ++scan) {
                gbs_error err = {0};
                double exact = 0.0;
                gbs_model *model = test_model((test_family)family, seed, 8);
                gbs_run_options options = options_of(400, 64);
                options.scan = scan;
                options.seed = seed;
                assert_int_equal(gbs_exact_log_z(model, NULL, NULL, &exact, &err), GBS_OK);
                const gbs_log_z_report found = estimate(model, NULL, &options);
                gbs_model_free(model);
                assert_int_equal(found.n_exact_variables, 0);
                if (found.ess < 32.0) {
                    assert_int_equal(found.converged, 0);
                    continue; /* said not to be trusted */
                }
                const double z = (found.log_z - exact) / (found.error + 1e-12);
                if (!(fabs(z) < 5.0)) {
                    fail_msg("%s %d, scan %d: %.9g +- %.2g, exact %.9g",
                             test_family_name((test_family)family), (int)seed, scan, found.log_z,
                             found.error, exact);
                }
                assert_true(found.lower_bound < exact);
                squares += z * z;
                ++n;
            }
        }
    }
    assert_true(n > test_share(150, 50));
    /* the deviation of the mean of n squares is sqrt(2/n), 0.1 */
    assert_true(fabs(squares / n - 1.0) < 0.5);
}

/* The mean weight is unbiased even with two temperatures: over many runs of few steps. */
static void weights_are_unbiased(void **state)
{
    (void)state;
    gbs_error err = {0};
    double exact = 0.0;
    gbs_model *model = test_model(TEST_MIXED, 3, 6);
    gbs_run_options options = options_of(2, 4096);
    assert_int_equal(gbs_exact_log_z(model, NULL, NULL, &exact, &err), GBS_OK);
    const gbs_log_z_report found = estimate(model, NULL, &options);
    assert_true(found.error < 0.2);
    assert_true(fabs(found.log_z - exact) < 4.0 * found.error);
    gbs_model_free(model);
}

/* The conformance table has hard zeros of every kind, split supports among them. */
static void hard_zeros(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_test_cases; i += test_share(1, 4)) {
        const test_case *c = &test_cases[i];
        gbs_error err = {0};
        double exact = 0.0;
        gbs_model *model = c->make();
        gbs_evidence *evidence = test_observe(model, c->observe);
        const gbs_run_options options = options_of(1000, 64);
        assert_int_equal(gbs_exact_log_z(model, evidence, NULL, &exact, &err), GBS_OK);
        const gbs_log_z_report found = estimate(model, evidence, &options);
        if (!(fabs(found.log_z - exact) < 5.0 * found.error + 1e-9)) {
            fail_msg("%s: %.9g +- %.2g, exact %.9g", c->name, found.log_z, found.error, exact);
        }
        gbs_evidence_free(evidence);
        gbs_model_free(model);
    }
}

/* Without --sweeps it works until the target is met, and says so. */
static void meets_its_target(void **state)
{
    (void)state;
    gbs_error err = {0};
    double exact = 0.0;
    gbs_model *model = test_model(TEST_ISING, 5, 12);
    gbs_run_options options = options_of(0, 16);
    options.target_error = test_scale_asked() == TEST_SMALL ? 0.15 : 0.02;
    assert_int_equal(gbs_exact_log_z(model, NULL, NULL, &exact, &err), GBS_OK);
    const gbs_log_z_report found = estimate(model, NULL, &options);
    assert_string_equal(found.stop, "target");
    assert_int_equal(found.converged, 1);
    assert_true(found.error <= options.target_error);
    assert_true(fabs(found.log_z - exact) < 5.0 * found.error);
    assert_true(found.low < found.log_z && found.log_z < found.high);
    options.sweeps = test_share(1 << 20, 1 << 15); /* whichever comes first */
    options.target_error = 0.2;
    assert_string_equal(estimate(model, NULL, &options).stop, "target");
    options.target_error = 0.02;
    options.sweeps = 4;
    assert_string_equal(estimate(model, NULL, &options).stop, "sweeps");
    options.sweeps = 0;
    options.method = GBS_METHOD_AUTO;
    const gbs_log_z_report summed = estimate(model, NULL, &options);
    assert_string_equal(summed.stop, "exact");
    assert_true(summed.converged == 1 && summed.error == 0.0);
    assert_true(fabs(summed.log_z - exact) < 1e-12 * (1.0 + fabs(exact)));
    gbs_model_free(model);
}

/* ---- ladders --------------------------------------------------------------------------------- */

static gbs_run_options ladders_of(uint64_t levels, uint64_t chains)
{
    static const uint64_t sweeps[] = {512, 2048, 16384};
    gbs_run_options options = options_of(sweeps[test_scale_asked()], chains);
    options.temper = levels;
    options.seed = 20261122;
    if (test_scale_asked() == TEST_SMALL) {
        options.burn_in = 256;
    }
    return options;
}

/* Every model of the table, over all legal states. Errors of eight batches and more of each ladder:
 * Student's t exceeds 6 once in 10^5. Their mean square is that of t, 1.1 and more, since the
 * larger of two errors is claimed below it. */
static void ladders_against_exact(void **state)
{
    (void)state;
    static const struct {
        uint64_t levels, chains;
    } shape[] = {{4, 4}, {2, 3}, {16, 2}, {5, 9}};
    double squares = 0.0;
    unsigned n = 0;
    for (size_t i = 0; i < n_test_cases; ++i) {
        const test_case *c = &test_cases[i];
        gbs_error err = {0};
        double exact = 0.0;
        gbs_model *model = c->make();
        gbs_evidence *evidence = test_observe(model, c->observe);
        assert_int_equal(gbs_exact_log_z(model, evidence, NULL, &exact, &err), GBS_OK);
        for (size_t s = 0; s < sizeof shape / sizeof shape[0]; ++s) {
            if ((i + s) % test_share(2, 8) != 0) {
                continue;
            }
            const gbs_run_options options = ladders_of(shape[s].levels, shape[s].chains);
            const gbs_log_z_report found = estimate(model, evidence, &options);
            if (found.n_exact_variables == found.n_free_variables) {
                continue;
            }
            assert_true(found.tempered && found.chains == shape[s].chains &&
                        found.temperatures == shape[s].levels && found.sweeps == options.sweeps);
            if (!(fabs(found.log_z - exact) <= 6.0 * found.error + 1e-6)) {
                fail_msg("%s, %u ladders of %u levels: %.9g +- %.2g, exact %.9g", c->name,
                         found.chains, (unsigned)found.temperatures, found.log_z, found.error,
                         exact);
            }
            const double z = (found.log_z - exact) / (found.error + 1e-6);
            squares += z * z;
            ++n;
        }
        gbs_evidence_free(evidence);
        gbs_model_free(model);
    }
    assert_true(n > test_share(30, 6));
    assert_true(squares / n < 2.0);
}

/* Left to itself: until the target is met, and by the rules of tempered runs. */
static void ladders_meet_their_target(void **state)
{
    (void)state;
    gbs_error err = {0};
    double exact = 0.0;
    gbs_model *model = test_model(TEST_ISING, 5, 12);
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    assert_int_equal(gbs_exact_log_z(model, NULL, NULL, &exact, &err), GBS_OK);
    const gbs_log_z_report found = estimate(model, NULL, &options);
    assert_string_equal(found.stop, "target");
    assert_true(found.tempered && found.converged == 1 && found.error <= 0.05);
    assert_true(found.chains >= 2 && found.round_trips >= 20 && found.valid_share == 1.0);
    assert_true(fabs(found.log_z - exact) < 5.0 * found.error);
    assert_true(found.low < exact && exact < found.high && isnan(found.lower_bound));
    options.chains = 1;
    options.temper = 4;
    options.sweeps = 4096;
    const gbs_log_z_report alone = estimate(model, NULL, &options);
    assert_non_null(strstr(alone.verdict, "one ladder"));
    gbs_model_free(model);
}

/* ---- any machine ----------------------------------------------------------------------------- */

static void assert_same_bits(const gbs_model *model, gbs_run_options options)
{
    const gbsi_simd best = gbsi_simd_force(GBSI_SIMD_AVX512);
    const gbs_log_z_report first = estimate(model, NULL, &options);
    for (int level = 0; level <= (int)best; ++level) {
        if (!gbsi_simd_has((gbsi_simd)level)) {
            continue;
        }
        (void)gbsi_simd_force((gbsi_simd)level);
        options.threads = 1 + (uint64_t)level % 3;
        const gbs_log_z_report again = estimate(model, NULL, &options);
        assert_memory_equal(&first.log_z, &again.log_z, sizeof first.log_z);
        assert_memory_equal(&first.error, &again.error, sizeof first.error);
    }
    (void)gbsi_simd_force(best);
}

/* Nor of the threads, nor of the instruction set. */
static void same_bits(void **state)
{
    (void)state;
    for (int family = 0; family < TEST_N_FAMILIES; ++family) {
        gbs_model *model = test_model((test_family)family, 2, 10);
        assert_same_bits(model, options_of(40, 40));
        gbs_run_options ladders = ladders_of(8, 3);
        ladders.sweeps = 64;
        assert_same_bits(model, ladders);
        gbs_model_free(model);
    }
}

static int stop_at_once(void *context, const gbs_progress *progress)
{
    (void)progress;
    return ++*(int *)context >= 1;
}

static void refused_and_stopped(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_log_z_report report = {.size = sizeof report};
    gbs_model *model = test_model(TEST_ISING, 1, 10);
    gbs_run_options options = options_of(10, 4);
    options.draw = GBS_DRAW_HERDED;
    assert_int_equal(gbs_log_z(model, NULL, &options, NULL, &report, &err), GBS_ERR_ARGUMENT);
    options.draw = GBS_DRAW_RANDOM;
    options.method = GBS_METHOD_MEAN_FIELD;
    assert_int_equal(gbs_log_z(model, NULL, &options, NULL, &report, &err), GBS_ERR_ARGUMENT);
    options.method = GBS_METHOD_SAMPLE;
    options.sweeps = 0;
    options.target_error = 1e-9;
    options.max_updates = 1; /* the pilot runs to its end nevertheless */
    assert_int_equal(gbs_log_z(model, NULL, &options, NULL, &report, &err), GBS_STOPPED);
    assert_string_equal(report.stop, "updates");
    assert_true(report.temperatures > 0 && isfinite(report.log_z) && report.converged == 0);
    options.max_updates = gbs_run_options_default().max_updates;
    int calls = 0;
    const gbs_run_callbacks callbacks = {.context = &calls, .progress = stop_at_once};
    assert_int_equal(gbs_log_z(model, NULL, &options, &callbacks, &report, &err), GBS_STOPPED);
    assert_string_equal(report.stop, "signal");
    gbs_model_free(model);
}

/* Annealing takes less memory than ladders: with limits between the two it takes their place where
 * the choice is the library's, and ladders asked for by number are refused. */
static void annealing_where_ladders_do_not_fit(void **state)
{
    (void)state;
    uint32_t n_refused = 0;
    uint32_t n_annealed = 0;
    uint32_t n_tempered = 0;
    gbs_model *model = NULL;
    const gbs_generate_ising_options grid = {.side = {24, 24, 1}, .coupling = 0.3};
    assert_int_equal(gbs_generate_ising(&grid, &model, NULL), GBS_OK);
    const uint64_t there = gbsi_program_bytes() + gbs_model_bytes(model);
    for (uint64_t more = 1 << 16; n_tempered == 0 && more < (1 << 26); more += 1 << 16) {
        gbs_error err = {0};
        gbs_log_z_report report = {.size = sizeof report};
        gbs_run_options options = options_of(2, 4);
        options.temper = GBS_TEMPER_AUTO;
        options.memory_limit = there + more;
        const gbs_status status = gbs_log_z(model, NULL, &options, NULL, &report, &err);
        if (status == GBS_ERR_LIMIT) {
            ++n_refused;
            continue;
        }
        assert_int_equal(status, GBS_OK);
        assert_true(isfinite(report.log_z));
        n_tempered += report.tempered != 0;
        n_annealed += report.tempered == 0;
        options.temper = 16;
        if (report.tempered == 0) {
            assert_int_equal(gbs_log_z(model, NULL, &options, NULL, &report, &err), GBS_ERR_LIMIT);
        }
    }
    assert_true(n_refused > 0 && n_annealed > 0 && n_tempered == 1);
    gbs_model_free(model);
}

/* It rises with every iteration and stays below; the options of chains have no effect. */
static void bound_is_below(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; ++seed) {
        double exact = 0.0;
        double bound[2];
        gbs_run_options options = options_of(400, 64);
        gbs_model *model = test_model(TEST_ISING, seed, 8);
        options.iterations = 1;
        options.temper = 4;
        assert_int_equal(gbs_log_z_bound(model, NULL, &options, NULL, &bound[0], NULL), GBS_OK);
        assert_int_equal(gbs_log_z_bound(model, NULL, NULL, NULL, &bound[1], NULL), GBS_OK);
        assert_int_equal(gbs_exact_log_z(model, NULL, NULL, &exact, NULL), GBS_OK);
        assert_true(bound[0] < bound[1] && bound[1] < exact);
        gbs_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_as_claimed),
        cmocka_unit_test(weights_are_unbiased),
        cmocka_unit_test(hard_zeros),
        cmocka_unit_test(meets_its_target),
        cmocka_unit_test(ladders_against_exact),
        cmocka_unit_test(ladders_meet_their_target),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(bound_is_below),
        cmocka_unit_test(refused_and_stopped),
        cmocka_unit_test(annealing_where_ladders_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
