/* SPDX-License-Identifier: Apache-2.0 */
/* Moves of clusters leave the target invariant: the scans cluster and wolff against exact answers,
 * on models with every form of bond and field. The same bits on any number of threads and of chains
 * and on any instruction set. Models without clusters are refused by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/test_row.h"
#include "gibbsite/generate.h"
#include "support/making.h"
#include "support/runs.h"
#include "support/small_models.h"

static const int scans[] = {GBS_SCAN_CLUSTER, GBS_SCAN_WOLFF};
#define N_SCANS (sizeof scans / sizeof scans[0])

static gbs_run_options options_of(int scan, uint64_t chains)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.scan = scan;
    options.clusters = scan == GBS_SCAN_WOLFF ? 3 : 1;
    options.chains = chains;
    options.sweeps =
        (test_scale_asked() == TEST_FULL ? UINT64_C(16384) : 1024) * (chains == 1 ? 8 : 1);
    options.burn_in = 64;
    options.seed = 20261129;
    return options;
}

/* ---- models ---------------------------------------------------------------------------------- */

/* A torus of 3 x 3 Potts variables. Two variables have tables of their own. */
static gbs_builder *begin_potts(uint32_t arity, double coupling, double field)
{
    gbs_error err = {0};
    gbs_builder *b = begin_equal(9, arity);
    for (uint32_t v = 0; v < 9; ++v) {
        const uint32_t right = v / 3 * 3 + (v + 1) % 3;
        must(gbs_builder_add_potts(b, v, right, coupling, &err), &err);
        must(gbs_builder_add_potts(b, v, (v + 3) % 9, coupling, &err), &err);
    }
    for (uint32_t v = 0; v < 9 && field != 0.0; v += 4) {
        double weight[4];
        for (uint32_t k = 0; k < arity; ++k) {
            weight[k] = exp(field * (double)((k + v) % arity));
        }
        must(gbs_builder_add_potential(b, 1, &v, arity, weight, &err), &err);
    }
    return b;
}

static gbs_model *potts_free(void)
{
    return finish(begin_potts(3, 0.9, 0.0));
}

static gbs_model *potts_fields(void)
{
    return finish(begin_potts(3, 0.7, 0.6));
}

/* Variable 0 cannot take state 0, and variables 1 and 2 always have equal states. */
static gbs_model *potts_zeros(void)
{
    gbs_error err = {0};
    gbs_builder *b = begin_potts(3, 0.8, 0.3);
    const double forbidden[] = {0.0, 1.0, 2.0};
    const double equal[] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    must(gbs_builder_add_potential(b, 1, (const uint32_t[1]){0}, 3, forbidden, &err), &err);
    must(gbs_builder_add_potential(b, 2, (const uint32_t[2]){1, 2}, 9, equal, &err), &err);
    return finish(b);
}

static gbs_builder *begin_spins(double coupling, double field)
{
    gbs_error err = {0};
    gbs_builder *b = begin_equal(9, 2);
    for (uint32_t v = 0; v < 9; ++v) {
        const uint32_t right = v / 3 * 3 + (v + 1) % 3;
        const double sign = v % 4 == 3 && coupling < 0.0 ? -1.0 : 1.0; /* mixed if J < 0 */
        must(gbs_builder_add_ising(b, v, right, coupling * sign, &err), &err);
        must(gbs_builder_add_ising(b, v, (v + 3) % 9, coupling, &err), &err);
        must(gbs_builder_add_field(b, v, field * (v % 3 == 0 ? -1.0 : 0.5), &err), &err);
    }
    return b;
}

static gbs_model *ising_free(void)
{
    return finish(begin_spins(0.4, 0.0));
}

static gbs_model *ising_fields(void)
{
    return finish(begin_spins(0.3, 0.4));
}

static gbs_model *ising_mixed(void)
{
    return finish(begin_spins(-0.5, 0.2));
}

/* Any positive tables of two binary variables. */
static gbs_model *ising_tables(void)
{
    return test_model(TEST_ISING, 7, 9);
}

static const test_case cases[] = {
    {"ising", ising_free, -1, 1},           {"ising, observed", ising_free, 4, 1},
    {"ising, fields", ising_fields, -1, 1}, {"ising, mixed signs", ising_mixed, 2, 1},
    {"ising, tables", ising_tables, -1, 1}, {"potts", potts_free, -1, 1},
    {"potts, observed", potts_free, 4, 1},  {"potts, fields", potts_fields, 0, 1},
    {"potts, zeros", potts_zeros, -1, 0},
};
#define N_CASES (sizeof cases / sizeof cases[0])

/* ---- tests ----------------------------------------------------------------------------------- */

static void exact_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CASES * N_SCANS * 2 * 2; ++i) {
        const test_case *c = &cases[i % N_CASES];
        const uint64_t chains = i / N_CASES / N_SCANS % 2 == 0 ? 16 : 1;
        gbs_run_options options = options_of(scans[i / N_CASES % N_SCANS], chains);
        options.estimator =
            i / N_CASES / N_SCANS / 2 == 0 ? GBS_ESTIMATOR_RAO_BLACKWELL : GBS_ESTIMATOR_COUNT;
        gbs_model *model = c->make();
        gbs_evidence *evidence = test_observe(model, c->observe);
        test_answer exact = test_exactly(model, evidence);
        test_answer found = test_run_once(model, evidence, &options);
        test_row("%s, scan %d, %d chains, estimator %d", c->name, options.scan, (int)chains,
                 options.estimator);
        (void)test_close(c->name, &options, &found, &exact);
        test_drop(&exact);
        test_drop(&found);
        gbs_evidence_free(evidence);
        gbs_model_free(model);
    }
    test_no_row();
}

/* Chain c of a run of few chains is chain c of a run of many; threads and instruction sets do not
 * matter. */
static void same_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CASES * N_SCANS; ++i) {
        const test_case *c = &cases[i % N_CASES];
        gbs_model *model = c->make();
        gbs_evidence *evidence = test_observe(model, c->observe);
        gbs_run_options options = options_of(scans[i / N_CASES], 16);
        char digest[33] = "";
        options.sweeps = 20;
        options.burn_in = 8;
        test_row("%s, scan %d", c->name, options.scan);
        test_same_bits(model, evidence, &options);
        for (uint64_t threads = 1; threads <= 5; threads += threads == 1 ? 1 : 3) {
            options.threads = threads;
            test_answer found = test_run_once(model, evidence, &options);
            assert_true(threads == 1 || strcmp(digest, found.digest) == 0);
            memcpy(digest, found.digest, sizeof digest);
            test_drop(&found);
        }
        options.threads = 2;
        const uint64_t alone = test_trajectory(model, evidence, options, 1, 0);
        assert_true(alone == test_trajectory(model, evidence, options, 19, 0));
        assert_true(test_trajectory(model, evidence, options, 3, 2) ==
                    test_trajectory(model, evidence, options, 40, 2));
        gbs_evidence_free(evidence);
        gbs_model_free(model);
    }
    test_no_row();
}

/* Moves that are large enough for threads to share them. */
static void same_bits_of_shared_moves(void **state)
{
    (void)state;
    const gbs_generate_ising_options torus = {
        .side = {16, 16, 1}, .torus = 1, .coupling = 0.4, .field = 0.05};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&torus, &model, NULL), GBS_OK);
    for (size_t i = 0; i < N_SCANS; ++i) {
        gbs_run_options options = options_of(scans[i], 40);
        char digest[33] = "";
        options.sweeps = 40;
        for (uint64_t threads = 1; threads <= 5; threads += threads == 1 ? 1 : 3) {
            options.threads = threads;
            test_answer found = test_run_once(model, NULL, &options);
            assert_true(threads == 1 || strcmp(digest, found.digest) == 0);
            memcpy(digest, found.digest, sizeof digest);
            test_drop(&found);
        }
    }
    gbs_model_free(model);
}

static void check_refused(gbs_model *model, gbs_run_options options, const char *why)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    assert_true(gbs_run_new(model, NULL, &options, &run, &err) < 0);
    assert_null(run);
    if (strstr(err.message, why) == NULL) {
        fail_msg("found %s, expected %s", err.message, why);
    }
    gbs_model_free(model);
}

static void refusals(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_run_options options = options_of(GBS_SCAN_CLUSTER, 16);
    gbs_builder *b = begin_spins(0.4, 0.0);
    must(gbs_builder_add_spin(b, 3, (const uint32_t[3]){0, 1, 5}, 0.3, &err), &err);
    check_refused(finish(b), options, "factor 27 joins three variables or more");
    check_refused(finish(begin_potts(3, -0.5, 0.0)), options, "factor 0 favours different states");
    b = begin_equal(2, 3);
    const double table[] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0};
    must(gbs_builder_add_potential(b, 2, (const uint32_t[2]){0, 1}, 9, table, &err), &err);
    check_refused(finish(b), options, "--scan cluster: factor 0 is no coupling J [x = y]");
    options.draw = GBS_DRAW_HERDED;
    check_refused(ising_free(), options, "use --draw random or --scan chromatic");
    options = options_of(GBS_SCAN_CLUSTER, 16);
    options.clusters = 3;
    check_refused(ising_free(), options, "--clusters");
    options = options_of(GBS_SCAN_WOLFF, 16);
    options.certified = 0.01;
    options.burn_in = GBS_BURN_IN_AUTO;
    check_refused(ising_free(), options, "certificate");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact_answers), cmocka_unit_test(same_bits),
                                       cmocka_unit_test(same_bits_of_shared_moves),
                                       cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
