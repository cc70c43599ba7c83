/* SPDX-License-Identifier: Apache-2.0 */
/* Herding by bins and with bounded error: the joint of a fully connected model in the orders that
 * Yamashita & Suzuki (2019) lead one to expect, limits that are other draws, bounds on counts, and
 * the same bits everywhere. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gibbsite/generate.h"
#include "simd/dispatch.h"
#include "support/runs.h"
#include "support/small_models.h"

static gbs_run_options options_of(int draw, uint64_t bins, uint64_t sweeps)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.scan = GBS_SCAN_SYSTEMATIC;
    options.estimator = GBS_ESTIMATOR_COUNT;
    options.chains = 1;
    options.draw = draw;
    options.bins = bins;
    options.sweeps = sweeps;
    options.burn_in = 0;
    options.threads = 1;
    return options;
}

/* ---- joints ---------------------------------------------------------------------------------- */

enum { MOST_STATES = 256 };

typedef struct joint {
    const gbs_model *model;
    uint64_t count[MOST_STATES];
    uint64_t hash; /* of all draws in order */
} joint;

static size_t index_of(const gbs_model *model, const uint32_t *x)
{
    size_t index = 0;
    for (uint32_t v = 0; v < gbs_model_n_variables(model); ++v) {
        index = index * gbs_model_arity(model, v) + x[v];
    }
    return index;
}

static gbs_status count(void *context, uint64_t draw, uint32_t chain, double log_density,
                        const uint32_t *x, gbs_error *err)
{
    joint *j = context;
    (void)draw;
    (void)log_density;
    (void)err;
    if (chain == 0) {
        const size_t index = index_of(j->model, x);
        ++j->count[index];
        j->hash = (j->hash ^ index) * UINT64_C(1099511628211);
    }
    return GBS_OK;
}

static joint joint_of(const gbs_model *model, const gbs_run_options *options)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    joint j = {.model = model};
    const gbs_run_callbacks callbacks = {.context = &j, .draw = count};
    if (gbs_run_new(model, NULL, options, &run, &err) < 0 ||
        gbs_run_execute(run, &callbacks, &err) < 0) {
        fail_msg("%s", err.message);
    }
    gbs_run_free(run);
    return j;
}

static void exact_joint(const gbs_model *model, double p[MOST_STATES])
{
    uint32_t x[16] = {0};
    double total = 0.0;
    const uint32_t n = gbs_model_n_variables(model);
    memset(p, 0, MOST_STATES * sizeof *p);
    for (bool more = true; more;) {
        const size_t i = index_of(model, x);
        assert_true(i < MOST_STATES);
        p[i] = exp(gbs_model_log_density(model, x));
        total += p[i];
        uint32_t v = n;
        while (v > 0 && ++x[v - 1] == gbs_model_arity(model, v - 1)) {
            x[--v] = 0;
        }
        more = v > 0;
    }
    for (size_t i = 0; i < MOST_STATES; ++i) {
        p[i] /= total;
    }
}

static double l1_error(const gbs_model *model, const gbs_run_options *options)
{
    double p[MOST_STATES];
    double sum = 0.0;
    const joint j = joint_of(model, options);
    exact_joint(model, p);
    for (size_t i = 0; i < MOST_STATES; ++i) {
        sum += fabs((double)j.count[i] / (double)options->sweeps - p[i]);
    }
    return sum;
}

/* Eight spins all coupled to one another, couplings and fields uniform in +-1/2. */
static gbs_model *eight_spins(uint64_t seed)
{
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    test_stream s = {.seed = seed};
    const uint32_t two = 2;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    for (uint32_t v = 0; v < 8; ++v) {
        assert_int_equal(gbs_builder_add_variables(b, 1, &two, NULL, NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_field(b, v, test_uniform(&s, -0.5, 0.5), NULL), GBS_OK);
        for (uint32_t u = 0; u < v; ++u) {
            const double coupling = test_uniform(&s, -0.5, 0.5);
            assert_int_equal(gbs_builder_add_ising(b, u, v, coupling, NULL), GBS_OK);
        }
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

/* A ring of five variables of three states, normal log-weights. */
static gbs_model *ring(uint64_t seed)
{
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    test_stream s = {.seed = seed};
    const uint32_t three[5] = {3, 3, 3, 3, 3};
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, 5, three, NULL, NULL), GBS_OK);
    for (uint32_t v = 0; v < 5; ++v) {
        const uint32_t scope[2] = {v, (v + 1) % 5};
        double logw[9];
        uint32_t table = 0;
        for (int i = 0; i < 9; ++i) {
            logw[i] = test_uniform(&s, -1.7, 1.7);
        }
        assert_int_equal(gbs_builder_add_table(b, 9, logw, &table, NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_table_factor(b, 2, scope, table, NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

/* With 2^20 sweeps the L1 errors for 1, 4 and 16 bins are near 0.9, 0.28 and 0.06 (pre), 0.4, 0.03
 * and 0.009 (post), 0.008, 0.04 and 0.009 (rounded at random); 2^14 leave some 0.06 of chance. */
static void bins_in_order(void **state)
{
    (void)state;
    gbs_model *model = eight_spins(3);
    double error[3][3];
    for (int rule = 0; rule < 3; ++rule) {
        for (int i = 0; i < 3; ++i) {
            gbs_run_options options =
                options_of(rule == 2 ? GBS_DRAW_RANDOMLY_DISCRETIZED : GBS_DRAW_DISCRETIZED,
                           1u << 2 * i, 1u << 14);
            options.herd_rule = rule == 0   ? GBS_HERD_PRE
                                : rule == 1 ? GBS_HERD_POST
                                            : GBS_HERD_RULE_AUTO;
            error[rule][i] = l1_error(model, &options);
        }
    }
    assert_true(error[0][0] > 0.6 && error[0][1] > 0.15 && error[0][2] > 0.03);
    assert_true(error[0][1] < 0.5 && error[0][2] < 0.15);
    assert_true(error[1][0] > 0.2 && error[1][0] < 0.8);
    assert_true(error[1][1] < error[0][1] / 2.0 && error[1][2] < 0.1);
    assert_true(error[2][0] < 0.12 && error[2][1] < 0.15 && error[2][2] < 0.1);
    gbs_model_free(model);
}

/* More than two states: after 2^22 sweeps some 0.05 (argmax, pre), 0.02 (argmax, post) and below
 * 0.01 (stick, rounded). */
static void rules_for_three_states(void **state)
{
    (void)state;
    gbs_model *model = ring(1);
    gbs_run_options options = options_of(GBS_DRAW_DISCRETIZED, 8, 1u << 15);
    const double stick = l1_error(model, &options);
    options.bin_rule = GBS_BIN_ARGMAX;
    const double argmax = l1_error(model, &options);
    options.herd_rule = GBS_HERD_PRE;
    const double pre = l1_error(model, &options);
    options = options_of(GBS_DRAW_RANDOMLY_DISCRETIZED, 8, 1u << 15);
    const double rounded = l1_error(model, &options);
    options = options_of(GBS_DRAW_BOUNDED_ERROR, 8, 1u << 15);
    options.keys = GBS_KEYS_BINS;
    const double bounded = l1_error(model, &options);
    assert_true(stick < 0.08 && rounded < 0.08 && argmax < 0.1 && bounded < 0.1);
    assert_true(pre < 0.3 && pre > stick);
    gbs_model_free(model);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* A threshold of 0 is herding, number for number, by every kind of key. */
static void threshold_zero_is_herding(void **state)
{
    (void)state;
    static const int keys[] = {GBS_KEYS_NEIGHBOURS, GBS_KEYS_SHARED, GBS_KEYS_COMPLETE,
                               GBS_KEYS_BINS};
    for (int m = 0; m < 2; ++m) {
        gbs_model *model = m == 0 ? eight_spins(5) : ring(5);
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; ++i) {
            gbs_run_options options = options_of(GBS_DRAW_HERDED, 0, 2000);
            options.keys = keys[i];
            options.bins = keys[i] == GBS_KEYS_BINS ? 6 : 0;
            options.herd_rule = GBS_HERD_PRE;
            options.bin_rule = keys[i] == GBS_KEYS_BINS ? GBS_BIN_ARGMAX : GBS_BIN_STICK;
            const uint64_t herded = joint_of(model, &options).hash;
            options.draw = GBS_DRAW_BOUNDED_ERROR;
            options.threshold = 0.0;
            assert_true(herded == joint_of(model, &options).hash);
            options.threshold = 0.5;
            assert_true(herded != joint_of(model, &options).hash);
        }
        gbs_model_free(model);
    }
}

/* One bin rounded at random, and a threshold never met, are the random draw in law: the marginals
 * within what their standard errors allow. */
static void limits_are_random(void **state)
{
    (void)state;
    for (int m = 0; m < 4; ++m) {
        gbs_model *model = m % 2 == 0 ? eight_spins(7) : ring(7);
        gbs_run_options oracle = gbs_run_options_default();
        gbs_run_options options = options_of(
            m < 2 ? GBS_DRAW_RANDOMLY_DISCRETIZED : GBS_DRAW_BOUNDED_ERROR, m < 2 ? 1 : 0, 4096);
        options.chains = 16;
        options.threshold = m < 2 ? options.threshold : 1e9;
        oracle.method = GBS_METHOD_EXACT;
        test_answer exact = test_run_once(model, NULL, &oracle);
        test_answer found = test_run_once(model, NULL, &options);
        for (size_t i = 0; i < found.n; ++i) {
            assert_true(found.mcse[i] > 1e-4);
            assert_true(fabs(found.p[i] - exact.p[i]) < 6.0 * found.mcse[i]);
        }
        test_drop(&exact);
        test_drop(&found);
        gbs_model_free(model);
    }
}

/* |N_1 - T p| <= 2 c + 1 of a single variable, rounding of counts apart; at random it would be some
 * sqrt(T) / 2 = 45. */
static void counts_are_bounded(void **state)
{
    (void)state;
    const uint32_t two = 2;
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, 1, &two, NULL, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_field(b, 0, 0.35, NULL), GBS_OK);
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    const double p = 1.0 / (1.0 + exp(-0.7));
    for (int i = 0; i < 4; ++i) {
        static const double threshold[] = {0.0, 0.5, 2.0, 6.0};
        gbs_run_options options = options_of(GBS_DRAW_BOUNDED_ERROR, 0, 8192);
        options.threshold = threshold[i];
        const joint j = joint_of(model, &options);
        assert_true(fabs((double)j.count[1] - 8192.0 * p) <= 2.0 * threshold[i] + 1.01);
    }
    gbs_model_free(model);
}

/* ---- the same bits --------------------------------------------------------------------------- */

enum { N_VARIANTS = 6 };

static gbs_run_options variant(int i, uint64_t chains)
{
    static const int draw[N_VARIANTS] = {GBS_DRAW_DISCRETIZED,          GBS_DRAW_DISCRETIZED,
                                         GBS_DRAW_RANDOMLY_DISCRETIZED, GBS_DRAW_BOUNDED_ERROR,
                                         GBS_DRAW_BOUNDED_ERROR,        GBS_DRAW_ONE_BIN};
    gbs_run_options options = options_of(draw[i], 0, 40);
    options.bin_rule = i == 1 ? GBS_BIN_ARGMAX : GBS_BIN_STICK;
    options.keys = i == 4 ? GBS_KEYS_BINS : GBS_KEYS_AUTO;
    options.bins = i == 3 || i == 5 ? 0 : 5;
    options.chains = chains;
    options.scan = GBS_SCAN_CHROMATIC;
    options.estimator = i % 2;
    return options;
}

static void on_every_set(void **state)
{
    (void)state;
    const gbsi_simd best = gbsi_simd_force(GBSI_SIMD_AVX512);
    for (int family = 0; family < TEST_N_FAMILIES; ++family) {
        gbs_model *model = test_model((test_family)family, 5, 9);
        for (int i = family % (int)test_share(1, 3); i < N_VARIANTS; i += (int)test_share(1, 3)) {
            const gbs_run_options options = variant(i, family % 2 == 0 ? 17 : 3);
            char first[33] = "";
            for (int level = 0; level <= (int)best; ++level) {
                if (!gbsi_simd_has((gbsi_simd)level)) {
                    continue;
                }
                (void)gbsi_simd_force((gbsi_simd)level);
                test_answer found = test_run_once(model, NULL, &options);
                if (level == 0) {
                    memcpy(first, found.digest, sizeof first);
                }
                assert_string_equal(first, found.digest);
                test_drop(&found);
            }
        }
        gbs_model_free(model);
    }
    (void)gbsi_simd_force(best);
}

/* Chain 0 alone, in slots, is chain 0 of sixteen, in lanes. */
static void in_slots_and_lanes(void **state)
{
    (void)state;
    for (int m = 0; m < 2; ++m) {
        gbs_model *model = m == 0 ? eight_spins(9) : ring(9);
        for (int i = 0; i < N_VARIANTS; ++i) {
            const gbs_run_options alone = variant(i, 1);
            const gbs_run_options among = variant(i, 16);
            assert_true(joint_of(model, &alone).hash == joint_of(model, &among).hash);
        }
        gbs_model_free(model);
    }
}

static void any_number_of_threads(void **state)
{
    (void)state;
    const gbs_generate_potts_options shape = {
        .rows = 40, .columns = 30, .states = 3, .coupling = 0.7, .noise = 1.0, .seed = 3};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_potts(&shape, &model, NULL), GBS_OK);
    for (int i = 0; i < N_VARIANTS; ++i) {
        gbs_run_options options = variant(i, 16);
        options.sweeps = test_share(8, 2);
        test_answer one = test_run_once(model, NULL, &options);
        options.threads = 3;
        test_answer many = test_run_once(model, NULL, &options);
        assert_string_equal(one.digest, many.digest);
        test_drop(&one);
        test_drop(&many);
    }
    gbs_model_free(model);
}

/* ---- options --------------------------------------------------------------------------------- */

static void refusals(void **state)
{
    (void)state;
    gbs_model *model = ring(1);
    gbs_run_options options = options_of(GBS_DRAW_DISCRETIZED, 4, 10);
    options.herd_rule = GBS_HERD_PRE;
    test_refused(model, &options, "argmax");
    options = options_of(GBS_DRAW_HERDED, 0, 10);
    options.threshold = 2.0;
    test_refused(model, &options, "threshold");
    options.threshold = 1.0;
    options.bin_rule = GBS_BIN_ARGMAX;
    test_refused(model, &options, "no bins");
    options = options_of(GBS_DRAW_BOUNDED_ERROR, 0, 10);
    options.herd_rule = GBS_HERD_POST;
    test_refused(model, &options, "herd-rule");
    options = options_of(GBS_DRAW_RANDOMLY_DISCRETIZED, 4, 10);
    options.bin_rule = GBS_BIN_ARGMAX;
    test_refused(model, &options, "has fixed ones");
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_in_order),
        cmocka_unit_test(rules_for_three_states),
        cmocka_unit_test(threshold_zero_is_herding),
        cmocka_unit_test(limits_are_random),
        cmocka_unit_test(counts_are_bounded),
        cmocka_unit_test(on_every_set),
        cmocka_unit_test(in_slots_and_lanes),
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
