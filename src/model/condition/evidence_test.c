/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/random_models.h"

#include <string.h>

#include "base/memory.h"
#include "condition/condition.h"

static gbs_model *new_model(void)
{
    static const char *const label[3] = {"low", "mid", "high"};
    const uint32_t arity[3] = {2, 3, 1};
    gbs_builder *b = NULL;
    gbs_model *m = NULL;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, 3, arity, NULL, NULL), GBS_OK);
    assert_int_equal(gbs_builder_name_variable(b, 1, "level", NULL), GBS_OK);
    assert_int_equal(gbs_builder_label_states(b, 1, label, NULL), GBS_OK);
    assert_int_equal(gbs_builder_build(b, &m, NULL), GBS_OK);
    gbs_builder_free(b);
    return m;
}

static void test_observe(void **unused)
{
    (void)unused;
    gbs_error err = {0};
    gbs_evidence *e = NULL;
    uint32_t state = 7;
    gbs_model *m = new_model();
    assert_int_equal(gbs_evidence_new(m, &e, NULL), GBS_OK);
    assert_int_equal(gbs_evidence_state(e, 1, &state), 0);
    assert_int_equal(state, 7);
    assert_int_equal(gbs_evidence_observe(e, 1, 2, NULL), GBS_OK);
    assert_int_equal(gbs_evidence_observe(e, 1, 2, NULL), GBS_OK);
    assert_int_equal(gbs_evidence_n_observed(e), 1);
    assert_int_equal(gbs_evidence_observe(e, 1, 0, &err), GBS_ERR_ARGUMENT);
    assert_string_equal(err.message, "variable level is observed in state high and in state low");
    assert_int_equal(gbs_evidence_observe(e, 0, 2, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "variable 0: state 2, it has 2 states"));
    assert_int_equal(gbs_evidence_observe(e, 3, 0, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "variable 3: the model has 3 variables"));
    assert_int_equal(gbs_evidence_state(e, 1, &state), 1);
    assert_int_equal(state, 2);
    assert_int_equal(gbs_evidence_state(e, 1, NULL), 1);
    assert_int_equal(gbs_evidence_n_observed(e), 1);
    gbs_evidence_free(e);
    gbs_evidence_free(NULL);
    gbs_model_free(m);
}

static void test_refused_likelihood(void **unused)
{
    (void)unused;
    const double bad[4][3] = {{0, 0, 0}, {1, -0.5, 1}, {1, INFINITY, 1}, {(double)NAN, 1, 1}};
    static const char *const text[4] = {"every likelihood is zero", "state mid is -0.5",
                                        "state mid is inf", "state low is"};
    gbs_error err = {0};
    gbs_evidence *e = NULL;
    gbs_model *m = new_model();
    assert_int_equal(gbs_evidence_new(m, &e, NULL), GBS_OK);
    for (unsigned i = 0; i < 4; ++i) {
        assert_int_equal(gbs_evidence_likelihood(e, 1, bad[i], &err), GBS_ERR_ARGUMENT);
        assert_non_null(strstr(err.message, text[i]));
        assert_non_null(strstr(err.message, "variable level"));
    }
    assert_int_equal(gbs_evidence_likelihood(e, 3, bad[0], &err), GBS_ERR_ARGUMENT);
    assert_null(e->log_likelihood);
    gbs_evidence_free(e);
    gbs_model_free(m);
}

static void test_likelihoods_multiply(void **unused)
{
    (void)unused;
    const double first[3] = {0.5, 0.25, 0};
    const double second[3] = {1, 0.5, 4};
    const double third[3] = {0, 0, 1};
    gbs_error err = {0};
    gbs_evidence *e = NULL;
    gbsi_conditioned *c = NULL;
    gbs_model *m = new_model();
    assert_int_equal(gbs_evidence_new(m, &e, NULL), GBS_OK);
    assert_int_equal(gbs_evidence_likelihood(e, 1, first, NULL), GBS_OK);
    assert_int_equal(gbs_evidence_likelihood(e, 1, second, NULL), GBS_OK);
    assert_int_equal(gbs_evidence_likelihood(e, 1, third, &err), GBS_ERR_IMPOSSIBLE);
    assert_non_null(strstr(err.message, "leave it no state"));
    assert_int_equal(gbsi_condition(m, e, &c, NULL), GBS_OK);
    assert_int_equal(c->n_variables, 2);
    assert_int_equal(c->arity[1], 2); /* the state of likelihood 0 was removed */
    assert_int_equal(c->n_implied, 1);
    assert_int_equal(c->factors.n_factors, 1);
    assert_true(c->origin[0] == SIZE_MAX);
    const uint32_t x[2] = {0, 0};
    const uint32_t y[2] = {0, 1};
    assert_true(fabs(gbsi_conditioned_log_density(c, x) + 0.6931471805599453) < 1e-15);
    assert_true(fabs(gbsi_conditioned_log_density(c, y) + 3 * 0.6931471805599453) < 1e-15);
    gbsi_conditioned_free(c);
    gbs_evidence_free(e);
    gbs_model_free(m);
}

static void test_observed_of_likelihood_zero(void **unused)
{
    (void)unused;
    const double likelihood[3] = {1, 0, 1};
    gbs_error err = {0};
    gbs_evidence *e = NULL;
    gbsi_conditioned *c = NULL;
    gbs_model *m = new_model();
    assert_int_equal(gbs_evidence_new(m, &e, NULL), GBS_OK);
    assert_int_equal(gbs_evidence_likelihood(e, 1, likelihood, NULL), GBS_OK);
    assert_int_equal(gbs_evidence_observe(e, 1, 1, NULL), GBS_OK);
    assert_int_equal(gbsi_condition(m, e, &c, &err), GBS_ERR_IMPOSSIBLE);
    assert_string_equal(err.message, "evidence has probability zero: variable level is observed in "
                                     "state mid, of likelihood zero");
    gbs_evidence_free(e);
    gbs_model_free(m);
}

static void test_no_memory(void **unused)
{
    (void)unused;
    const double likelihood[2] = {1, 2};
    gbs_model *m = new_model();
    for (uint64_t n = 0; n < 4; ++n) {
        gbs_error err = {0};
        gbs_evidence *e = NULL;
        gbsi_alloc_fail_after(n);
        gbs_status status = gbs_evidence_new(m, &e, &err);
        if (status == GBS_OK) {
            status = gbs_evidence_likelihood(e, 0, likelihood, &err);
        }
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_int_equal(status, n < 3 ? GBS_ERR_MEMORY : GBS_OK);
        assert_int_equal(err.status, status);
        gbs_evidence_free(e);
    }
    gbs_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_observe),
        cmocka_unit_test(test_refused_likelihood),
        cmocka_unit_test(test_likelihoods_multiply),
        cmocka_unit_test(test_observed_of_likelihood_zero),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
