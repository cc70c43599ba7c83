/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "estimate/estimate_feed.h"
#include "simd/math.h"

static void assert_near(double a, double b)
{
    assert_true(fabs(a - b) <= 1e-14 * fabs(b));
}

static void by_hand(void **unused)
{
    (void)unused;
    /* Halves {1, 3} and {2, 6}: means 2 and 4, variances 2 and 8. W = 5, variance of means 2,
     * R^2 = (5/2 + 2) / 5 = 0.9. */
    const double one[] = {1, 3, 2, 6};
    assert_near(gbsi_split_rhat(one, 1, 4, 4), gbsi_sqrt(0.9));
    /* The middle value of an odd trace is left out, and so are values beyond n. */
    const double odd[] = {1, 3, 1e6, 2, 6, -1e6};
    assert_near(gbsi_split_rhat(odd, 1, 5, 6), gbsi_sqrt(0.9));
    /* Two chains. Means 2, 4, 2, 2; variances 2, 8, 0, 2: W = 3, variance of means 1. */
    const double two[] = {1, 3, 2, 6, 99, 2, 2, 1, 3, 99};
    assert_near(gbsi_split_rhat(two, 2, 4, 5), gbsi_sqrt((1.5 + 1) / 3));
}

static void constants(void **unused)
{
    (void)unused;
    /* The mean of three values 0.1 is not exact: the test for equality must not depend on rounding.
     */
    double trace[4][6];
    for (int c = 0; c < 4; c++) {
        for (int i = 0; i < 6; i++) {
            trace[c][i] = 0.1;
        }
    }
    assert_true(gbsi_split_rhat(&trace[0][0], 4, 6, 6) == 1.0);
    for (int i = 0; i < 6; i++) {
        trace[2][i] = 0.1 + 1e-9;
    }
    assert_true(isinf(gbsi_split_rhat(&trace[0][0], 4, 6, 6)));
}

static void undefined(void **unused)
{
    (void)unused;
    const double trace[] = {1, 3, 2, NAN, 4, -INFINITY, 1, 2};
    assert_true(isnan(gbsi_split_rhat(trace, 1, 3, 4)));
    assert_true(isnan(gbsi_split_rhat(trace, 0, 4, 4)));
    assert_true(isnan(gbsi_split_rhat(trace, 1, 4, 4)));
    assert_true(isnan(gbsi_split_rhat(trace + 4, 1, 4, 4)));
}

/* Independent values give a result near 1; a shift of one chain by a standard deviation gives a
 * larger result. A large constant added to all values changes little. */
static void told_apart(void **unused)
{
    (void)unused;
    enum { N_CHAINS = 4, N = 1000 };
    static double trace[N_CHAINS][N];
    static double moved[N_CHAINS][N];
    for (uint32_t c = 0; c < N_CHAINS; c++) {
        for (uint32_t i = 0; i < N; i++) {
            trace[c][i] = feed_uniform(1, c, i, 0);
            moved[c][i] = trace[c][i] + (c == 1 ? 0.29 : 0);
        }
    }
    const double rhat = gbsi_split_rhat(&trace[0][0], N_CHAINS, N, N);
    assert_true(rhat > 0.998 && rhat < 1.01);
    assert_true(gbsi_split_rhat(&moved[0][0], N_CHAINS, N, N) > 1.08);
    for (uint32_t i = 0; i < N_CHAINS * N; i++) {
        (&trace[0][0])[i] += 1e6;
    }
    assert_true(fabs(gbsi_split_rhat(&trace[0][0], N_CHAINS, N, N) - rhat) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(constants),
        cmocka_unit_test(undefined),
        cmocka_unit_test(told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
