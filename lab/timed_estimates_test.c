/* SPDX-License-Identifier: Apache-2.0 */
/* Tests estimates with their times: rates, bands, and a verdict that finds spoilt runs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lab/timed_estimates.h"

/* Makes runs that take one second plus one second for every thousand draws; the first run has no
 * standard error. */
static lab_timed_runs runs_of(double first, double factor, size_t n_estimates, double p)
{
    lab_timed_runs t = {.n = 4, .n_estimates = n_estimates};
    for (size_t k = 0; k < t.n; k++) {
        t.draws[k] = k == 0 ? first : factor * t.draws[k - 1];
        t.seconds[k] = 1.0 + t.draws[k] / 1000.0;
        t.p[k] = k < n_estimates ? p : NAN;
        t.mcse[k] = k > 0 && k < n_estimates ? 0.2 / sqrt(t.draws[k]) : NAN;
    }
    return t;
}

static void test_rates(void **state)
{
    (void)state;
    const lab_timed_runs t = runs_of(16.0, 8.0, 3, 0.5);
    assert_true(fabs(lab_seconds_for(&t, 50000.0) - 51.0) < 1e-9);
    for (size_t k = 0; k < 3; k++) {
        assert_true(fabs(lab_estimate_band(&t, k) - 0.4 / sqrt(t.draws[k])) < 1e-12);
    }
}

/* The verdict finds an estimate of either scan that is wrong, an estimate without a standard error,
 * and an optimised scan that is too slow or not nearer. A quick run does not judge times. */
static void test_verdict(void **state)
{
    (void)state;
    const double truth[2] = {0.499, 0.501};
    for (int spoilt = 0; spoilt < 12; spoilt++) {
        static laboratory lab;
        const lab_reproduce_options options = {.quick = spoilt >= 6};
        memset(&lab, 0, sizeof lab);
        lab.options = &options;
        lab.verdict.holds = 1;
        lab_timed_runs slow = runs_of(256.0, 8.0, 3, 0.5);
        lab_timed_runs fast = runs_of(1024.0, 16.0, 4, 0.5);
        for (size_t k = 0; k < fast.n; k++) {
            fast.seconds[k] = 0.5 + 0.1 * (double)k + (spoilt % 6 == 4 ? 10.0 : 0.0);
            fast.p[k] += spoilt % 6 == 2 ? 0.02 : spoilt % 6 == 5 ? 0.009 : 0.0;
        }
        slow.p[2] += spoilt % 6 == 1 ? 0.02 : 0.0;
        slow.mcse[2] = spoilt % 6 == 3 ? NAN : slow.mcse[2];
        lab_estimates_judge(&lab, &slow, &fast, truth, 0.01);
        assert_int_equal(lab.verdict.holds, spoilt % 6 == 0 || spoilt == 10 || spoilt == 11);
        assert_int_equal(strstr(lab.verdict.measured, "after") == NULL, spoilt >= 6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_verdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
