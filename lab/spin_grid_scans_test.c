/* SPDX-License-Identifier: Apache-2.0 */
/* Tests grids of the experiments on scans: exact values at a corner, and short chains compared with
 * these values. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "gibbsite/gibbsite.h"
#include "lab/spin_grid_scans.h"

static const lab_reproduce_options options = {.seed = 3, .threads = 1};

static laboratory make_laboratory(void)
{
    return (laboratory){.options = &options, .folder = "."};
}

static gbs_model *make(const laboratory *lab, const lab_spin_grid *grid)
{
    gbs_model *model = NULL;
    assert_int_equal(lab_spin_grid_make(lab, grid, &model, NULL), GBS_OK);
    return model;
}

/* P(s_0 = +1) by a junction tree. */
static double exactly(const gbs_model *model)
{
    gbs_run_options exact = gbs_run_options_default();
    gbs_run *run = NULL;
    double p[2 * 36];
    exact.method = GBS_METHOD_EXACT;
    assert_int_equal(gbs_run_new(model, NULL, &exact, &run, NULL), GBS_OK);
    assert_int_equal(gbs_run_execute(run, NULL, NULL), GBS_OK);
    assert_int_equal(gbs_run_marginals(run, p, NULL, NULL, NULL, NULL), GBS_OK);
    gbs_run_free(run);
    return p[1];
}

static void test_grids(void **state)
{
    (void)state;
    const laboratory lab = make_laboratory();
    lab_spin_grid grid = {.rows = 3, .columns = 4, .high = 0.25};
    gbs_model *open = make(&lab, &grid);
    grid.torus = true;
    gbs_model *torus = make(&lab, &grid);
    grid.fields = true;
    gbs_model *fields = make(&lab, &grid);
    grid.index = 1;
    gbs_model *other = make(&lab, &grid);
    assert_int_equal(gbs_model_n_variables(open), 12);
    assert_int_equal(gbs_model_n_factors(open), 3 * 3 + 2 * 4);
    assert_int_equal(gbs_model_n_factors(torus), 2 * 12);
    assert_int_equal(gbs_model_n_factors(fields), 3 * 12);
    assert_string_not_equal(gbs_model_digest(fields), gbs_model_digest(other));
    gbs_model_free(open);
    gbs_model_free(torus);
    gbs_model_free(fields);
    gbs_model_free(other);
}

/* The interval contains the true value, and becomes shorter as the corner grows. */
static void test_corner(void **state)
{
    (void)state;
    const laboratory lab = make_laboratory();
    for (size_t which = 0; which < LAB_N_DOGS_GRIDS; which++) {
        const lab_spin_grid grid = lab_dogs_grid(which, 6);
        gbs_model *model = make(&lab, &grid);
        const double truth = exactly(model);
        double before = 1.0;
        for (uint32_t size = 1; size < 6; size++) {
            double p[2];
            assert_int_equal(lab_spin_grid_corner(&lab, &grid, size, p, NULL), GBS_OK);
            assert_true(p[0] <= truth && truth <= p[1]);
            assert_true(p[1] - p[0] < before);
            before = p[1] - p[0];
        }
        assert_true(before < 0.05);
        gbs_model_free(model);
    }
}

static gbs_status chains(laboratory *lab, lab_short_chains *out, double *truth, gbs_error *err)
{
    static const uint32_t up[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    gbs_status status = GBS_OK;
    const lab_spin_grid grid = lab_dogs_grid(1, 3);
    gbs_model *model = NULL;
    gbs_influences *influences = NULL;
    lab_made_scan made = {0};
    double weight[9] = {1.0};
    const gbs_scan_request request = {.weight = weight, .steps = 4};
    *out = (lab_short_chains){.draws = 40000, .chains = 64, .seed = 7, .start = up};
    GBSI_TRY(lab_spin_grid_make(lab, &grid, &model, err));
    GBSI_TRY(gbs_influences_new(model, NULL, NULL, &influences, err));
    GBSI_TRY(lab_made_scan_new(influences, &request, &made, err));
    GBSI_TRY(lab_short_chains_run(lab, model, &made, out, err));
    *truth = exactly(model);
cleanup:
    lab_made_scan_free(&made);
    gbs_influences_free(influences);
    gbs_model_free(model);
    return status;
}

/* From the start with all spins up the marginal is above the true value, which is 1/2 without
 * fields. The difference is larger than chance and at most the bound. Five standard errors are
 * exceeded once in 10^6 tests. */
static void test_short_chains(void **state)
{
    (void)state;
    laboratory lab = make_laboratory();
    lab_short_chains found;
    double truth = 0.0;
    assert_int_equal(chains(&lab, &found, &truth, NULL), GBS_OK);
    assert_true(fabs(truth - 0.5) < 1e-12);
    assert_true(found.mcse > 0.0 && found.mcse < 0.003);
    assert_true(found.p - 5.0 * found.mcse > truth);
    assert_true(found.p - 5.0 * found.mcse < truth + found.bound);
    assert_true(found.bound > 0.0 && found.bound < 0.5);
    assert_true(found.seconds > 0.0);
    assert_true(lab.done >= 4.0 * 40000.0);
}

/* Runs short chains with 0, 1, 2, ... allowed requests for memory; the call fails and leaks
 * nothing. */
static void test_no_memory(void **state)
{
    (void)state;
    gbs_status status = GBS_ERR_MEMORY;
    uint64_t allowed = 0;
    for (; status == GBS_ERR_MEMORY && allowed < 10000; allowed++) {
        laboratory lab = make_laboratory();
        const lab_spin_grid grid = lab_dogs_grid(0, 6);
        double p[2];
        gbsi_alloc_fail_after(allowed);
        status = lab_spin_grid_corner(&lab, &grid, 2, p, NULL);
        gbsi_alloc_fail_after(UINT64_MAX);
    }
    assert_int_equal(status, GBS_OK);
    assert_true(allowed > 20);
}

/* Experiments of short runs are stopped between runs, and write no verdict. */
static int stop_later(void *context, double share, const char *what)
{
    int *calls = context;
    assert_true(share >= 0.0 && share <= 1.0);
    assert_non_null(what);
    return ++*calls >= 3; /* like a signal, the stop is not lost if a run ends at the same time */
}

static void test_stopped(void **state)
{
    (void)state;
    static const char *const name[] = {"dogs-marginal", "dogs-mle"};
    for (size_t k = 0; k < 2; k++) {
        int calls = 0;
        const lab_reproduce_options stopping = {
            .quick = 1, .seed = 1, .threads = 1, .progress = stop_later, .context = &calls};
        lab_verdict verdict = {.holds = 7};
        assert_int_equal(lab_reproduce(name[k], ".", &stopping, &verdict, NULL), GBS_STOPPED);
        assert_true(calls >= 3);
        assert_int_equal(verdict.holds, 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grids),        cmocka_unit_test(test_corner),
        cmocka_unit_test(test_short_chains), cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
