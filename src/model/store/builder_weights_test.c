/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that factors from plain numbers equal factors from logarithms, and that invalid tables
 * are refused. */
#include <math.h>

#include "store/test_builder.h"

#include "base/memory.h"
#include "base/status.h"
#include "simd/math.h"

static const double joint[6] = {0.5, 0.0, 2.0, 1e-300, 7.25, 3.0};

/* p(child 3 | parents 4, 0): two columns of three states, one with a zero. */
static const uint32_t parents[2] = {4, 0};
static const double columns[6] = {0.25, 0.0, 0.75, 0.1, 0.2, 0.7};

static void test_equal_to_logs(void **unused)
{
    (void)unused;
    const uint32_t scope[2] = {1, 3};
    const uint32_t family[3] = {4, 0, 3};
    double logs[2][6];
    uint32_t table = 0;
    for (size_t i = 0; i < 6; ++i) {
        logs[0][i] = gbsi_log(joint[i]);
        logs[1][i] = gbsi_log(columns[i]);
    }
    gbs_builder *plain = new_builder(5, mixed);
    gbs_builder *by_logs = new_builder(5, mixed);
    assert_int_equal(gbs_builder_add_potential(plain, 2, scope, 6, joint, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_cpt(plain, 3, 2, parents, 6, columns, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_potential(plain, 0, NULL, 1, joint, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table(by_logs, 6, logs[0], &table, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(by_logs, 2, scope, table, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table(by_logs, 6, logs[1], &table, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(by_logs, 3, family, table, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table(by_logs, 1, logs[0], &table, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(by_logs, 0, NULL, table, NULL), GBS_OK);
    gbs_model *a = build(plain);
    gbs_model *b = build(by_logs);
    assert_string_equal(gbs_model_digest(a), gbs_model_digest(b));
    const uint32_t forbidden[5] = {0, 0, 0, 1, 0};
    assert_true(gbs_model_log_density(a, forbidden) == -INFINITY);
    gbs_model_free(a);
    gbs_model_free(b);
    gbs_builder_free(plain);
    gbs_builder_free(by_logs);
}

/* A network of tables is normalised if its columns are. */
static void test_network(void **unused)
{
    (void)unused;
    static const double root[2] = {0.3, 0.7};
    static const double rounded[4] = {0.3333333, 0.6666666, 0.0, 1.0};
    const uint32_t parent = 0;
    gbs_builder *b = new_builder(2, mixed);
    assert_int_equal(gbs_builder_add_cpt(b, 0, 0, NULL, 2, root, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_cpt(b, 1, 1, &parent, 4, rounded, NULL), GBS_OK);
    gbs_builder_set_directed(b);
    gbs_model *m = build(b);
    assert_true(gbs_model_is_directed(m));
    assert_true(gbs_model_is_normalized(m));
    gbs_model_free(m);
    gbs_builder_free(b);
}

static void test_refused(void **unused)
{
    (void)unused;
    const uint32_t scope[2] = {1, 3};
    const uint32_t twice[2] = {3, 0};
    const uint32_t wrong[2] = {4, 5};
    double bad[6];
    gbs_builder *b = new_builder(5, mixed);
    memcpy(bad, joint, sizeof bad);
    bad[4] = -0.5;
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_potential(b, 2, scope, 6, bad, &err),
            "factor 0: entry 4 is -0.5, expected a finite weight");
    bad[4] = INFINITY;
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_potential(b, 2, scope, 6, bad, &err), "entry 4");
    bad[4] = NAN;
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_potential(b, 2, scope, 6, bad, &err), "entry 4");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_potential(b, 2, scope, 5, joint, &err),
            "factor 0 has 5 entries, its scope (2 x 3) needs 6");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_potential(b, 2, scope, 0, joint, &err), "no entries");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_potential(b, 2, wrong, 6, joint, &err), "variable 5");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_cpt(b, 5, 0, NULL, 2, columns, &err),
            "variable 5 with 0 parents: there are 5 variables");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_cpt(b, 3, UINT32_MAX, parents, 6, columns, &err),
            "4294967295 parents");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_cpt(b, 3, 2, parents, 5, columns, &err),
            "table of variable 3: 5 entries, expected a multiple of its 3 states");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_cpt(b, 3, 2, parents, 3, columns, &err),
            "has 3 entries, its scope (1 x 2 x 3) needs 6");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_cpt(b, 3, 2, twice, 6, columns, &err), "twice");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_cpt(b, 3, 2, wrong, 6, columns, &err), "variable 5");
    memcpy(bad, columns, sizeof bad);
    bad[4] = 0.21;
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_cpt(b, 3, 2, parents, 6, bad, &err),
            "table of variable 3: the 3 entries from 3 on sum to 1.01, expected 1 within 1e-06");
    bad[4] = 0.2 + 1.1e-6;
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_cpt(b, 3, 2, parents, 6, bad, &err), "sum to 1.00");
    bad[4] = 1.2;
    bad[5] = -0.3;
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_cpt(b, 3, 2, parents, 6, bad, &err),
            "entry 4 is 1.2, expected a probability");
    bad[4] = NAN;
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_cpt(b, 3, 2, parents, 6, bad, &err), "entry 4");
    bad[4] = 0.2 + 0.9e-6; /* rounded, but within the tolerance */
    bad[5] = 0.7;
    assert_int_equal(gbs_builder_add_cpt(b, 3, 2, parents, 6, bad, NULL), GBS_OK);
    gbs_model *m = build(b); /* the refused tables were removed */
    assert_int_equal(gbs_model_n_factors(m), 1);
    gbs_builder *same = new_builder(5, mixed);
    assert_int_equal(gbs_builder_add_cpt(same, 3, 2, parents, 6, bad, NULL), GBS_OK);
    gbs_model *alone = build(same);
    assert_string_equal(gbs_model_digest(m), gbs_model_digest(alone));
    gbs_model_free(m);
    gbs_model_free(alone);
    gbs_builder_free(b);
    gbs_builder_free(same);
}

/* Checks every state of a noisy-or and a noisy-and with parents of two and three states. */
static void test_noisy(void **unused)
{
    (void)unused;
    const uint32_t arity[4] = {2, 3, 2, 2};
    const uint32_t of[2] = {1, 0};
    const double q[5] = {1.0, 0.5, 0.0, 1.0, 0.25};
    const double binary[2] = {0.125, 0.5};
    const uint32_t two[2] = {0, 2};
    const double bad[5] = {1.0, 0.5, 0.0, 1.5, 0.25};
    const gbs_factor_kind or = GBS_FACTOR_NOISY_OR;
    gbs_builder *b = new_builder(4, arity);
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_noisy_or(b, 2, 2, of, q, 0.1, &err),
            "parent 1 has 3 states, expected 2");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_noisy_and(b, 1, 1, of + 1, q, 0.1, &err),
            "variable 1 has 3 states, the child of a noisy factor needs 2");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_noisy(b, or, 2, 2, of, 4, q, 0.1, &err),
            "has 5 inhibitions, its leak and its parents need 6");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_noisy(b, or, 2, 2, of, 5, bad, 0.1, &err),
            "inhibition 3 is 1.5, expected a probability from 0 to 1");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_noisy(b, or, 2, 2, of, 5, q, NAN, &err), "leak");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_noisy(b, or, 0, 2, of, 5, q, 0.1, &err), "twice");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_noisy(b, GBS_FACTOR_TABLE, 2, 2, of, 5, q, 0.1, &err),
            "no noisy");
    assert_int_equal(gbs_builder_add_noisy(b, GBS_FACTOR_NOISY_OR, 2, 2, of, 5, q, 0.2, NULL),
                     GBS_OK);
    assert_int_equal(gbs_builder_add_noisy_and(b, 3, 2, two, binary, 0.1, NULL), GBS_OK);
    gbs_model *m = build(b);
    uint32_t n = 0;
    assert_int_equal(gbs_model_factor(m, 1, &n, NULL), GBS_FACTOR_NOISY_AND);
    assert_int_equal(n, 3);
    for (uint32_t i = 0; i < 24; ++i) {
        const uint32_t x[4] = {i % 2, i / 2 % 3, i / 6 % 2, i / 12};
        const double none = 0.8 * q[x[1]] * q[3 + x[0]];
        const double all = 0.9 * (x[0] == 0 ? binary[0] : 1.0) * (x[2] == 0 ? binary[1] : 1.0);
        const double p = (x[2] == 0 ? none : 1.0 - none) * (x[3] == 1 ? all : 1.0 - all);
        const double got = exp(gbs_model_log_density(m, x));
        assert_true(fabs(got - p) <= 1e-15);
    }
    gbs_model_free(m);
    gbs_builder_free(b);
}

/* Checks P(child <= y) as a product, for every state of a maximum of four and a minimum of three
 * variables. */
static void test_noisy_max(void **unused)
{
    (void)unused;
    const uint32_t arity[4] = {2, 3, 4, 3};
    const uint32_t of[2] = {1, 0};
    const double effect[20] = {1.0, 0.0, 0.0, 0.0,  0.25, 0.5, 0.25, 0.0, 0.0, 0.0,
                               0.0, 1.0, 0.9, 0.05, 0.05, 0.0, 0.5,  0.0, 0.5, 0.0};
    const double leak[4] = {0.5, 0.25, 0.125, 0.125};
    const double least[6] = {0.25, 0.25, 0.5, 1.0 - 1e-9, 1e-9, 0.0};
    const double bad[4] = {0.5, 0.25, 0.125, 0.5};
    const gbs_factor_kind max = GBS_FACTOR_NOISY_MAX;
    gbs_builder *b = new_builder(4, arity);
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_noisy_max(b, max, 2, 2, of, 16, effect, leak, &err),
            "has 15 inhibitions, its leak and its parents need 18");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_noisy_max(b, max, 2, 2, of, 19, effect, leak, &err),
            "19 entries, expected a multiple of its 4 states");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_noisy_max(b, max, 2, 2, of, 20, effect, bad, &err),
            "sum to 1.375, expected 1");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_noisy_max(b, max, 4, 2, of, 20, effect, leak, &err),
            "expected a variable of 2 states or more");
    REFUSED(GBS_ERR_ARGUMENT,
            gbs_builder_add_noisy_max(b, GBS_FACTOR_NOISY_OR, 2, 2, of, 20, effect, leak, &err),
            "kind 6 is no noisy maximum");
    assert_int_equal(gbs_builder_add_noisy_max(b, max, 2, 2, of, 20, effect, leak, NULL), GBS_OK);
    assert_int_equal(
        gbs_builder_add_noisy_max(b, GBS_FACTOR_NOISY_MIN, 3, 1, of + 1, 6, least, NULL, NULL),
        GBS_OK);
    gbs_model *m = build(b);
    uint32_t x[4] = {0};
    do {
        double p[2] = {1.0, 1.0}; /* probabilities that the child is at most x, and at most x - 1 */
        for (uint32_t less = 0; less < 2; ++less) {
            double sum[3] = {0.0, 0.0, 0.0};
            for (uint32_t y = 0; y + less <= x[2]; ++y) {
                sum[0] += effect[4 * x[1] + y];
                sum[1] += effect[12 + 4 * x[0] + y];
                sum[2] += leak[y];
            }
            p[less] = sum[0] * sum[1] * sum[2];
        }
        const double expected = (p[0] - p[1]) * least[3 * x[0] + x[3]]; /* a single cause */
        assert_true(fabs(exp(gbs_model_log_density(m, x)) - expected) <= 1e-15);
    } while (next_assignment(4, arity, x));
    gbs_model_free(m);
    gbs_builder_free(b);
}

/* Allows 0, 1, 2, ... requests for memory. Each call is refused until one succeeds, and its
 * result is then correct. */
static void test_no_memory(void **unused)
{
    (void)unused;
    gbs_builder *b = new_builder(5, mixed);
    gbs_status status = GBS_ERR_MEMORY;
    uint64_t n = 0;
    for (; status != GBS_OK; ++n) {
        gbsi_alloc_fail_after(n);
        status = gbs_builder_add_cpt(b, 3, 2, parents, 6, columns, NULL);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
    }
    assert_true(n > 3);
    gbs_model *m = build(b);
    assert_int_equal(gbs_model_n_factors(m), 1);
    gbs_model_free(m);
    gbs_builder_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_to_logs), cmocka_unit_test(test_network),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_noisy),
        cmocka_unit_test(test_noisy_max),     cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
