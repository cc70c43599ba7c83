/* SPDX-License-Identifier: Apache-2.0 */
/* Annealed search against enumeration, ground states of small spin glasses, the same bits. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gibbsite/generate.h"
#include "gibbsite/map.h"
#include "simd/dispatch.h"
#include "support/runs.h"
#include "support/small_models.h"

enum { MOST_VARIABLES = 64 };

static gbs_run_options options_of(uint64_t sweeps, uint64_t chains)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.sweeps = sweeps;
    options.chains = chains;
    options.threads = 1;
    return options;
}

static double density(const gbs_model *model, const uint32_t *x)
{
    return gbs_model_log_density(model, x);
}

/* Every family, both schedules, few and many chains: the largest log density there is. */
static void finds_the_largest(void **state)
{
    (void)state;
    int n_proved = 0;
    for (int family = 0; family < TEST_N_FAMILIES; ++family) {
        for (uint64_t seed = 1; seed <= 4; ++seed) {
            gbs_error err = {0};
            gbs_model *model = test_model((test_family)family, seed, 9);
            gbs_run_options options = options_of(400, seed % 2 == 0 ? 16 : 4);
            uint32_t exact[MOST_VARIABLES];
            uint32_t found[MOST_VARIABLES];
            double best = 0.0;
            gbs_map_report report = {.size = sizeof report};
            options.schedule = (int)(seed / 2 % 2);
            options.tau0 = family == TEST_PRECISE ? 40.0 : 2.0;
            assert_int_equal(gbs_exact_map(model, NULL, NULL, NULL, exact, &best, NULL, &err),
                             GBS_OK);
            if (gbs_map(model, NULL, &options, NULL, found, &report, &err) != GBS_OK) {
                fail_msg("%s", err.message);
            }
            const double slack = 1e-9 * (1.0 + fabs(best));
            assert_true(fabs(report.log_density - density(model, found)) < slack);
            if (!(fabs(report.log_density - best) < slack)) {
                fail_msg("%s %d: %.12g, the largest is %.12g",
                         test_family_name((test_family)family), (int)seed, report.log_density,
                         best);
            }
            assert_true(report.final_log_density <= report.log_density);
            assert_true(report.upper_bound >= best - 1e-12 * (1.0 + fabs(best)));
            assert_true(report.gap == 0.0 || report.gap == report.upper_bound - report.log_density);
            n_proved += report.gap == 0.0;
            assert_int_equal(report.n_exact_variables, 0);
            assert_int_equal(report.sweeps, 400);
            gbs_model_free(model);
        }
    }
    assert_true(n_proved > 0); /* the upper bound is equal to the largest in some */
}

/* Couplings of +-1 on a torus of 4 x 5: 2^20 states. */
static void ground_states_of_glasses(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2; ++seed) {
        test_stream s = {.seed = seed};
        gbs_builder *b = NULL;
        gbs_model *model = NULL;
        const uint32_t two = 2;
        uint32_t exact[20];
        uint32_t found[20];
        double best = 0.0;
        gbs_map_report report = {.size = sizeof report};
        const gbs_run_options options = options_of(300, 16);
        assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
        for (uint32_t v = 0; v < 20; ++v) {
            assert_int_equal(gbs_builder_add_variables(b, 1, &two, NULL, NULL), GBS_OK);
        }
        for (uint32_t v = 0; v < 20; ++v) {
            const uint32_t to[2] = {v / 5 * 5 + (v + 1) % 5, (v + 5) % 20};
            for (int d = 0; d < 2; ++d) {
                const double j = test_below(&s, 2) == 0 ? 1.0 : -1.0;
                assert_int_equal(gbs_builder_add_ising(b, v, to[d], j, NULL), GBS_OK);
            }
        }
        assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
        gbs_builder_free(b);
        assert_int_equal(gbs_exact_map(model, NULL, NULL, NULL, exact, &best, NULL, NULL), GBS_OK);
        assert_int_equal(gbs_map(model, NULL, &options, NULL, found, &report, NULL), GBS_OK);
        assert_true(fabs(report.log_density - best) < 1e-9);
        assert_true(fabs(density(model, found) - best) < 1e-9);
        gbs_model_free(model);
    }
}

typedef struct improvements {
    const gbs_model *model;
    double last;
    uint32_t n;
} improvements;

static gbs_status improved(void *context, double log_density, const uint32_t *x, gbs_error *err)
{
    improvements *i = context;
    (void)err;
    assert_true(log_density > i->last);
    assert_true(fabs(density(i->model, x) - log_density) < 1e-9 * (1.0 + fabs(log_density)));
    i->last = log_density;
    ++i->n;
    return GBS_OK;
}

/* Rounds until one finds nothing better; every improvement is told, with all variables. */
static void rounds_and_improvements(void **state)
{
    (void)state;
    gbs_model *model = NULL;
    const gbs_generate_ising_options grid = {
        .side = {6, 6, 1}, .coupling_spread = 1.0, .random_field = 0.3, .seed = 4};
    assert_int_equal(gbs_generate_ising(&grid, &model, NULL), GBS_OK);
    improvements i = {.model = model, .last = -INFINITY};
    const gbs_map_callbacks callbacks = {.context = &i, .improve = improved};
    const gbs_run_options options = options_of(0, 16);
    uint32_t found[36];
    gbs_map_report report = {.size = sizeof report};
    assert_int_equal(gbs_map(model, NULL, &options, &callbacks, found, &report, NULL), GBS_OK);
    assert_true(i.n >= 2 && i.last == report.log_density);
    assert_string_equal(report.stop, "settled");
    assert_true(report.rounds >= 3 && report.sweeps >= 64 + 256 + 1024);
    gbs_model_free(model);
}

/* Evidence is kept and small components are exact, whatever the chains do. */
static void evidence_and_components(void **state)
{
    (void)state;
    for (size_t c = 0; c < n_test_cases; ++c) {
        gbs_error err = {0};
        gbs_model *model = test_cases[c].make();
        gbs_evidence *evidence = test_observe(model, test_cases[c].observe);
        gbs_run_options options = options_of(50, 16);
        uint32_t exact[MOST_VARIABLES];
        uint32_t found[MOST_VARIABLES];
        double best = 0.0;
        gbs_map_report report = {.size = sizeof report};
        options.method = GBS_METHOD_AUTO;
        assert_true(gbs_model_n_variables(model) <= MOST_VARIABLES);
        assert_int_equal(gbs_exact_map(model, evidence, NULL, NULL, exact, &best, NULL, &err),
                         GBS_OK);
        assert_int_equal(gbs_map(model, evidence, &options, NULL, found, &report, &err), GBS_OK);
        assert_memory_equal(found, exact, gbs_model_n_variables(model) * sizeof *found);
        assert_true(report.log_density == best);
        assert_string_equal(report.stop, "exact");
        if (test_cases[c].observe >= 0) {
            assert_int_equal(found[test_cases[c].observe], 1);
        }
        gbs_evidence_free(evidence);
        gbs_model_free(model);
    }
}

/* A component of few states, whose tree is predicted to take too long, is annealed: nothing is said
 * to be proved. */
static void small_without_a_tree(void **state)
{
    (void)state;
    enum { N = 16 };
    const gbs_generate_complete_options spins = {
        .variables = N, .coupling_spread = 0.5, .field = 0.3, .seed = 3};
    gbs_model *model = NULL;
    uint32_t found[N];
    double best = 0.0;
    gbs_map_report report = {.size = sizeof report};
    gbs_run_options options = options_of(200, 16);
    options.method = GBS_METHOD_AUTO;
    options.budget_s = 0.001;
    assert_int_equal(gbs_generate_complete(&spins, &model, NULL), GBS_OK);
    assert_int_equal(gbs_exact_map(model, NULL, NULL, NULL, found, &best, NULL, NULL), GBS_OK);
    assert_int_equal(gbs_map(model, NULL, &options, NULL, found, &report, NULL), GBS_OK);
    assert_int_equal(report.n_exact_variables, 0);
    assert_true(fabs(report.log_density - best) < 1e-9 * fabs(best));
    gbs_model_free(model);
}

/* Forty spins all coupled, too many for a tree, beside five alone solved exactly. */
static void mixed_components(void **state)
{
    (void)state;
    enum { COUPLED = 40, ALL = 45 };
    gbs_error err = {0};
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    const uint32_t two = 2;
    uint32_t found[ALL];
    gbs_map_report report = {.size = sizeof report};
    gbs_run_options options = options_of(50, 16);
    options.method = GBS_METHOD_AUTO;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    for (uint32_t v = 0; v < ALL; ++v) {
        assert_int_equal(gbs_builder_add_variables(b, 1, &two, NULL, NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_field(b, v, v % 2 == 0 ? 0.5 : -0.25, NULL), GBS_OK);
        for (uint32_t u = 0; u < v && v < COUPLED; ++u) {
            assert_int_equal(gbs_builder_add_ising(b, u, v, 0.1, NULL), GBS_OK);
        }
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    if (gbs_map(model, NULL, &options, NULL, found, &report, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(report.n_exact_variables, ALL - COUPLED);
    const double pairs = COUPLED * (COUPLED - 1) * 0.05;
    assert_true(fabs(report.log_density - (pairs + 20 * 0.25 + 3 * 0.5 + 2 * 0.25)) < 1e-9);
    for (uint32_t v = 0; v < ALL; ++v) {
        assert_int_equal(found[v], v < COUPLED || v % 2 == 0);
    }
    gbs_model_free(model);
}

static void same_bits(void **state)
{
    (void)state;
    gbs_model *model = NULL;
    const gbs_generate_potts_options shape = {.rows = (uint32_t)test_share(20, 8),
                                              .columns = 15,
                                              .states = 3,
                                              .coupling = 0.7,
                                              .noise = 1.0,
                                              .seed = 3};
    const gbsi_simd best = gbsi_simd_force(GBSI_SIMD_AVX512);
    uint32_t first[300] = {0};
    double log_density = 0.0;
    assert_int_equal(gbs_generate_potts(&shape, &model, NULL), GBS_OK);
    for (uint64_t chains = 3; chains <= 40; chains += 37) {
        for (int i = 0; i < 4; ++i) {
            gbs_run_options options = options_of(test_share(10, 2), chains);
            uint32_t found[300] = {0};
            gbs_map_report report = {.size = sizeof report};
            options.threads = i < 2 ? 1 + 2 * (uint64_t)i : 2;
            (void)gbsi_simd_force(i == 2 ? GBSI_SIMD_PORTABLE : best);
            assert_int_equal(gbs_map(model, NULL, &options, NULL, found, &report, NULL), GBS_OK);
            if (i == 0) {
                memcpy(first, found, sizeof first);
                log_density = report.log_density;
            }
            assert_memory_equal(first, found, sizeof first);
            assert_true(report.log_density == log_density);
        }
    }
    (void)gbsi_simd_force(best);
    gbs_model_free(model);
}

/* Spins on a strip of 8 x 20 with couplings of up to 14, of which some forbid that their spins are
 * alike: 64 sweeps alone end in a local optimum (they do without the quench), blocks find the
 * largest log density. */
static void strong_couplings(void **state)
{
    (void)state;
    enum { WIDE = 8, LONG = 20, N = WIDE * LONG };
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        test_stream s = {.seed = seed};
        gbs_error err = {0};
        gbs_builder *b = NULL;
        gbs_model *model = NULL;
        gbs_map_report report = {.size = sizeof report};
        uint32_t arity[N];
        uint32_t found[N];
        uint32_t exact[N];
        double best = 0.0;
        for (uint32_t v = 0; v < N; ++v) {
            arity[v] = 2;
        }
        assert_int_equal(gbs_builder_new(&b, &err), GBS_OK);
        assert_int_equal(gbs_builder_add_variables(b, N, arity, NULL, NULL), GBS_OK);
        for (uint32_t v = 0; v < N; ++v) {
            const uint32_t next[2] = {v % WIDE + 1 < WIDE ? v + 1 : N, v + WIDE};
            for (int k = 0; k < 2; ++k) {
                const double j = test_uniform(&s, -14.0, 14.0);
                if (next[k] < N) {
                    assert_int_equal(
                        gbs_builder_add_potts(b, v, next[k], j < -12.0 ? -INFINITY : j, &err),
                        GBS_OK);
                }
            }
        }
        assert_int_equal(gbs_builder_build(b, &model, &err), GBS_OK);
        gbs_builder_free(b);
        const gbs_run_options options = options_of(64, 16);
        assert_int_equal(gbs_exact_map(model, NULL, NULL, NULL, exact, &best, NULL, &err), GBS_OK);
        assert_int_equal(gbs_map(model, NULL, &options, NULL, found, &report, &err), GBS_OK);
        assert_true(fabs(report.log_density - best) < 1e-9 * (1.0 + fabs(best)));
        assert_true(report.final_log_density < best - 1.0);
        assert_true(fabs(density(model, found) - best) < 1e-9 * (1.0 + fabs(best)));
        gbs_model_free(model);
    }
}

static void refusals_and_other_draws(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_model *model = test_model(TEST_ISING, 1, 9);
    gbs_run *run = NULL;
    uint32_t found[9];
    uint32_t exact[9];
    double best = 0.0;
    gbs_map_report report = {.size = sizeof report};
    gbs_run_options options = options_of(400, 16);
    options.tau0 = 2.0;
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_ERR_ARGUMENT);
    options.draw = GBS_DRAW_HERDED;
    assert_int_equal(gbs_map(model, NULL, &options, NULL, found, NULL, &err), GBS_ERR_ARGUMENT);
    options.tau0 = 0.0; /* not annealed: the best state visited */
    assert_int_equal(gbs_map(model, NULL, &options, NULL, found, &report, &err), GBS_OK);
    assert_int_equal(gbs_exact_map(model, NULL, NULL, NULL, exact, &best, NULL, &err), GBS_OK);
    assert_true(fabs(report.log_density - best) < 1e-9 * (1.0 + fabs(best)));
    options.method = GBS_METHOD_MEAN_FIELD;
    assert_int_equal(gbs_map(model, NULL, &options, NULL, found, NULL, &err), GBS_ERR_ARGUMENT);
    options = options_of(0, 16);
    options.max_updates = 200;
    assert_int_equal(gbs_map(model, NULL, &options, NULL, found, &report, &err), GBS_STOPPED);
    assert_string_equal(report.stop, "updates");
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_largest),        cmocka_unit_test(ground_states_of_glasses),
        cmocka_unit_test(strong_couplings),         cmocka_unit_test(rounds_and_improvements),
        cmocka_unit_test(evidence_and_components),  cmocka_unit_test(small_without_a_tree),
        cmocka_unit_test(mixed_components),         cmocka_unit_test(same_bits),
        cmocka_unit_test(refusals_and_other_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
