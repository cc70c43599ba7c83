/* SPDX-License-Identifier: Apache-2.0 */
/* Splashes whose states are herded [M44]: marginals of the table of models within bands, what these
 * runs showed and half as much again; limits that are the random draw, against exact answers by
 * their standard errors; the errors that blocks of a whole component and small ones of a fixed
 * shape are found to have; the same bits everywhere. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/machine.h"
#include "base/test_row.h"
#include "gibbsite/generate.h"
#include "support/runs.h"
#include "support/small_models.h"

/* A draw as options choose it, and how far its marginals may be off after some 8192 updates. */
typedef struct herded {
    const char *name;
    int draw, keys, rule, bin_rule;
    uint64_t bins;
    bool binary_only;
    double band;
} herded;

static const herded draws[] = {
    {"discretized", GBS_DRAW_DISCRETIZED, 0, 0, 0, 16, false, 0.033},
    {"discretized, pre", GBS_DRAW_DISCRETIZED, 0, GBS_HERD_PRE, 0, 16, true, 0.042},
    {"discretized, argmax", GBS_DRAW_DISCRETIZED, 0, 0, GBS_BIN_ARGMAX, 16, false, 0.052},
    {"herded by bins", GBS_DRAW_HERDED, GBS_KEYS_BINS, 0, 0, 64, false, 0.011},
    {"one bin", GBS_DRAW_ONE_BIN, 0, 0, 0, 0, false, 0.08},
    {"rounded at random", GBS_DRAW_RANDOMLY_DISCRETIZED, 0, 0, 0, 16, false, 0.026},
    {"bounded, bins", GBS_DRAW_BOUNDED_ERROR, GBS_KEYS_BINS, 0, 0, 16, false, 0.038},
};
enum { N_DRAWS = sizeof draws / sizeof draws[0] };

static gbs_run_options options_of(const herded *d, uint64_t width, uint64_t size, uint64_t chains)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.scan = GBS_SCAN_SPLASH;
    options.width = width;
    options.splash_size = size;
    options.splashes = 2;
    test_choose_draw(&options, d->draw, d->keys, d->rule);
    options.bin_rule = d->bin_rule;
    options.bins = d->bins;
    options.chains = chains;
    options.sweeps = chains < 8 ? 2048 : 512;
    options.burn_in = 32;
    options.seed = 20261121;
    return options;
}

static bool is_small(void)
{
    return test_scale_asked() == TEST_SMALL;
}

static double worst(const test_answer *found, const test_answer *exact)
{
    double most = 0.0;
    for (size_t i = 0; i < found->n; ++i) {
        most = fmax(most, fabs(found->p[i] - exact->p[i]));
    }
    return most;
}

/* ---- against exact answers ------------------------------------------------------------------ */

/* Hard zeros make every run of such a model look at all of its states. */
static bool takes_long(const gbs_model *model)
{
    return gbs_model_n_variables(model) > 12;
}

static void check_case(const test_case *c, int number)
{
    static const uint64_t sizes[] = {1000, 4, 7, 1, 2};
    static const uint64_t chains[] = {16, 3, 1, 20};
    gbs_model *model = c->make();
    gbs_evidence *evidence = test_observe(model, c->observe);
    test_answer exact = test_exactly(model, evidence);
    for (int d = 0; d < N_DRAWS; ++d) {
        const int turn = 3 * number + d; /* 5, 4 and 3 ways come round over models and draws */
        gbs_run_options options = options_of(&draws[d], 1 + (uint64_t)turn % 4, sizes[turn % 5],
                                             chains[(turn + number) % 4]);
        options.grow = turn % 3;
        options.estimator =
            options.grow == GBS_GROW_FIFO ? GBS_ESTIMATOR_RAO_BLACKWELL : turn / 2 % 2;
        options.adapt = options.grow == GBS_GROW_ADAPTIVE ? 20 : 0;
        options.locking = turn / 3 % 2;
        if ((draws[d].binary_only && !test_all_binary(model)) ||
            (takes_long(model) && d % 3 != 0)) {
            continue;
        }
        test_row("%s, %s, width %d, size %d, %d chains, grow %d", c->name, draws[d].name,
                 (int)options.width, (int)options.splash_size, (int)options.chains, options.grow);
        test_answer found = test_run_once(model, evidence, &options);
        const double error = worst(&found, &exact);
        const bool reaches = c->crossable || options.splash_size == 1000;
        if (reaches && error > draws[d].band) {
            fail_msg("%s, %s, width %d, size %d, %d chains, grow %d, estimator %d: off by %.5f, "
                     "above %.5f",
                     c->name, draws[d].name, (int)options.width, (int)options.splash_size,
                     (int)options.chains, options.grow, options.estimator, error, draws[d].band);
        }
        assert_true(!found.report.converged || found.report.n_free_variables == 0);
        test_drop(&found);
    }
    test_drop(&exact);
    gbs_evidence_free(evidence);
    gbs_model_free(model);
}

static void every_model(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_test_cases; i += test_scaled(1, 3, 10)) {
        check_case(&test_cases[i], (int)i);
    }
}

/* One bin rounded at random, and a threshold never met, are the random draw in law. */
static void limits_are_random(void **state)
{
    (void)state;
    static const test_family families[] = {TEST_ISING, TEST_PAIRWISE, TEST_TABLE, TEST_PRECISE};
    for (size_t m = 0; m < 2 * sizeof families / sizeof families[0]; m += test_share(1, 5)) {
        gbs_model *model = test_model(families[m / 2], 5, 9);
        const herded *d = &draws[m % 2 == 0 ? 5 : 6];
        gbs_run_options options = options_of(d, 2, 5, m / 2 % 2 == 0 ? 16 : 3);
        options.bins = m % 2 == 0 ? 1 : 16;
        options.threshold = m % 2 == 0 ? options.threshold : 1e9;
        options.estimator = GBS_ESTIMATOR_COUNT;
        options.sweeps = 4096;
        test_answer exact = test_exactly(model, NULL);
        test_answer found = test_run_once(model, NULL, &options);
        size_t n = 0;
        for (size_t i = 0; i < found.n; ++i) {
            assert_true(fabs(found.p[i] - exact.p[i]) < 6.0 * found.mcse[i] + 2e-3);
            n += found.mcse[i] > 1e-4;
        }
        assert_true(n > 10);
        test_drop(&exact);
        test_drop(&found);
        gbs_model_free(model);
    }
}

/* ---- how errors fall ------------------------------------------------------------------------ */

static gbs_model *grid(uint32_t rows, uint32_t columns)
{
    const gbs_generate_ising_options options = {.side = {rows, columns, 1},
                                                .coupling = 0.3,
                                                .coupling_spread = 0.6,
                                                .random_field = 0.5,
                                                .seed = 3};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&options, &model, NULL), GBS_OK);
    return model;
}

/* Root of the mean square over marginals and four seeds, states counted. @param how NULL: random.
 * @param bias out: the largest bias that a comparison with the random draw has told. */
static double error_of(const gbs_model *model, const herded *how, uint64_t size, uint64_t sweeps,
                       double *bias)
{
    const herded random = {.draw = GBS_DRAW_RANDOM};
    test_answer exact = test_exactly(model, NULL);
    double sum = 0.0;
    *bias = NAN;
    for (uint64_t seed = 1; seed <= 4; ++seed) {
        gbs_run_options options = options_of(how == NULL ? &random : how, 8, size, 16);
        options.splashes = 1;
        options.grow = GBS_GROW_FIFO;
        options.estimator = GBS_ESTIMATOR_COUNT;
        options.sweeps = sweeps;
        options.seed = seed;
        test_answer found = test_run_once(model, NULL, &options);
        for (size_t i = 0; i < found.n; ++i) {
            const double error = found.p[i] - exact.p[i];
            sum += error * error / (double)(4 * found.n);
        }
        *bias = fmax(*bias, found.report.bias_estimate); /* of a number and NAN the number */
        test_drop(&found);
    }
    test_drop(&exact);
    return sqrt(sum);
}

/* One splash of a whole component draws it afresh, and herding then does what it does for one
 * distribution: on a chain of twelve errors fall nearly as 1/T, to a fiftieth of those of the
 * random draw after 2^16 sweeps; with loops to a fifth. */
static void whole_components(void **state)
{
    (void)state;
    double bias = 0.0;
    if (is_small()) {
        skip();
    }
    gbs_model *chain = grid(1, 12);
    gbs_model *square = grid(4, 4);
    const double first = error_of(chain, &draws[0], 12, 1u << 8, &bias);
    const double last = error_of(chain, &draws[0], 12, 1u << 14, &bias);
    assert_true(bias == 0.0);
    assert_true(last < first / 16.0); /* by chance: an eighth */
    assert_true(last < error_of(chain, NULL, 12, 1u << 14, &bias) / 12.0);
    assert_true(error_of(square, &draws[0], 16, 1u << 14, &bias) <
                error_of(square, NULL, 16, 1u << 14, &bias) / 2.0);
    gbs_model_free(chain);
    gbs_model_free(square);
}

/* Small splashes of always the same shapes: what a weight owes follows the states around it, and a
 * bias stays, larger the fewer weights there are. The comparison with the random draw tells. */
static void small_blocks_are_biased(void **state)
{
    (void)state;
    double bias = 0.0;
    if (is_small()) {
        skip();
    }
    gbs_model *model = grid(1, 12);
    const double random = error_of(model, NULL, 4, 1u << 13, &bias);
    assert_true(isnan(bias));
    const double bins = error_of(model, &draws[0], 4, 1u << 13, &bias);
    assert_true(bins > 2.0 * random && bins < 0.02);
    (void)error_of(model, &draws[0], 4, 1u << 15, &bias);
    assert_true(bias > 0.0);
    const double one = error_of(model, &draws[4], 4, 1u << 13, &bias);
    assert_true(one > 2.0 * bins && one < 0.08);
    assert_true(bias > 0.0);
    gbs_model_free(model);
}

/* Two splashes a round over components of two variables take the same turns in every pass: weights
 * that owe a half are seen at the same phase at the end of each, while averages of conditionals
 * have the answer. The comparison tells. */
static void states_at_ends_of_passes(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_test_cases; ++i) {
        if (strcmp(test_cases[i].name, "disconnected") != 0) {
            continue;
        }
        gbs_model *model = test_cases[i].make();
        test_answer exact = test_exactly(model, NULL);
        gbs_run_options options = options_of(&draws[0], 4, 2, 16);
        options.grow = GBS_GROW_FIFO;
        test_answer shares = test_run_once(model, NULL, &options);
        assert_true(worst(&shares, &exact) < 1e-6);
        options.estimator = GBS_ESTIMATOR_COUNT;
        test_answer counts = test_run_once(model, NULL, &options);
        assert_true(worst(&counts, &exact) > 0.05);
        assert_true(counts.report.bias_estimate > 0.03);
        test_drop(&shares);
        test_drop(&counts);
        test_drop(&exact);
        gbs_model_free(model);
    }
}

/* ---- the same bits -------------------------------------------------------------------------- */

static void any_number_of_threads(void **state)
{
    (void)state;
    static const uint64_t chains[] = {1, 3, 16, 40};
    for (int m = is_small(); m < 2; ++m) {
        gbs_model *model = m == 0 ? test_picture() : test_strip();
        const int step = (int)test_scaled(1, 2, N_DRAWS);
        for (int d = m % step; d < N_DRAWS; d += step) {
            if (draws[d].binary_only && m == 0) {
                continue;
            }
            gbs_run_options options =
                options_of(&draws[d], 2, d % 2 == 0 ? 25 : 1000, chains[(d + m) % 4]);
            options.splashes = 8;
            options.sweeps = is_small() ? 2 : 4;
            options.burn_in = 1;
            options.threads = 1;
            test_row("%s, %s, %d chains", m == 0 ? "picture" : "strip", draws[d].name,
                     (int)options.chains);
            test_answer one = test_run_once(model, NULL, &options);
            options.threads = 3;
            test_answer many = test_run_once(model, NULL, &options);
            assert_string_equal(one.digest, many.digest);
            options.locking = GBS_LOCKING_BLANKET; /* in a race: for the thread sanitizer */
            test_answer race = test_run_once(model, NULL, &options);
            test_drop(&one);
            test_drop(&many);
            test_drop(&race);
        }
        gbs_model_free(model);
    }
}

static void every_set(void **state)
{
    (void)state;
    for (int family = 0; family < TEST_N_FAMILIES; ++family) {
        gbs_model *model = test_model((test_family)family, 5, 9);
        const int step = (int)test_scaled(1, 2, 6);
        for (int d = family % step; d < N_DRAWS; d += step) {
            gbs_run_options options =
                options_of(&draws[d], 1 + (uint64_t)d % 3, 1000, (d + family) % 2 == 0 ? 17 : 3);
            options.estimator = d % 2;
            options.sweeps = test_share(40, 10);
            test_row("%s, %s, %d chains", test_family_name((test_family)family), draws[d].name,
                     (int)options.chains);
            if (!draws[d].binary_only || test_all_binary(model)) {
                test_same_bits(model, NULL, &options);
            }
        }
        gbs_model_free(model);
    }
}

/* A chain's weights move with it alone: beside none, beside others, and beside others of whom some
 * are drawn in logarithms (a grid so stiff that it depends on the boundary who is). */
static gbs_model *stiff_grid(void)
{
    enum { SIDE = 5 };
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    test_stream s = {.seed = 4};
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    for (uint32_t v = 0; v < SIDE * SIDE; ++v) {
        const uint32_t arity = 2 + v % 2;
        assert_int_equal(gbs_builder_add_variables(b, 1, &arity, NULL, NULL), GBS_OK);
    }
    for (uint32_t v = 0; v < SIDE * SIDE; ++v) {
        for (int way = 0; way < 2; ++way) {
            const uint32_t other = way == 0 ? v + 1 : v + SIDE;
            if (way == 0 ? v % SIDE + 1 == SIDE : other >= SIDE * SIDE) {
                continue;
            }
            const uint32_t scope[2] = {v, other};
            const size_t n = (size_t)(2 + v % 2) * (2 + other % 2);
            double logw[9];
            uint32_t table = 0;
            for (size_t i = 0; i < n; ++i) {
                logw[i] = test_below(&s, 4) == 0 ? test_uniform(&s, -60.0, 0.0)
                                                 : test_uniform(&s, -1.0, 0.0);
            }
            assert_int_equal(gbs_builder_add_table(b, n, logw, &table, NULL), GBS_OK);
            assert_int_equal(gbs_builder_add_table_factor(b, 2, scope, table, NULL), GBS_OK);
        }
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

static void chains_do_not_depend_on_their_number(void **state)
{
    (void)state;
    gbs_model *models[] = {test_model(TEST_ISING, 5, 12), test_model(TEST_MIXED, 5, 12),
                           stiff_grid()};
    for (size_t m = 0; m < sizeof models / sizeof models[0]; ++m) {
        for (int d = is_small() ? (int)m : 0; d < N_DRAWS; d += is_small() ? 3 : 1) {
            if (draws[d].binary_only && !test_all_binary(models[m])) {
                continue;
            }
            gbs_run_options options = options_of(&draws[d], 2, 6, 1);
            options.sweeps = test_share(150, 40);
            test_row("model %zu, %s", m, draws[d].name);
            const uint64_t alone = test_trajectory(models[m], NULL, options, 1, 0);
            assert_true(alone == test_trajectory(models[m], NULL, options, 16, 0));
            assert_true(alone == test_trajectory(models[m], NULL, options, 40, 0));
            assert_true(test_trajectory(models[m], NULL, options, 3, 2) ==
                        test_trajectory(models[m], NULL, options, 19, 2));
        }
        gbs_model_free(models[m]);
    }
}

/* A threshold of 0 is herding, number for number. */
static void threshold_zero_is_herding(void **state)
{
    (void)state;
    for (int m = 0; m < 2; ++m) {
        gbs_model *model = test_model(m == 0 ? TEST_ISING : TEST_PAIRWISE, 5, 12);
        herded how = draws[2];
        how.rule = GBS_HERD_PRE;
        gbs_run_options options = options_of(&how, 2, 6, 16);
        options.sweeps = 150;
        const uint64_t herding = test_trajectory(model, NULL, options, 16, 3);
        options = options_of(&draws[6], 2, 6, 16);
        options.sweeps = 150;
        options.threshold = 0.0;
        assert_true(herding == test_trajectory(model, NULL, options, 16, 3));
        options.threshold = 0.5;
        assert_true(herding != test_trajectory(model, NULL, options, 16, 3));
        gbs_model_free(model);
    }
}

static void count_update(void *context, uint64_t round, uint32_t splash, uint32_t variable)
{
    uint64_t *n = context;
    (void)round;
    (void)splash;
    (void)variable;
    ++*n;
}

/* The search for a threshold leaves nothing behind: neither weights nor splashes; those that come
 * after it are the ones told. */
static void threshold_found_is_threshold_given(void **state)
{
    (void)state;
    gbs_model *model = test_model(TEST_PAIRWISE, 3, 9);
    gbs_run_options options = options_of(&draws[6], 2, 4, 16);
    options.sweeps = 256;
    options.threshold = GBS_THRESHOLD_AUTO;
    test_answer found = test_run_once(model, NULL, &options);
    assert_true(found.report.threshold >= 0.0);
    options.threshold = found.report.threshold;
    test_answer given = test_run_once(model, NULL, &options);
    assert_string_equal(found.digest, given.digest);
    assert_int_equal(found.report.updates, given.report.updates);
    uint64_t n_told = 0;
    gbs_run *run = NULL;
    const gbs_run_callbacks callbacks = {.context = &n_told, .splash = count_update};
    options.threshold = GBS_THRESHOLD_AUTO;
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, NULL), GBS_OK);
    assert_int_equal(gbs_run_execute(run, &callbacks, NULL), GBS_OK);
    assert_int_equal(n_told * options.chains, gbs_run_report(run)->updates);
    gbs_run_free(run);
    test_drop(&found);
    test_drop(&given);
    gbs_model_free(model);
}

/* ---- refusals ------------------------------------------------------------------------------- */

static void refusals(void **state)
{
    (void)state;
    static const herded refused[] = {
        {.draw = GBS_DRAW_HERDED},        {.draw = GBS_DRAW_HERDED, .keys = GBS_KEYS_SHARED},
        {.draw = GBS_DRAW_HERDED_SHARED}, {.draw = GBS_DRAW_HERDED_COMPLETE},
        {.draw = GBS_DRAW_BOUNDED_ERROR},
    };
    gbs_model *model = test_strip();
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; ++i) {
        gbs_error err = {0};
        gbs_run *run = NULL;
        const gbs_run_options options = options_of(&refused[i], 2, 10, 16);
        test_row("draw %d, keys %d", refused[i].draw, refused[i].keys);
        assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_ERR_ARGUMENT);
        assert_non_null(strstr(err.message, "--keys bins"));
    }
    gbs_model_free(model);
}

/* Weights of more than two states are met one by one: what is beyond the room is refused then. */
static void weights_beyond_their_room(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_run *run = NULL;
    gbs_model *model = test_picture();
    gbs_run_options options = options_of(&draws[0], 2, 100, 16);
    options.bins = 64;
    options.sweeps = 64;
    options.threads = 1;
    options.estimator = GBS_ESTIMATOR_COUNT;
    options.memory_limit = gbsi_program_bytes() + (42 << 20);
    assert_int_equal(gbs_run_new(model, NULL, &options, &run, &err), GBS_OK);
    assert_true(gbs_run_report(run)->predicted_bytes <= options.memory_limit);
    assert_int_equal(gbs_run_execute(run, NULL, &err), GBS_ERR_LIMIT);
    assert_non_null(strstr(err.message, "fewer --bins"));
    gbs_run_free(run);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model),
        cmocka_unit_test(limits_are_random),
        cmocka_unit_test(whole_components),
        cmocka_unit_test(small_blocks_are_biased),
        cmocka_unit_test(states_at_ends_of_passes),
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(every_set),
        cmocka_unit_test(chains_do_not_depend_on_their_number),
        cmocka_unit_test(threshold_zero_is_herding),
        cmocka_unit_test(threshold_found_is_threshold_given),
        cmocka_unit_test(refusals),
        cmocka_unit_test(weights_beyond_their_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
