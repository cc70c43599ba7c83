/* SPDX-License-Identifier: Apache-2.0 */
/* Tests joint distributions estimated from independent draws of random models of every kind. */
#include <string.h>

#include "base/memory.h"
#include "gibbsite/joint.h"
#include "reference/joint.h"
#include "reference/testing.h"

enum { MOST_CELLS = 4096, N_CHAINS = 4, N_PASSES = 1500 };

typedef struct drawn {
    gbs_model *model;
    uint32_t n;
    size_t n_joint;
    double joint[MOST_CELLS]; /* distribution of all variables, variable 0 slowest */
} drawn;

static const uint32_t all[MOST_VARIABLES] = {0, 1, 2, 3, 4, 5};

/* Makes a model in which some state has weight. */
static void make(drawn *d)
{
    for (;;) {
        d->model = test_random_model();
        d->n = gbs_model_n_variables(d->model);
        d->n_joint = 1;
        for (uint32_t v = 0; v < d->n; ++v) {
            d->n_joint *= gbs_model_arity(d->model, v);
        }
        if (gbsi_joint_exact(d->model, NULL, d->n, all, d->joint, NULL) == GBS_OK) {
            return;
        }
        gbs_model_free(d->model);
    }
}

static void draw(const drawn *d, uint32_t *x)
{
    double left = (double)test_below(1u << 24) / (1u << 24);
    size_t i = 0;
    while (i + 1 < d->n_joint && left >= d->joint[i]) {
        left -= d->joint[i++];
    }
    for (uint32_t v = d->n; v-- > 0;) {
        x[v] = (uint32_t)(i % gbs_model_arity(d->model, v));
        i /= gbs_model_arity(d->model, v);
    }
}

/* Hides the variables that gbs_joint_estimate_needs() does not name. */
static void hide_others(const gbs_model *model, uint32_t n, const uint32_t *variable, uint32_t *x)
{
    uint32_t needed[MOST_VARIABLES];
    uint32_t n_needed = 0;
    uint32_t shown[MOST_VARIABLES];
    test_ok(gbs_joint_estimate_needs(model, n, variable, 1, needed, &n_needed, NULL));
    memset(shown, 0xff, sizeof shown);
    for (uint32_t i = 0; i < n_needed; ++i) {
        assert_true(i == 0 || needed[i] > needed[i - 1]);
        shown[needed[i]] = x[needed[i]];
    }
    memcpy(x, shown, gbs_model_n_variables(model) * sizeof *x);
}

/* Six standard errors for 30 models of about 20 cells are exceeded by chance once in 10^6 tests.
 * The errors do not contain states that no draw visited. n draws miss states of total probability m
 * with probability exp(-m n), and MISSED is m for 10^-8. With `average` the errors are not larger
 * on average. */
#define MISSED (18.0 / (N_PASSES * N_CHAINS))

static void random_models(void **unused)
{
    (void)unused;
    static drawn d;
    static double p[2][MOST_CELLS];
    static double mcse[2][MOST_CELLS];
    static double rhat[MOST_CELLS];
    static double known[MOST_CELLS];
    double errors[2] = {0.0, 0.0};
    test_draws_restart();
    for (uint32_t round = 0; round < 30; ++round) {
        gbs_joint_estimate *e[2] = {NULL, NULL};
        uint32_t x[MOST_VARIABLES] = {0};
        make(&d);
        const uint32_t n = 1 + test_below(d.n);
        uint32_t variable[MOST_VARIABLES];
        for (uint32_t i = 0; i < n; ++i) { /* from the last variable of the model on */
            variable[i] = d.n - 1 - i;
        }
        for (int average = 0; average < 2; ++average) {
            test_ok(gbs_joint_estimate_new(d.model, NULL, n, variable, N_CHAINS, average,
                                           &e[average], NULL));
        }
        for (uint32_t i = 0; i < N_PASSES * N_CHAINS; ++i) {
            draw(&d, x);
            test_ok(gbs_joint_estimate_add(e[0], i % N_CHAINS, x, NULL));
            hide_others(d.model, n, variable, x); /* the estimate does not read these states */
            test_ok(gbs_joint_estimate_add(e[1], i % N_CHAINS, x, NULL));
        }
        test_ok(gbsi_joint_exact(d.model, NULL, n, variable, known, NULL));
        size_t n_cells = 1;
        for (uint32_t i = 0; i < n; ++i) {
            n_cells *= gbs_model_arity(d.model, variable[i]);
        }
        for (int k = 0; k < 2; ++k) {
            test_ok(gbs_joint_estimate_read(e[k], p[k], mcse[k], NULL, rhat, NULL));
            for (size_t i = 0; i < n_cells; ++i) {
                assert_true(fabs(p[k][i] - known[i]) < 6.0 * mcse[k][i] + MISSED);
                errors[k] += mcse[k][i];
            }
            gbs_joint_estimate_free(e[k]);
        }
        gbs_model_free(d.model);
    }
    assert_true(errors[1] < 0.9 * errors[0]);
}

static void observed_and_alone(void **unused)
{
    (void)unused;
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    gbs_evidence *evidence = NULL;
    gbs_joint_estimate *e = NULL;
    const uint32_t two[2] = {2, 2};
    const uint32_t variable[2] = {1, 0};
    const uint32_t x[2] = {1, 0};
    const double likelihood[2] = {1.0, 3.0};
    double p[4];
    double ess[4];
    test_ok(gbs_builder_new(&b, NULL));
    test_ok(gbs_builder_add_variables(b, 2, two, NULL, NULL));
    test_ok(gbs_builder_build(b, &model, NULL));
    gbs_builder_free(b);
    test_ok(gbs_evidence_new(model, &evidence, NULL));
    test_ok(gbs_evidence_likelihood(evidence, 0, likelihood, NULL));
    test_ok(gbs_joint_estimate_new(model, evidence, 2, variable, 1, 1, &e, NULL));
    test_ok(gbs_joint_estimate_add(e, 0, x, NULL)); /* the conditional contains the likelihood */
    test_ok(gbs_joint_estimate_read(e, p, NULL, ess, NULL, NULL));
    assert_true(fabs(p[0] - 0.25) < 1e-15 && fabs(p[1] - 0.75) < 1e-15 && p[2] == 0.0);
    gbs_joint_estimate_free(e);
    test_ok(gbs_evidence_observe(evidence, 0, 1, NULL));
    test_ok(gbs_joint_estimate_new(model, evidence, 2, variable, 1, 1, &e, NULL));
    test_ok(gbs_joint_estimate_add(e, 0, x, NULL));
    test_ok(gbs_joint_estimate_read(e, p, NULL, NULL, NULL, NULL));
    assert_true(p[0] == 0.0 && p[1] == 1.0);
    gbs_joint_estimate_free(e);
    gbs_evidence_free(evidence);
    gbs_model_free(model);
}

static void refusals(void **unused)
{
    (void)unused;
    static drawn d;
    gbs_error err;
    double p[MOST_CELLS] = {7.0};
    uint32_t x[MOST_VARIABLES] = {0};
    const uint32_t twice[2] = {0, 0};
    gbs_joint_estimate *e = NULL;
    test_draws_restart();
    make(&d);
    assert_int_equal(gbs_joint_estimate_new(d.model, NULL, 2, twice, 2, 1, &e, &err),
                     GBS_ERR_ARGUMENT);
    assert_int_equal(gbs_joint_estimate_new(d.model, NULL, d.n, all, 1u << 20, 1, &e, &err),
                     GBS_ERR_LIMIT);
    gbs_status status = GBS_ERR_MEMORY;
    uint64_t n = 0;
    for (; status != GBS_OK; ++n) {
        gbsi_alloc_fail_after(n);
        status = gbs_joint_estimate_new(d.model, NULL, d.n, all, 2, 1, &e, NULL);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
        assert_true((status == GBS_OK) == (e != NULL));
    }
    assert_true(n > 5);
    assert_int_equal(gbs_joint_estimate_add(e, 1, x, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "chains take turns"));
    test_ok(gbs_joint_estimate_add(e, 0, x, NULL));
    assert_int_equal(gbs_joint_estimate_read(e, p, NULL, NULL, NULL, &err), GBS_ERR_STATE);
    x[0] = gbs_model_arity(d.model, 0);
    assert_int_equal(gbs_joint_estimate_add(e, 1, x, &err), GBS_ERR_ARGUMENT);
    assert_true(p[0] == 7.0);
    gbs_joint_estimate_free(e);
    gbs_model_free(d.model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_models),
                                       cmocka_unit_test(observed_and_alone),
                                       cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
