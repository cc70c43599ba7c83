/* SPDX-License-Identifier: Apache-2.0 */
/* Every scan of single variables x exact draw x estimator on the table of models, against
 * enumeration. Models that single-variable updates cannot cross must say so instead. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/test_row.h"
#include "scan/scan.h"
#include "support/runs.h"
#include "support/small_models.h"

static uint64_t sweeps_of_scale(void)
{
    static const uint64_t sweeps[] = {256, 1024, 16384};
    return sweeps[test_scale_asked()];
}

/* A sequence with every variable at least once and some twice. */
static uint32_t *sequence_of(uint32_t n, size_t *length)
{
    uint32_t *sequence = calloc(2 * (size_t)n + 1, sizeof *sequence);
    *length = 0;
    for (uint32_t v = 0; v < n; ++v) {
        sequence[(*length)++] = n - 1 - v;
        if (v % 3 == 0) {
            sequence[(*length)++] = (v * 7 + 2) % n;
        }
    }
    return sequence;
}

static gbs_run_options options_of(int scan, int estimator, uint64_t chains)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.scan = scan;
    options.estimator = estimator;
    options.chains = chains;
    options.sweeps = sweeps_of_scale() * (chains == 1 ? 8 : 1);
    options.burn_in = 64;
    options.seed = 20261121;
    return options;
}

/* At small scale a third of the combinations with each model, other ones with the next. */
static bool is_skipped(const test_case *c, int scan, int estimator, uint64_t chains)
{
    const size_t i = (size_t)(c - test_cases) + (size_t)scan + (size_t)estimator + (chains > 1);
    return test_scale_asked() == TEST_SMALL && i % 3 != 0;
}

static void check_case(const test_case *c, size_t *n_compared)
{
    gbs_model *model = c->make();
    gbs_evidence *evidence = test_observe(model, c->observe);
    gbs_run_options oracle = gbs_run_options_default();
    oracle.method = GBS_METHOD_EXACT;
    test_answer exact = test_run_once(model, evidence, &oracle);
    for (int scan = 0; gbsi_scan_of(scan) != NULL; ++scan) {
        if ((gbsi_scan_traits(scan) & (GBSI_SCAN_SPLITS | GBSI_SCAN_BLOCKS | GBSI_SCAN_CLUSTERS)) !=
            0) {
            continue; /* synchronous_test.c, splash_test.c, cluster_test.c */
        }
        for (int estimator = 0; estimator <= GBS_ESTIMATOR_COUNT; ++estimator) {
            for (uint64_t chains = 1; chains <= 16; chains += 15) {
                if (is_skipped(c, scan, estimator, chains)) {
                    continue;
                }
                gbs_run_options options = options_of(scan, estimator, chains);
                uint32_t *sequence = NULL;
                test_row("%s, %s scan, estimator %d, %d chains", c->name, gbsi_scan_of(scan)->name,
                         estimator, (int)chains);
                if ((gbsi_scan_traits(scan) & GBSI_SCAN_READS) != 0) {
                    sequence = sequence_of(gbs_model_n_variables(model), &options.sequence_length);
                    options.sequence = sequence;
                }
                test_answer found = test_run_once(model, evidence, &options);
                if (c->crossable) {
                    *n_compared += test_close(c->name, &options, &found, &exact);
                } else {
                    assert_false(found.report.converged);
                    assert_non_null(strstr(found.report.verdict, "hard zeros"));
                }
                test_drop(&found);
                free(sequence);
            }
        }
    }
    test_drop(&exact);
    gbs_evidence_free(evidence);
    gbs_model_free(model);
}

static void scans_and_estimators(void **state)
{
    (void)state;
    size_t n_compared = 0;
    for (size_t i = 0; i < n_test_cases; ++i) {
        check_case(&test_cases[i], &n_compared);
    }
    test_no_row();
    assert_true(n_compared > (test_scale_asked() == TEST_SMALL ? 1500 : 5000));
}

/* Random models of every family, automatic stopping: where it says converged it is right. */
static void random_models(void **state)
{
    (void)state;
    for (int family = 0; family < TEST_N_FAMILIES; ++family) {
        const uint64_t n_seeds = test_scale_asked() == TEST_SMALL ? 1 : 4;
        for (uint64_t seed = 100; seed < 100 + n_seeds; ++seed) {
            gbs_model *model = test_model((test_family)family, seed, 7);
            test_row("%s, seed %d", test_family_name((test_family)family), (int)seed);
            gbs_run_options options = gbs_run_options_default();
            options.method = GBS_METHOD_EXACT;
            test_answer exact = test_run_once(model, NULL, &options);
            options.method = GBS_METHOD_SAMPLE;
            options.seed = seed;
            test_answer found = test_run_once(model, NULL, &options);
            assert_string_equal(found.report.stop, "target");
            assert_true(found.report.converged);
            (void)test_close(test_family_name((test_family)family), &options, &found, &exact);
            test_drop(&exact);
            test_drop(&found);
            gbs_model_free(model);
        }
    }
}

/* The digest is a function of model, seed, options and count: not of the instruction set. */
static void same_bits_on_every_set(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_test_cases; ++i) {
        gbs_model *model = test_cases[i].make();
        gbs_evidence *evidence = test_observe(model, test_cases[i].observe);
        for (size_t variant = i % test_scaled(1, 3, 6); variant < 6;
             variant += test_scaled(1, 3, 6)) {
            gbs_run_options options =
                options_of((int)(variant % 4), (int)(variant % 2), variant < 3 ? 16 : 3);
            options.sweeps = test_share(150, 40);
            test_row("%s, %s scan, %d chains", test_cases[i].name, gbsi_scan_of(options.scan)->name,
                     (int)options.chains);
            test_same_bits(model, evidence, &options);
        }
        gbs_evidence_free(evidence);
        gbs_model_free(model);
    }
}

/* ---- chains ---------------------------------------------------------------------------------- */

static uint64_t trajectory(const gbs_model *model, const gbs_evidence *evidence, uint64_t chains,
                           uint32_t chain, int scan)
{
    gbs_run_options options = options_of(scan, 0, chains);
    options.sweeps = 100;
    return test_trajectory(model, evidence, options, chains, chain);
}

/* Chain c of a run of few chains (slots in vectors) is chain c of a run of many (chains in
 * vectors). */
static void chains_do_not_depend_on_their_number(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_test_cases; i += test_scaled(1, 2, 5)) {
        gbs_model *model = test_cases[i].make();
        gbs_evidence *evidence = test_observe(model, test_cases[i].observe);
        for (int scan = 0; scan < GBS_SCAN_SEQUENCE; ++scan) {
            test_row("%s, %s scan", test_cases[i].name, gbsi_scan_of(scan)->name);
            const uint64_t alone = trajectory(model, evidence, 1, 0, scan);
            assert_true(alone == trajectory(model, evidence, 16, 0, scan));
            assert_true(alone == trajectory(model, evidence, 40, 0, scan));
            assert_true(trajectory(model, evidence, 3, 2, scan) ==
                        trajectory(model, evidence, 19, 2, scan));
        }
        gbs_evidence_free(evidence);
        gbs_model_free(model);
    }
}

static void seeds_and_chains_differ(void **state)
{
    (void)state;
    gbs_model *model = test_model(TEST_ISING, 1, 10);
    const uint64_t first = trajectory(model, NULL, 16, 0, 0);
    for (uint32_t chain = 1; chain < 16; ++chain) {
        assert_true(first != trajectory(model, NULL, 16, chain, 0));
    }
    gbs_model_free(model);
}

/* ---- the joint ------------------------------------------------------------------------------- */

typedef struct histogram {
    uint32_t n_variables;
    uint64_t *count;
} histogram;

static gbs_status count_state(void *context, uint64_t draw, uint32_t chain, double log_density,
                              const uint32_t *x, gbs_error *err)
{
    histogram *h = context;
    size_t index = 0;
    (void)draw;
    (void)chain;
    (void)log_density;
    (void)err;
    for (uint32_t v = 0; v < h->n_variables; ++v) {
        index = 2 * index + x[v];
    }
    ++h->count[index];
    return GBS_OK;
}

/* Chi-square of the joint over 2^10 states of a weakly coupled model, draws thinned to be nearly
 * independent: a false alarm in 10^6. */
static void joint_of_ten_spins(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_model *model = test_model(TEST_SPIN, 21, 10);
    gbs_run *run = NULL;
    histogram h = {.n_variables = 10, .count = calloc(1024, sizeof(uint64_t))};
    gbs_run_options options = options_of(GBS_SCAN_CHROMATIC, 0, 64);
    const gbs_run_callbacks callbacks = {.context = &h, .draw = count_state};
    options.sweeps = 24000;
    options.thin = 16;
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_OK);
    assert_int_equal(gbs_run_execute(run, &callbacks, &err), GBS_OK);
    gbs_run_free(run);
    double weight[1024];
    double total = 0.0;
    for (uint32_t i = 0; i < 1024; ++i) {
        uint32_t x[10];
        for (uint32_t v = 0; v < 10; ++v) {
            x[v] = i >> (9 - v) & 1u;
        }
        weight[i] = exp(gbs_model_log_density(model, x));
        total += weight[i];
    }
    double chi2 = 0.0;
    const double n = 64.0 * 24000 / 16;
    for (uint32_t i = 0; i < 1024; ++i) {
        const double expected = n * weight[i] / total;
        chi2 += ((double)h.count[i] - expected) * ((double)h.count[i] - expected) / expected;
    }
    /* 1023 degrees of freedom: mean 1023, standard deviation 45; 4.9 of them above. Small remaining
     * correlation between draws is what the other 5 % are for. */
    assert_true(chi2 < 1.05 * 1023 + 4.9 * 45.2);
    assert_true(chi2 > 1023 - 4.9 * 45.2);
    free(h.count);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scans_and_estimators),
        cmocka_unit_test(random_models),
        cmocka_unit_test(same_bits_on_every_set),
        cmocka_unit_test(chains_do_not_depend_on_their_number),
        cmocka_unit_test(seeds_and_chains_differ),
        cmocka_unit_test(joint_of_ten_spins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
