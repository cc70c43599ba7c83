/* SPDX-License-Identifier: Apache-2.0 */
/* Tests autocorrelation times of series whose autocorrelations are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/memory.h"
#include "base/test_scale.h"
#include "estimate/blocking.h"
#include "rng/philox.h"

static double uniform(uint32_t run, uint64_t pass)
{
    uint32_t word[4];
    gbsi_philox(5, run, pass, 0, GBSI_PURPOSE_TEST, word);
    return gbsi_uniform(word[0], word[1]) - 0.5;
}

static gbsi_blocking *new_blocks(uint32_t n_chains, uint32_t n_series)
{
    gbsi_blocking *b = NULL;
    assert_int_equal(gbsi_blocking_new(n_chains, n_series, &b, NULL), GBS_OK);
    return b;
}

/* The tau of an autoregression x' = a x + noise of n_chains chains; series 1 is noise alone. */
static gbsi_tau measure(uint32_t run, uint32_t n_chains, uint64_t n_passes, double a,
                        const double gradient[2])
{
    gbsi_blocking *b = new_blocks(n_chains, 2);
    double x[16] = {0.0};
    for (uint64_t pass = 0; pass < n_passes; ++pass) {
        for (uint32_t chain = 0; chain < n_chains; ++chain) {
            const double noise = uniform(run * 16 + chain, pass);
            x[chain] = a * x[chain] + noise;
            gbsi_blocking_put(b, chain, (const double[2]){1000.0 + x[chain], noise});
        }
        gbsi_blocking_end_pass(b);
    }
    const gbsi_tau found = gbsi_blocking_tau(b, gradient);
    gbsi_blocking_free(b);
    return found;
}

/* An autoregression has rho(t) = a^t and tau = 1/2 + a / (1 - a): 1/2, 3/2, 9.5. The errors of runs
 * must be true: the mean square of (tau - truth) / mcse is about 1. With 64 runs (512 at full
 * scale) it has a standard error of 0.2 (0.07). */
static void times_of_autoregressions(void **state)
{
    (void)state;
    const double coefficient[] = {0.0, 0.5, 0.9};
    const uint32_t n_runs = (uint32_t)test_scaled(512, 64, 32);
    for (int k = 0; k < 3; ++k) {
        const double truth = 0.5 + coefficient[k] / (1.0 - coefficient[k]);
        double sum = 0.0;
        double squares = 0.0;
        for (uint32_t run = 0; run < n_runs; ++run) {
            const uint32_t n_chains = run % 2 == 0 ? 1 : 4;
            const gbsi_tau found = measure(run, n_chains, 20000 / n_chains, coefficient[k],
                                           (const double[2]){3.0, 0.0});
            const double z = (found.tau - truth) / found.mcse;
            sum += found.tau / truth / n_runs;
            squares += z * z / n_runs;
        }
        print_message("a %.1f: tau / truth %.3f, mean square of z %.2f\n", coefficient[k], sum,
                      squares);
        assert_true(fabs(sum - 1.0) < 0.06);
        assert_true(squares > 0.5 && squares < 1.6);
    }
}

/* x' - a x is the noise: a difference of series has a tau of its own. */
static void times_of_functions(void **state)
{
    (void)state;
    const gbsi_tau both = measure(1, 4, 20000, 0.9, (const double[2]){1.0, -1.0});
    const gbsi_tau noise = measure(1, 4, 20000, 0.9, (const double[2]){0.0, 1.0});
    assert_true(fabs(noise.tau - 0.5) < 4.0 * noise.mcse);
    /* a x: the same autoregression, one pass later */
    assert_true(fabs(both.tau - 9.5) < 4.0 * both.mcse);
}

static void short_runs_have_none(void **state)
{
    (void)state;
    assert_true(isnan(measure(0, 1, 0, 0.5, (const double[2]){1.0, 0.0}).tau));
    assert_true(isnan(measure(0, 1, 1, 0.5, (const double[2]){1.0, 0.0}).tau));
    assert_true(isnan(measure(0, 1, 400, 0.5, (const double[2]){1.0, 0.0}).tau));
    assert_true(isnan(measure(0, 16, 500, 0.9, (const double[2]){1.0, 0.0}).tau));
    assert_true(isnan(measure(0, 1, 20000, 0.5, (const double[2]){0.0, 0.0}).tau));
}

static void memory_may_run_out(void **state)
{
    (void)state;
    gbs_status status = GBS_ERR_MEMORY;
    for (uint64_t n = 0; status != GBS_OK; ++n) {
        gbsi_blocking *b = NULL;
        gbsi_alloc_fail_after(n);
        status = gbsi_blocking_new(2, 3, &b, NULL);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true((b == NULL) == (status != GBS_OK));
        gbsi_blocking_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_of_autoregressions),
        cmocka_unit_test(times_of_functions),
        cmocka_unit_test(short_runs_have_none),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
