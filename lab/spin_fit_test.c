/* SPDX-License-Identifier: Apache-2.0 */
/* Tests fits to moments: moments as derivatives of ln Z, recovered parameters, failures. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "gibbsite/gibbsite.h"
#include "lab/spin_fit.h"

/* A ring of four with a diagonal. */
static const uint32_t pair[] = {0, 1, 1, 2, 2, 3, 3, 0, 0, 2};
static const gbsi_spins spins = {.n = 4, .n_pairs = 5, .pair = pair};
#define SIZE 9
static const double truth[SIZE] = {0.5, -0.3, 0.0, 1.0, 0.2, -0.4, 0.1, 0.3, 0.25};

static double log_z(const double *theta)
{
    gbs_model *model = NULL;
    double value = 0.0;
    assert_int_equal(lab_spins_model(&spins, theta, &model, NULL), GBS_OK);
    assert_int_equal(gbs_exact_log_z(model, NULL, NULL, &value, NULL), GBS_OK);
    gbs_model_free(model);
    return value;
}

static gbs_status by_enumeration(void *context, uint32_t step, const gbs_model *model,
                                 double *moment, gbs_error *err)
{
    const uint32_t *last = context; /* NULL, or the step that stops */
    if (last != NULL && step == *last) {
        return GBS_STOPPED;
    }
    return lab_spins_moments(&spins, model, moment, err);
}

static gbs_status moments_of(const double *theta, double *moment, gbs_error *err)
{
    gbs_model *model = NULL;
    gbs_status status = lab_spins_model(&spins, theta, &model, err);
    if (status >= 0) {
        status = lab_spins_moments(&spins, model, moment, err);
    }
    gbs_model_free(model);
    return status;
}

/* Compares moments with differences of the junction tree's ln Z, which approximate d ln Z / d
 * theta. */
static void test_moments(void **state)
{
    (void)state;
    double moment[SIZE];
    assert_int_equal(moments_of(truth, moment, NULL), GBS_OK);
    for (int m = 0; m < SIZE; m++) {
        double theta[SIZE];
        double side[2];
        for (int k = 0; k < 2; k++) {
            for (int i = 0; i < SIZE; i++) {
                theta[i] = truth[i] + (i == m ? (k == 0 ? -1e-4 : 1e-4) : 0.0);
            }
            side[k] = log_z(theta);
        }
        assert_true(fabs((side[1] - side[0]) / 2e-4 - moment[m]) < 1e-7);
    }
}

static gbs_status fit(uint32_t steps, uint32_t *last, double *path, gbs_error *err)
{
    double data[SIZE];
    const gbs_status status = moments_of(truth, data, err);
    const lab_ascent ascent = {.data = data,
                               .steps = steps,
                               .rate = 0.5,
                               .half = 1e9,
                               .moments = by_enumeration,
                               .context = last,
                               .path = path};
    return status < 0 ? status : lab_spins_fit(&spins, &ascent, err);
}

/* Recovers parameters from zero. Every step increases the likelihood, and here also decreases the
 * sum of squares. */
static void test_found_again(void **state)
{
    (void)state;
    static double path[401 * SIZE];
    assert_int_equal(fit(400, NULL, path, NULL), GBS_OK);
    for (int m = 0; m < SIZE; m++) {
        assert_true(path[m] == 0.0);
        assert_true(fabs(path[400 * SIZE + m] - truth[m]) < 1e-6);
    }
}

static void test_stopped(void **state)
{
    (void)state;
    double path[11 * SIZE];
    uint32_t last = 5;
    path[6 * SIZE] = 77.0;
    assert_int_equal(fit(10, &last, path, NULL), GBS_STOPPED);
    assert_true(path[6 * SIZE] == 77.0 && path[5 * SIZE] != 0.0);
}

static void test_too_many(void **state)
{
    (void)state;
    const gbsi_spins many = {.n = 21};
    const double theta[21] = {0.0};
    double moment[21] = {7.0};
    gbs_model *model = NULL;
    assert_int_equal(lab_spins_model(&many, theta, &model, NULL), GBS_OK);
    assert_int_equal(lab_spins_moments(&many, model, moment, NULL), GBS_ERR_LIMIT);
    assert_true(moment[0] == 7.0);
    gbs_model_free(model);
}

static void test_no_memory(void **state)
{
    (void)state;
    gbs_status status = GBS_ERR_MEMORY;
    uint64_t allowed = 0;
    for (; status == GBS_ERR_MEMORY && allowed < 10000; allowed++) {
        double path[3 * SIZE];
        gbsi_alloc_fail_after(allowed);
        status = fit(2, NULL, path, NULL);
        gbsi_alloc_fail_after(UINT64_MAX);
    }
    assert_int_equal(status, GBS_OK);
    assert_true(allowed > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments),   cmocka_unit_test(test_found_again),
        cmocka_unit_test(test_stopped),   cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
