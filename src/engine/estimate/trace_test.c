/* SPDX-License-Identifier: Apache-2.0 */
/* Tests means, errors and R-hat of series with known results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/memory.h"
#include "estimate/trace.h"
#include "rng/philox.h"

static double uniform(uint32_t chain, uint64_t pass)
{
    uint32_t word[4];
    gbsi_philox(3, chain, pass, 0, GBSI_PURPOSE_TEST, word);
    return gbsi_uniform(word[0], word[1]);
}

static gbsi_trace *new_trace(uint32_t n_chains, uint32_t n_series)
{
    gbsi_trace *t = NULL;
    assert_int_equal(gbsi_trace_new(n_chains, n_series, &t, NULL), GBS_OK);
    return t;
}

/* Values 1 to 1000: the mean is exact for any merging of batches. The second series is the negative
 * of the first. */
static void means_are_of_all_passes(void **state)
{
    (void)state;
    gbsi_trace *t = new_trace(2, 2);
    assert_true(isnan(gbsi_trace_summarise(t, 0).mean));
    for (int pass = 1; pass <= 1000; ++pass) {
        for (uint32_t chain = 0; chain < 2; ++chain) {
            const double value[2] = {pass + 1000.0 * chain, -pass};
            gbsi_trace_put(t, chain, value);
        }
        gbsi_trace_end_pass(t);
        const gbsi_trace_summary s = gbsi_trace_summarise(t, 0);
        assert_true(fabs(s.mean - (0.5 * (pass + 1) + 500.0)) < 1e-9);
        assert_int_equal(isnan(s.mcse), pass < 128);
        assert_int_equal(isnan(s.rhat), pass < 4);
    }
    assert_true(gbsi_trace_summarise(t, 1).mean == -500.5);
    assert_true(gbsi_trace_summarise(t, 0).rhat > 1.5); /* chains differ, and drift */
    gbsi_trace_free(t);
}

/* AR(1) with coefficient 0.9: the variance of the mean is 19 times that of independent draws. Of 40
 * runs the mean of (error claimed / true)^2 must be near 1, and z-scores must be in bounds. */
static void errors_are_those_of_an_autoregression(void **state)
{
    (void)state;
    enum { RUNS = 40, PASSES = 20000 };
    const uint32_t n_chains_of[2] = {1, 16};
    for (int k = 0; k < 2; ++k) {
        const uint32_t n_chains = n_chains_of[k];
        const double truth = sqrt((1.0 / 12.0) / (0.1 * 0.1) / PASSES * 1.0 / n_chains);
        double squares = 0.0;
        double claims = 0.0;
        for (uint32_t run = 0; run < (k == 0 ? RUNS : RUNS / 8); ++run) {
            gbsi_trace *t = new_trace(n_chains, 1);
            double x[16] = {0.0};
            for (uint64_t pass = 0; pass < PASSES; ++pass) {
                for (uint32_t chain = 0; chain < n_chains; ++chain) {
                    x[chain] = 0.9 * x[chain] + uniform(run * 16 + chain, pass) - 0.5;
                    gbsi_trace_put(t, chain, &x[chain]);
                }
                gbsi_trace_end_pass(t);
            }
            const gbsi_trace_summary s = gbsi_trace_summarise(t, 0);
            claims += s.mcse * s.mcse / (truth * truth);
            squares += s.mean * s.mean / (truth * truth);
            assert_true(fabs(s.mean) < 4.5 * s.mcse);
            assert_true(fabs(s.rhat - 1.0) < (k == 0 ? 0.2 : 0.02));
            gbsi_trace_free(t);
        }
        const double n = k == 0 ? RUNS : RUNS / 8;
        assert_true(claims / n > 0.85 && claims / n < 1.15);
        assert_true(squares / n > 0.3 && squares / n < 2.2);
    }
}

static void memory_may_run_out(void **state)
{
    (void)state;
    gbs_status status = GBS_ERR_MEMORY;
    for (uint64_t n = 0; status != GBS_OK; ++n) {
        gbsi_trace *t = NULL;
        gbsi_alloc_fail_after(n);
        status = gbsi_trace_new(2, 3, &t, NULL);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true((t == NULL) == (status != GBS_OK));
        gbsi_trace_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_are_of_all_passes),
        cmocka_unit_test(errors_are_those_of_an_autoregression),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
