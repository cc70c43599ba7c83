/* SPDX-License-Identifier: Apache-2.0 */
/* Tests standard errors of dense Potts models: a closed form, intervals that contain 95 % of true
 * parameters, equal bits on any number of threads, and refusals. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/test_random.h"
#include "base/test_scale.h"
#include "gibbsite/machines.h"
#include "potts/potts.h"
#include "simd/math.h"

enum { SITES = 4, STATES = 3, CONFIGURATIONS = 81, PARAMETERS = 12 + 6 * 9 };

static void ok(gbs_status status)
{
    assert_int_equal(status, GBS_OK);
}

static double uniform(uint64_t *seed)
{
    return (double)(next_random(seed) >> 11) * 0x1p-53;
}

/* Makes a dense model with these parameters. */
static gbs_model *model_of(uint32_t n_sites, uint32_t n_states, const double *x)
{
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t table = 0;
    ok(gbs_builder_new(&b, NULL));
    for (uint32_t i = 0; i < n_sites; ++i) {
        ok(gbs_builder_add_variables(b, 1, &n_states, NULL, NULL));
    }
    for (uint32_t i = 0; i < n_sites; ++i, x += n_states) {
        ok(gbs_builder_add_table(b, n_states, x, &table, NULL));
        ok(gbs_builder_add_table_factor(b, 1, &i, table, NULL));
    }
    for (uint32_t i = 0; i < n_sites; ++i) {
        for (uint32_t j = i + 1; j < n_sites; ++j, x += (size_t)n_states * n_states) {
            const uint32_t scope[2] = {i, j};
            ok(gbs_builder_add_table(b, (size_t)n_states * n_states, x, &table, NULL));
            ok(gbs_builder_add_table_factor(b, 2, scope, table, NULL));
        }
    }
    ok(gbs_builder_build(b, &model, NULL));
    gbs_builder_free(b);
    return model;
}

/* Two spins with n[a][b] rows each: J(0, 0) is a quarter of ln(n00 n11 / (n01 n10)) and h_1(0) of
 * ln(n00 n01 / (n10 n11)), each with the variance (1 / n00 + ... + 1 / n11) / 16 (Woolf 1955, Ann.
 * Hum. Genet. 19:251-253), times N / (N - 2). Either way of learning has that maximum. */
static void errors_of_two_spins(void **state)
{
    (void)state;
    static const uint32_t n[4] = {60, 30, 20, 90};
    double x[8] = {0.0};
    double error[8];
    double expected = 0.0;
    gbs_rows *rows = NULL;
    ok(gbs_rows_new(2, 2, &rows, NULL));
    for (uint32_t k = 0; k < 4; ++k) {
        const uint32_t row[2] = {k / 2, k % 2};
        for (uint32_t copy = 0; copy < n[k]; ++copy) {
            ok(gbs_rows_add(rows, 1, row, NULL));
        }
        x[4 + k] = gbsi_log(n[k]);
        expected += 1.0 / n[k];
    }
    expected = gbsi_sqrt(expected / 16.0 * 200.0 / 198.0);
    gbs_model *model = model_of(2, 2, x);
    for (uint64_t method = GBS_POTTS_PL; method <= GBS_POTTS_ASYMMETRIC; method += 2) {
        const gbs_potts_options options = {
            .size = sizeof options, .l2 = 1e-9, .threads = 2, .method = method};
        ok(gbs_potts_errors(model, rows, &options, NULL, error, NULL, NULL));
        for (size_t k = 0; k < 8; ++k) {
            assert_true(fabs(error[k] - expected) < 1e-6 * expected);
        }
    }
    gbs_model_free(model);
    gbs_rows_free(rows);
}

/* Parameters in the zero-sum gauge: sums of products of vectors that sum to zero. */
static void draw_truth(uint64_t *seed, double *x)
{
    for (size_t at = 0; at < PARAMETERS; at += at < 12 ? STATES : STATES * STATES) {
        const double v[2] = {uniform(seed) - 0.5, uniform(seed) - 0.5};
        const double w[2] = {2.0 * uniform(seed) - 1.0, 2.0 * uniform(seed) - 1.0};
        const double first[STATES] = {v[0], v[1], -v[0] - v[1]};
        const double second[STATES] = {w[0], w[1], -w[0] - w[1]};
        for (size_t a = 0; a < STATES; ++a) {
            for (size_t b = 0; at >= 12 && b < STATES; ++b) {
                x[at + a * STATES + b] = first[a] * second[b];
            }
            x[at < 12 ? at + a : at] = at < 12 ? first[a] : x[at];
        }
    }
}

/* Independent draws by enumeration. */
static gbs_rows *drawn_rows(const gbs_model *model, size_t n, uint64_t *seed)
{
    gbs_rows *rows = NULL;
    double p[CONFIGURATIONS];
    double total = 0.0;
    uint32_t x[CONFIGURATIONS][SITES];
    for (uint32_t k = 0; k < CONFIGURATIONS; ++k) {
        for (uint32_t i = SITES, rest = k; i-- > 0; rest /= STATES) {
            x[k][i] = rest % STATES;
        }
        total += p[k] = gbsi_exp(gbs_model_log_density(model, x[k]));
    }
    ok(gbs_rows_new(SITES, STATES, &rows, NULL));
    for (size_t b = 0; b < n; ++b) {
        double u = uniform(seed) * total;
        uint32_t k = 0;
        while (k + 1 < CONFIGURATIONS && u >= p[k]) {
            u -= p[k++];
        }
        ok(gbs_rows_add(rows, 1, x[k], NULL));
    }
    return rows;
}

/* @return the share of parameters that are within 1.96 errors of the truth; -1 if the library
 * cannot learn. */
static double share_within(const gbs_rows *rows, const double *truth, uint64_t method)
{
    const gbs_potts_options options = {
        .size = sizeof options, .l2 = 1e-3, .tolerance = 1e-9, .threads = 1, .method = method};
    gbs_model *model = NULL;
    double value[PARAMETERS];
    double error[PARAMETERS];
    size_t n = 0;
    size_t n_within = 0;
    const gbs_status status = gbs_potts_learn(rows, NULL, &options, NULL, &model, NULL, NULL);
    if (status == GBS_ERR_UNSUPPORTED) {
        return -1.0;
    }
    ok(status);
    ok(gbs_potts_parameters(model, &n, value, NULL));
    assert_int_equal(n, PARAMETERS);
    ok(gbs_potts_errors(model, rows, &options, NULL, error, NULL, NULL));
    for (size_t k = 0; k < n; ++k) {
        n_within += fabs(value[k] - truth[k]) <= 1.96 * error[k];
    }
    gbs_model_free(model);
    return (double)n_within / (double)n;
}

/* 200 sets of 800 rows, each from a model of its own. The mean share of the 66 parameters within
 * 1.96 errors is 0.95, with a standard deviation that the shares themselves tell, as parameters of
 * one set depend on each other: below 0.005. Four of them by chance once in 16 000 for each method;
 * 0.005 more for rows being few. An error stated 15 % too small would lose 0.046. */
static void truth_is_within_errors(void **state)
{
    (void)state;
    const size_t n_sets = test_share(200, 16);
    const double rough = gbsi_sqrt(200.0 / (double)n_sets);
    for (uint64_t method = GBS_POTTS_PL; method <= GBS_POTTS_ASYMMETRIC; method += 2) {
        uint64_t seed = 11;
        double sum = 0.0;
        double square = 0.0;
        for (size_t i = 0; i < n_sets; ++i) {
            double truth[PARAMETERS] = {0.0};
            draw_truth(&seed, truth);
            gbs_model *model = model_of(SITES, STATES, truth);
            gbs_rows *rows = drawn_rows(model, 800, &seed);
            const double share = share_within(rows, truth, method);
            gbs_model_free(model);
            gbs_rows_free(rows);
            if (share < 0.0) {
                skip(); /* a build without libLBFGS */
            }
            sum += share / (double)n_sets;
            square += share * share / (double)n_sets;
        }
        const double deviation = gbsi_sqrt((square - sum * sum) / (double)(n_sets - 1));
        assert_true(deviation < 0.005 * rough);
        if (!(fabs(sum - 0.95) < 4.0 * deviation + 0.005)) {
            fail_msg("found %g of %g", sum, deviation);
        }
    }
}

/* Errors by probes agree with errors by the matrix within 4.5 of their standard errors; by chance
 * each of the 132 parameters would fail once in 150 000. The mean square over the parameters, which
 * has the information of at least ten independent parameters, would fail as rarely. */
static void probes_find_what_a_matrix_does(void **state)
{
    (void)state;
    enum { PROBES = 400 };
    uint64_t seed = 5;
    double truth[PARAMETERS] = {0.0};
    double error[2][PARAMETERS];
    const double chance = 4.5 * gbsi_sqrt(0.5 / PROBES);
    draw_truth(&seed, truth);
    gbs_model *model = model_of(SITES, STATES, truth);
    gbs_rows *rows = drawn_rows(model, 200, &seed);
    for (uint64_t method = GBS_POTTS_PL; method <= GBS_POTTS_ASYMMETRIC; method += 2) {
        gbs_potts_options options = {
            .size = sizeof options, .l2 = 3.0, .threads = 1, .method = method};
        double sum = 0.0;
        ok(gbs_potts_errors(model, rows, &options, NULL, error[0], NULL, NULL));
        options.probes = PROBES;
        ok(gbs_potts_errors(model, rows, &options, NULL, error[1], NULL, NULL));
        for (size_t k = 0; k < PARAMETERS; ++k) {
            const double ratio = error[1][k] / error[0][k];
            assert_true(fabs(ratio - 1.0) < chance);
            sum += ratio * ratio / PARAMETERS;
        }
        assert_true(fabs(sum - 1.0) < 2.0 * chance / gbsi_sqrt(10.0));
    }
    gbs_model_free(model);
    gbs_rows_free(rows);
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    uint64_t seed = 5;
    double truth[PARAMETERS] = {0.0};
    double error[2][PARAMETERS];
    draw_truth(&seed, truth);
    gbs_model *model = model_of(SITES, STATES, truth);
    gbs_rows *rows = drawn_rows(model, 333, &seed);
    for (uint64_t method = GBS_POTTS_PL; method <= GBS_POTTS_ASYMMETRIC; method += 2) {
        for (uint64_t k = 0; k < 6; ++k) {
            const gbs_potts_options options = {.size = sizeof options,
                                               .threads = 1 + k % 3,
                                               .method = method,
                                               .probes = k < 3 ? 0 : 7};
            ok(gbs_potts_errors(model, rows, &options, NULL, error[k % 3 > 0], NULL, NULL));
            assert_memory_equal(error[0], error[k % 3 > 0], sizeof error[0]);
        }
    }
    gbs_model_free(model);
    gbs_rows_free(rows);
}

/* Sites 0 and 2 are never both in state 2. */
static void states_that_are_never_together(void **state)
{
    (void)state;
    double x[3 * 3 + 3 * 9] = {0.0};
    double error[3 * 3 + 3 * 9];
    uint8_t unseen[3 * 3 + 3 * 9];
    uint64_t seed = 2;
    gbs_model *model = model_of(3, STATES, x);
    gbs_rows *rows = NULL;
    ok(gbs_rows_new(3, STATES, &rows, NULL));
    for (size_t b = 0; b < 400; ++b) {
        uint32_t row[3];
        for (uint32_t i = 0; i < 3; ++i) {
            row[i] = (uint32_t)(next_random(&seed) % STATES);
        }
        row[2] = row[0] == 2 && row[2] == 2 ? 0 : row[2];
        ok(gbs_rows_add(rows, 1, row, NULL));
    }
    ok(gbs_potts_errors(model, rows, NULL, NULL, error, unseen, NULL));
    for (size_t k = 0; k < sizeof error / sizeof error[0]; ++k) {
        const bool open = k < 3 || (k >= 6 && k < 9) || (k >= 18 && k < 27);
        assert_true(unseen[k] == open && error[k] > 0.0);
    }
    gbs_model_free(model);
    gbs_rows_free(rows);
}

/* The share of parameters that l2 bounds alone and that are within 2 errors of the truth, which is
 * drawn from the prior of l2. */
static double share_of_unseen(uint64_t method, uint64_t probes)
{
    uint64_t seed = 9;
    size_t n = 0;
    size_t n_within = 0;
    const uint32_t n_sets = (uint32_t)test_share(50, 6);
    for (uint32_t set = 0; set < n_sets; ++set) {
        const gbs_potts_options options = {.size = sizeof options,
                                           .l2 = 1.0,
                                           .threads = 1,
                                           .tolerance = 1e-9,
                                           .method = method,
                                           .probes = probes,
                                           .seed = set};
        double x[PARAMETERS];
        double error[PARAMETERS];
        double value[PARAMETERS];
        uint8_t unseen[PARAMETERS];
        size_t n_values = 0;
        gbsi_potts sizes;
        gbs_model *learnt = NULL;
        for (size_t k = 0; k < PARAMETERS; ++k) { /* near normal */
            x[k] = -6.0;
            for (int i = 0; i < 12; ++i) {
                x[k] += uniform(&seed);
            }
        }
        gbs_model *model = model_of(SITES, STATES, x);
        gbs_rows *rows = drawn_rows(model, 60, &seed);
        ok(gbsi_potts_init(rows, NULL, &sizes, NULL));
        gbsi_potts_to_gauge(&sizes, x);
        ok(gbs_potts_learn(rows, NULL, &options, NULL, &learnt, NULL, NULL));
        ok(gbs_potts_errors(learnt, rows, &options, NULL, error, unseen, NULL));
        ok(gbs_potts_parameters(learnt, &n_values, value, NULL));
        for (size_t k = 0; k < PARAMETERS; ++k) {
            n += unseen[k];
            n_within += unseen[k] && fabs(value[k] - x[k]) <= 2.0 * error[k];
        }
        gbs_model_free(learnt);
        gbs_model_free(model);
        gbs_rows_free(rows);
    }
    assert_true(n > 20 * (size_t)n_sets);
    return (double)n_within / (double)n;
}

/* Of 200 sets of 60 rows, four for each free parameter of a site, 90 % with all sites together, 94
 * % with each alone; 0.02 is the standard deviation of 50 sets. Without the pull it is 70 %. */
static void unseen_truth_is_within_errors(void **state)
{
    (void)state;
    gbs_model *model = NULL;
    gbs_rows *rows = NULL;
    ok(gbs_rows_new(2, 2, &rows, NULL));
    ok(gbs_rows_add(rows, 1, (const uint32_t[]){0, 1}, NULL));
    const gbs_status status = gbs_potts_learn(rows, NULL, NULL, NULL, &model, NULL, NULL);
    gbs_rows_free(rows);
    gbs_model_free(model);
    if (status != GBS_ERR_UNSUPPORTED) { /* a build with libLBFGS */
        const double chance = test_scale_asked() == TEST_SMALL ? 0.17 : 0.06;
        assert_true(fabs(share_of_unseen(GBS_POTTS_PL, 0) - 0.90) < chance);
        assert_true(fabs(share_of_unseen(GBS_POTTS_ASYMMETRIC, 32) - 0.94) < chance);
    }
}

static int stop_at_once(void *context, const gbs_progress *progress)
{
    (void)context;
    (void)progress;
    return 1;
}

static void refusals(void **state)
{
    (void)state;
    uint64_t seed = 5;
    double truth[PARAMETERS] = {0.0};
    double error[PARAMETERS] = {7.0};
    gbs_error err = {GBS_OK, ""};
    const uint32_t three = 3;
    const gbs_potts_options chains = {.size = sizeof chains, .method = GBS_POTTS_PCD};
    const gbs_potts_options little = {.size = sizeof little, .memory_limit = 1};
    const gbs_potts_options probes = {.size = sizeof probes, .probes = 1000000};
    const gbs_potts_options too_many = {.size = sizeof too_many, .probes = 1000001};
    const gbs_run_callbacks callbacks = {.size = sizeof callbacks, .progress = stop_at_once};
    gbs_model *model = model_of(SITES, STATES, truth);
    gbs_rows *rows = drawn_rows(model, 14, &seed);
    gbs_rows *many = drawn_rows(model, 20000, &seed);
    assert_int_equal(gbs_potts_errors(model, rows, NULL, NULL, error, NULL, &err),
                     GBS_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "rows of weight 14, expected more than the 14 free"));
    assert_int_equal(gbs_potts_errors(model, many, &chains, NULL, error, NULL, &err),
                     GBS_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "persistent chains"));
    assert_int_equal(gbs_potts_errors(model, many, &little, NULL, error, NULL, &err),
                     GBS_ERR_LIMIT);
    assert_int_equal(gbs_potts_errors(model, many, NULL, &callbacks, error, NULL, &err),
                     GBS_ERR_STOPPED);
    assert_int_equal(gbs_potts_errors(model, many, &probes, &callbacks, error, NULL, &err),
                     GBS_ERR_STOPPED);
    assert_int_equal(gbs_potts_errors(model, many, &too_many, NULL, error, NULL, &err),
                     GBS_ERR_ARGUMENT);
    assert_true(error[0] == 7.0);
    gbs_model_free(model);
    double wide[3 * 34 + 3 * 34 * 34] = {0.0};
    gbs_rows *wide_rows = NULL;
    model = model_of(3, 34, wide);
    ok(gbs_rows_new(3, 34, &wide_rows, NULL));
    ok(gbs_rows_add(wide_rows, 1, (const uint32_t[3]){0}, NULL));
    assert_int_equal(gbs_potts_errors(model, rows, NULL, NULL, error, NULL, &err),
                     GBS_ERR_ARGUMENT);
    assert_int_equal(gbs_potts_errors(model, wide_rows, NULL, NULL, wide, NULL, &err),
                     GBS_ERR_UNSUPPORTED);
    gbs_model_free(model);
    gbs_rows_free(wide_rows);
    gbs_builder *b = NULL;
    ok(gbs_builder_new(&b, NULL));
    ok(gbs_builder_add_variables(b, 1, &three, NULL, NULL));
    ok(gbs_builder_build(b, &model, NULL));
    size_t n = 3;
    assert_int_equal(gbs_potts_parameters(model, &n, NULL, &err), GBS_ERR_ARGUMENT);
    assert_true(n == 3 && strstr(err.message, "a table for each variable") != NULL);
    gbs_model_free(model);
    gbs_builder_free(b);
    gbs_rows_free(rows);
    gbs_rows_free(many);
}

static void memory_runs_out(void **state)
{
    (void)state;
    uint64_t seed = 5;
    double truth[PARAMETERS] = {0.0};
    double error[PARAMETERS];
    gbs_model *model = model_of(SITES, STATES, truth);
    gbs_rows *rows = drawn_rows(model, 40, &seed);
    for (uint64_t probes = 0; probes < 3; probes += 2) {
        const gbs_potts_options one = {
            .size = sizeof one, .threads = 1, .method = probes, .probes = probes}; /* ASYMMETRIC */
        gbs_status status = GBS_ERR_MEMORY;
        for (uint64_t allowed = 0; status != GBS_OK; ++allowed) {
            assert_true(allowed < 100);
            gbsi_alloc_fail_after(allowed);
            status = gbs_potts_errors(model, rows, &one, NULL, error, NULL, NULL);
            gbsi_alloc_fail_after(UINT64_MAX);
        }
    }
    gbs_model_free(model);
    gbs_rows_free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_of_two_spins),
        cmocka_unit_test(truth_is_within_errors),
        cmocka_unit_test(probes_find_what_a_matrix_does),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(states_that_are_never_together),
        cmocka_unit_test(unseen_truth_is_within_errors),
        cmocka_unit_test(refusals),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
