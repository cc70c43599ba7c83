/* SPDX-License-Identifier: Apache-2.0 */
/* Tests joint histograms: cells against counts by hand; exact joint distributions against marginals
 * and against sums over the whole joint distribution; evidence, refusals and memory. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "gibbsite/gibbsite.h"
#include "reference/joint.h"

/* 3 x 2 x 4 states, a table over all of them with a forbidden one. */
static gbs_model *make_model(double p[24])
{
    static const uint32_t arity[3] = {3, 2, 4};
    static const uint32_t scope[3] = {0, 1, 2};
    gbs_builder *builder = NULL;
    gbs_model *model = NULL;
    gbs_error err = {0};
    double logw[24];
    double sum = 0.0;
    uint32_t table = 0;
    for (int i = 0; i < 24; i++) {
        p[i] = i == 7 ? 0.0 : 1.0 + (i * 7) % 5;
        logw[i] = i == 7 ? -INFINITY : log(p[i]);
        sum += p[i];
    }
    for (int i = 0; i < 24; i++) {
        p[i] /= sum;
    }
    assert_int_equal(gbs_builder_new(&builder, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(builder, 3, arity, NULL, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_table(builder, 24, logw, &table, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(builder, 3, scope, table, &err), GBS_OK);
    assert_int_equal(gbs_builder_build(builder, &model, &err), GBS_OK);
    gbs_builder_free(builder);
    return model;
}

static void test_exact(void **state)
{
    (void)state;
    static const uint32_t pair[2] = {2, 0}; /* not in the order of the model */
    double p[24];
    double q[24];
    gbs_error err = {0};
    gbs_model *model = make_model(p);
    assert_int_equal(gbsi_joint_exact(model, NULL, 0, NULL, q, &err), GBS_OK);
    for (int i = 0; i < 24; i++) {
        assert_true(fabs(q[i] - p[i]) < 1e-14);
    }
    assert_int_equal(gbsi_joint_exact(model, NULL, 2, pair, q, &err), GBS_OK);
    for (int c = 0; c < 4; c++) {
        for (int a = 0; a < 3; a++) {
            const double sum = p[a * 8 + c] + p[a * 8 + 4 + c];
            assert_true(fabs(q[c * 3 + a] - sum) < 1e-14);
        }
    }
    gbs_model_free(model);
}

static void test_evidence(void **state)
{
    (void)state;
    double p[24];
    double q[24];
    gbs_error err = {0};
    gbs_evidence *evidence = NULL;
    gbs_model *model = make_model(p);
    assert_int_equal(gbs_evidence_new(model, &evidence, &err), GBS_OK);
    assert_int_equal(gbs_evidence_observe(evidence, 1, 1, &err), GBS_OK);
    assert_int_equal(gbsi_joint_exact(model, evidence, 0, NULL, q, &err), GBS_OK);
    double sum = 0.0;
    for (int i = 0; i < 24; i++) {
        sum += i / 4 % 2 == 1 ? p[i] : 0.0;
    }
    for (int i = 0; i < 24; i++) {
        assert_true(fabs(q[i] - (i / 4 % 2 == 1 ? p[i] / sum : 0.0)) < 1e-14);
    }
    gbs_evidence_free(evidence);
    gbs_model_free(model);
}

static void test_counts(void **state)
{
    (void)state;
    static const uint32_t draws[4][3] = {{0, 1, 3}, {2, 0, 0}, {0, 1, 3}, {1, 1, 1}};
    static const uint32_t pair[2] = {2, 0};
    double p[24];
    gbs_error err = {0};
    gbsi_joint *joint = NULL;
    gbs_model *model = make_model(p);
    assert_int_equal(gbsi_joint_new(model, 2, pair, 2, &joint, &err), GBS_OK);
    assert_int_equal(gbsi_joint_n_cells(joint), 12);
    assert_true(isnan(gbsi_joint_l1(joint, 1, p)));
    for (int i = 0; i < 4; i++) {
        assert_int_equal(gbsi_joint_add(joint, 1, draws[i], NULL), GBS_OK);
    }
    assert_int_equal(gbsi_joint_total(joint, 0), 0);
    assert_int_equal(gbsi_joint_total(joint, 1), 4);
    const uint64_t *count = gbsi_joint_counts(joint, 1);
    assert_int_equal(count[3 * 3 + 0], 2);
    assert_int_equal(count[0 * 3 + 2], 1);
    assert_int_equal(count[1 * 3 + 1], 1);
    assert_int_equal(gbsi_joint_counts(joint, 0)[9], 0);
    double q[12] = {0.0};
    q[9] = 0.25; /* seen with 0.5 */
    q[2] = 0.75; /* seen with 0.25; cell 4 is seen with 0.25 */
    assert_true(fabs(gbsi_joint_l1(joint, 1, q) - 1.0) < 1e-15);
    gbsi_joint_free(joint);
    gbs_model_free(model);
}

static void test_refusals(void **state)
{
    (void)state;
    static const uint32_t far[1] = {3};
    static const uint32_t twice[2] = {1, 1};
    double p[24];
    gbs_error err = {0};
    gbsi_joint *joint = NULL;
    gbs_model *model = make_model(p);
    assert_int_equal(gbsi_joint_new(model, 1, far, 1, &joint, &err), GBS_ERR_ARGUMENT);
    assert_int_equal(gbsi_joint_new(model, 2, twice, 1, &joint, &err), GBS_ERR_ARGUMENT);
    assert_int_equal(gbsi_joint_new(model, 0, NULL, 0, &joint, &err), GBS_ERR_ARGUMENT);
    assert_int_equal(gbsi_joint_new(model, 0, NULL, 1u << 30, &joint, &err), GBS_ERR_LIMIT);
    assert_int_equal(gbsi_joint_exact(model, NULL, 1, far, p, &err), GBS_ERR_ARGUMENT);
    assert_null(joint);
    gbs_model_free(model);
}

static void test_no_memory(void **state)
{
    (void)state;
    double p[24];
    double q[24];
    gbs_error err = {0};
    gbs_model *model = make_model(p);
    gbs_status status = GBS_ERR_MEMORY;
    uint64_t allowed = 0;
    for (; status == GBS_ERR_MEMORY && allowed < 1000; allowed++) {
        gbsi_joint *joint = NULL;
        q[0] = -1.0;
        gbsi_alloc_fail_after(allowed);
        status = gbsi_joint_new(model, 0, NULL, 3, &joint, &err);
        status = status >= 0 ? gbsi_joint_exact(model, NULL, 0, NULL, q, &err) : status;
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status >= 0 || q[0] == -1.0);
        gbsi_joint_free(joint);
    }
    assert_int_equal(status, GBS_OK);
    assert_true(allowed > 5);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),     cmocka_unit_test(test_evidence),
        cmocka_unit_test(test_counts),    cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
