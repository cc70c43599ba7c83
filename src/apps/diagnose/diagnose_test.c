/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/test_random.h"
#include "diagnose/autocovariance.h"
#include "gibbsite/diagnose.h"
#include "simd/math.h"

static void close_to(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance * (1.0 + fabs(expected)))) {
        fail_msg("found %.17g, expected %.17g", found, expected);
    }
}

static double uniform(uint64_t *seed)
{
    return ((double)(next_random(seed) >> 11) + 0.5) * 0x1p-53;
}

/* Draws chains of x' = a x + noise, each about its own centre. @return an array that the caller
 * frees. */
static double *drawn(size_t n_chains, size_t n_draws, double a, double apart, uint64_t seed)
{
    double *x = malloc(n_chains * n_draws * sizeof *x);
    assert_non_null(x);
    for (size_t c = 0; c < n_chains; ++c) {
        double now = gbsi_normal_quantile(uniform(&seed)) / sqrt(1.0 - a * a);
        for (size_t i = 0; i < n_draws; ++i) {
            x[c * n_draws + i] = now + apart * (double)c;
            now = a * now + gbsi_normal_quantile(uniform(&seed));
        }
    }
    return x;
}

static gbs_diagnostics diagnosed(const double *x, size_t n_chains, size_t n_draws)
{
    gbs_diagnostics d = {.size = sizeof d};
    gbs_error err = {0};
    if (gbs_diagnose(x, n_chains, n_draws, &d, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return d;
}

static void quantiles_of_the_normal_distribution(void **state)
{
    (void)state;
    for (int i = -30; i <= 8; ++i) {
        for (double p = i < -3 ? ldexp(1.0, 10 * i) : 0.0625 * (i + 4); p < 1.0 && p > 0.0;
             p = 2.0) {
            const double z = gbsi_normal_quantile(p);
            close_to(log(0.5 * erfc(-z / sqrt(2.0))), log(p), 1e-13);
        }
    }
    assert_true(gbsi_normal_quantile(0.0) == -INFINITY && gbsi_normal_quantile(1.0) == INFINITY);
    assert_true(isnan(gbsi_normal_quantile(-0.1)) && isnan(gbsi_normal_quantile(NAN)));
    assert_true(gbsi_normal_quantile(0.5) == 0.0);
}

static void autocovariances_are_their_sums(void **state)
{
    (void)state;
    for (size_t n = 1; n < 300; n += 1 + n / 3) {
        gbsi_autocovariance a;
        double *x = drawn(1, n, 0.7, 0.0, n);
        double *sum = calloc(n, sizeof *sum);
        double mean = 0.0;
        assert_true(gbsi_autocovariance_begin(&a, n));
        gbsi_autocovariance_add(&a, x, sum);
        gbsi_autocovariance_add(&a, x, sum);
        for (size_t i = 0; i < n; ++i) {
            mean += x[i] / (double)n;
        }
        for (size_t t = 0; t < n; ++t) {
            double expected = 0.0;
            for (size_t i = 0; i + t < n; ++i) {
                expected += (x[i] - mean) * (x[i + t] - mean) / (double)n;
            }
            close_to(sum[t], 2.0 * expected, 1e-13);
        }
        gbsi_autocovariance_end(&a);
        free(x);
        free(sum);
    }
}

/* Compares long chains with known values: autocorrelation time (1 + a) / (1 - a), standard normal
 * scores. */
static void long_chains_of_known_time(void **state)
{
    (void)state;
    static const double a[] = {-0.5, 0.0, 0.5, 0.9};
    for (size_t i = 0; i < sizeof a / sizeof a[0]; ++i) {
        enum { CHAINS = 8, DRAWS = 5001 };
        double *x = drawn(CHAINS, DRAWS, a[i], 0.0, 100 + i);
        const gbs_diagnostics d = diagnosed(x, CHAINS, DRAWS);
        const double ess = CHAINS * DRAWS * (1.0 - a[i]) / (1.0 + a[i]);
        const double sd = 1.0 / sqrt(1.0 - a[i] * a[i]);
        assert_true(fabs(d.ess_mean / ess - 1.0) < 0.15 && fabs(d.ess_bulk / ess - 1.0) < 0.15);
        assert_true(d.rhat >= 0.999 && d.rhat < 1.01);
        assert_true(fabs(d.mean) < 4.0 * d.mcse_mean && fabs(d.sd - sd) < 4.0 * d.mcse_sd);
        assert_true(fabs(d.median) < 4.0 * d.mcse_median);
        close_to(d.q95, 1.6449 * sd, 0.05);
        close_to(d.q5, -1.6449 * sd, 0.05);
        assert_false(d.constant);
        free(x);
    }
}

/* Tests chains with different centres, which the first R-hat detects, and chains of unequal width,
 * which the second R-hat detects. */
static void chains_that_disagree(void **state)
{
    (void)state;
    double *x = drawn(4, 500, 0.3, 1.0, 5);
    gbs_diagnostics d = diagnosed(x, 4, 500);
    assert_true(d.rhat_bulk > 1.2 && d.rhat == fmax(d.rhat_bulk, d.rhat_folded));
    free(x);
    x = drawn(4, 500, 0.3, 0.0, 5);
    for (size_t i = 0; i < 500; ++i) {
        x[i] *= 5.0;
    }
    d = diagnosed(x, 4, 500);
    assert_true(d.rhat_bulk < 1.05 && d.rhat_folded > 1.1 && d.rhat == d.rhat_folded);
    free(x);
}

/* Compares with figures of R's package posterior, version 1.4.0, for draws that are given by a
 * formula: x_i = sin(i) + sin(i^2) / 2 + 0.3 c for draw i = 1, 2, ... of chain c = 0, 1, 2. */
static void figures_of_another_program(void **state)
{
    (void)state;
    enum { CHAINS = 3, DRAWS = 101 };
    double x[CHAINS * DRAWS];
    for (size_t k = 0; k < CHAINS * DRAWS; ++k) {
        const double i = (double)(k + 1); /* counted through all chains */
        x[k] = sin(i) + 0.5 * sin(i * i) + 0.3 * floor((double)k / DRAWS);
    }
    const gbs_diagnostics d = diagnosed(x, CHAINS, DRAWS);
    close_to(d.mean, 0.294335119554522, 1e-12);
    close_to(d.sd, 0.823977238214889, 1e-12);
    close_to(d.median, 0.307285627306839, 1e-12);
    close_to(d.q5, -1.04334635346804, 1e-12);
    close_to(d.q95, 1.59862355684403, 1e-12);
    close_to(d.mcse_mean, 0.0656480300994634, 1e-11);
    close_to(d.mcse_sd, 0.0171734927371978, 1e-11);
    close_to(d.mcse_median, 0.0905018888333215, 1e-11);
    close_to(d.rhat, 1.0427470615471, 1e-11);
    close_to(d.rhat_bulk, 1.0427470615471, 1e-11);
    close_to(d.ess_bulk, 164.224047410154, 1e-11);
    close_to(d.ess_tail, 344.558662977934, 1e-11);
    close_to(d.ess_mean, 157.538618275402, 1e-11);
    close_to(d.ess_sd, 743.136376415899, 1e-11);
}

static void nothing_is_known_of_constants(void **state)
{
    (void)state;
    double x[40];
    for (size_t i = 0; i < 40; ++i) {
        x[i] = 0.1;
    }
    gbs_diagnostics d = diagnosed(x, 4, 10);
    assert_true(d.constant && d.mean == 0.1 && d.sd == 0.0 && d.q95 == 0.1);
    assert_true(isnan(d.rhat) && isnan(d.ess_bulk) && isnan(d.ess_tail) && isnan(d.mcse_mean));
    x[7] = INFINITY;
    d = diagnosed(x, 4, 10);
    assert_true(isnan(d.mean) && isnan(d.rhat) && !d.constant);
    for (size_t i = 0; i < 40; ++i) {
        x[i] = (double)(i % 3 == 0); /* two values: no draw is above the 95 % quantile */
    }
    d = diagnosed(x, 4, 10);
    assert_true(isnan(d.ess_tail) && isfinite(d.ess_bulk) && isfinite(d.rhat));
    d = diagnosed(x, 1, 1);
    assert_true(d.mean == 1.0 && d.constant && isnan(d.rhat));
    d = diagnosed(x, 1, 3);
    assert_true(isnan(d.rhat) && isnan(d.ess_bulk) && d.median == 0.0);
}

static void refusals(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_diagnostics d = {.size = sizeof d};
    double x[8] = {0};
    assert_int_equal(gbs_diagnose(x, 0, 8, &d, &err), GBS_ERR_ARGUMENT);
    assert_int_equal(gbs_diagnose(x, SIZE_MAX, SIZE_MAX, &d, &err), GBS_ERR_ARGUMENT);
    d.size = 8;
    assert_int_equal(gbs_diagnose(x, 1, 8, &d, &err), GBS_ERR_ARGUMENT);
    d.size = sizeof d;
    x[0] = 1.0;
    for (uint64_t n = 0;; ++n) {
        gbsi_alloc_fail_after(n);
        const gbs_status status = gbs_diagnose(x, 1, 8, &d, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        if (status >= 0) {
            assert_true(n >= 8);
            break;
        }
        assert_int_equal(status, GBS_ERR_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_of_the_normal_distribution),
        cmocka_unit_test(autocovariances_are_their_sums),
        cmocka_unit_test(long_chains_of_known_time),
        cmocka_unit_test(chains_that_disagree),
        cmocka_unit_test(figures_of_another_program),
        cmocka_unit_test(nothing_is_known_of_constants),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
