/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in bits with averaged conditionals, compared with the exact answer. Batches are shorter or
 * longer than the sums that chains hold, and the last batch may be incomplete. Errors must agree
 * between the two ways in which they are reported. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/test_scale.h"
#include "gibbsite/gibbsite.h"

enum { WIDTH = 6, HEIGHT = 5, N = WIDTH * HEIGHT };

/* A grid with open sides. With `fields`, a third of the sites have a field of the opposite sign, as
 * in pictures; otherwise all fields are equal. */
static gbs_model *make_grid(bool fields)
{
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t arity[N];
    for (uint32_t v = 0; v < N; ++v) {
        arity[v] = 2;
    }
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, N, arity, NULL, NULL), GBS_OK);
    for (uint32_t v = 0; v < N; ++v) {
        const double h = fields && v * 7 % 3 == 0 ? -0.5 : 0.5;
        assert_int_equal(gbs_builder_add_field(b, v, h, NULL), GBS_OK);
        if (v % WIDTH + 1 < WIDTH) {
            assert_int_equal(gbs_builder_add_ising(b, v, v + 1, 0.4, NULL), GBS_OK);
        }
        if (v + WIDTH < N) {
            assert_int_equal(gbs_builder_add_ising(b, v, v + WIDTH, 0.4, NULL), GBS_OK);
        }
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

static gbs_run *execute(const gbs_model *model, const gbs_run_options *options)
{
    gbs_run *run = NULL;
    assert_int_equal(gbs_run_new(model, NULL, options, &run, NULL), GBS_OK);
    assert_true(gbs_run_execute(run, NULL, NULL) >= 0);
    return run;
}

static void find_exact(const gbs_model *model, double *p)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_EXACT;
    gbs_run *run = execute(model, &options);
    assert_int_equal(gbs_run_marginals(run, p, NULL, NULL, NULL, NULL), GBS_OK);
    gbs_run_free(run);
}

/* Compares the answer with the exact one, and checks the largest error, the effective size and
 * R-hat in the report. */
static void check_run(const gbs_model *model, const double *exact, gbs_run_options options)
{
    double p[2 * N];
    double mcse[2 * N];
    double ess[2 * N];
    double rhat[2 * N];
    double worst[3] = {0.0, INFINITY, 0.0};
    options.method = GBS_METHOD_SAMPLE;
    options.lattice = GBS_LATTICE_ALWAYS;
    gbs_run *run = execute(model, &options);
    const gbs_report *r = gbs_run_report(run);
    assert_int_equal(r->lattice, GBS_BITS_SITES);
    assert_int_equal(r->n_constant, 0);
    assert_int_equal(gbs_run_marginals(run, p, mcse, ess, rhat, NULL), GBS_OK);
    for (uint32_t i = 0; i < 2 * N; ++i) {
        assert_true(fabs(p[i] - exact[i]) <
                    6.0 * mcse[i]); /* fails by chance for one in 10^6 numbers */
        worst[0] = fmax(worst[0], mcse[i]);
        worst[1] = fmin(worst[1], ess[i]);
        worst[2] = fmax(worst[2], rhat[i]);
    }
    assert_true(worst[0] == r->max_mcse && worst[1] == r->min_ess && worst[2] == r->max_rhat);
    gbs_run_free(run);
}

static void averages_are_the_exact_answer(void **state)
{
    (void)state;
    for (int fields = 0; fields < 2; ++fields) {
        gbs_model *model = make_grid(fields != 0);
        double exact[2 * N];
        find_exact(model, exact);
        for (uint32_t chains = 2; chains <= 9; chains += chains < 4 ? 2 : 5) {
            gbs_run_options options = gbs_run_options_default();
            options.chains = chains;
            options.seed = chains;
            options.sweeps = 8 * test_share(1000, 250) + 3;
            check_run(model, exact, options);
            options.sweeps = 128 + chains; /* a number of sweeps for which batches are shortest */
            check_run(model, exact, options);
        }
        gbs_model_free(model);
    }
}

/* Averages vary less than counts (Liu, Wong & Kong 1994, Biometrika 81:27-40). */
static void averages_are_nearer_than_counts(void **state)
{
    (void)state;
    gbs_model *model = make_grid(true);
    double exact[2 * N];
    double square[2] = {0.0, 0.0};
    find_exact(model, exact);
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        for (int counts = 0; counts < 2; ++counts) {
            double p[2 * N];
            gbs_run_options options = gbs_run_options_default();
            options.method = GBS_METHOD_SAMPLE;
            options.lattice = GBS_LATTICE_ALWAYS;
            options.estimator = counts ? GBS_ESTIMATOR_COUNT : GBS_ESTIMATOR_RAO_BLACKWELL;
            options.chains = 4;
            options.sweeps = 64;
            options.seed = seed;
            gbs_run *run = execute(model, &options);
            assert_int_equal(gbs_run_marginals(run, p, NULL, NULL, NULL, NULL), GBS_OK);
            for (uint32_t i = 0; i < 2 * N; ++i) {
                square[counts] += (p[i] - exact[i]) * (p[i] - exact[i]);
            }
            gbs_run_free(run);
        }
    }
    assert_true(square[0] < 0.8 * square[1]);
    gbs_model_free(model);
}

/* Lattices with couplings of two sizes are refused, because a count of neighbours does not
 * determine a conditional. */
static void other_lattices_are_refused(void **state)
{
    (void)state;
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    gbs_run *run = NULL;
    gbs_error err = {0};
    const uint32_t arity[4] = {2, 2, 2, 2};
    gbs_run_options options = gbs_run_options_default();
    options.lattice = GBS_LATTICE_ALWAYS;
    options.method = GBS_METHOD_SAMPLE;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, 4, arity, NULL, NULL), GBS_OK);
    for (uint32_t v = 0; v < 2; ++v) {
        assert_int_equal(gbs_builder_add_ising(b, v, v + 2, 0.4, NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_ising(b, 2 * v, 2 * v + 1, 0.5, NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "all couplings have one size"));
    gbs_builder_free(b);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(averages_are_the_exact_answer),
        cmocka_unit_test(averages_are_nearer_than_counts),
        cmocka_unit_test(other_lattices_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
