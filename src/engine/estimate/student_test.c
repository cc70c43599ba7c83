/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "estimate/beta.h"
#include "simd/math.h"

static void assert_within(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) {
        fail_msg("%.17g, expected %.17g", a, b);
    }
}

/* df 1 and 3 at angles whose tangent u = t / sqrt(df) is a surd, and df 2 and 4 at any angle
 * (Abramowitz & Stegun 26.7.3-26.7.4). */
static void elementary(void **unused)
{
    (void)unused;
    const double pi = 3.14159265358979323846;
    const double root2 = gbsi_sqrt(2);
    const double root3 = gbsi_sqrt(3);
    const struct {
        double u, turns; /* u = tan(pi turns) */
    } angle[] = {{2 - root3, 1.0 / 12}, {root2 - 1, 1.0 / 8}, {1 / root3, 1.0 / 6}, {1, 1.0 / 4},
                 {root3, 1.0 / 3},      {root2 + 1, 3.0 / 8}, {2 + root3, 5.0 / 12}};
    for (size_t i = 0; i < sizeof angle / sizeof *angle; i++) {
        const double u = angle[i].u;
        const double p3 = 0.5 + angle[i].turns + u / (1 + u * u) / pi;
        assert_within(gbsi_student_cdf(u, 1), 0.5 + angle[i].turns, 1e-13);
        assert_within(gbsi_student_cdf(-u, 1), 0.5 - angle[i].turns, 1e-13);
        assert_within(gbsi_student_cdf(u * root3, 3), p3, 1e-13);
    }
    for (double t = -1000; t <= 1000; t = t + 0.01 + fabs(t) / 50) {
        assert_within(gbsi_student_cdf(t, 2), 0.5 + 0.5 * t / gbsi_sqrt(2 + t * t), 1e-12);
        const double s = t / gbsi_sqrt(4 + t * t);
        assert_within(gbsi_student_cdf(t, 4), 0.5 + 0.5 * s * (1 + (1 - s * s) / 2), 1e-12);
    }
}

/* Tails keep relative accuracy: df 2, P(T < -t) = 1 / (r (r + t)), r = sqrt(2 + t^2). */
static void tails(void **unused)
{
    (void)unused;
    for (double t = 1; t < 1e100; t *= 7) {
        const double r = gbsi_sqrt(2 + t * t);
        const double expected = 1 / (r * (r + t));
        assert_within(gbsi_student_cdf(-t, 2) / expected, 1, 1e-10);
    }
    /* Beyond the range of t^2: df 1/4, P(T < -t) falls like t^(-1/4). */
    const double ratio = gbsi_student_cdf(-1e300, 0.25) / gbsi_student_cdf(-1e200, 0.25);
    assert_within(ratio / 1e-25, 1, 1e-9);
}

/* Compares P(0 < T < t), by Simpson's rule on the unnormalised density, with its ratio to the value
 * at t = 2. */
static double simpson(double t, double df)
{
    enum { N = 4000 };
    double sum = 0;
    for (int i = 0; i <= N; i++) {
        const double x = t * i / N;
        const double density = gbsi_exp(-0.5 * (df + 1) * gbsi_log1p(x * x / df));
        sum += density * (i == 0 || i == N ? 1 : i % 2 == 1 ? 4 : 2);
    }
    return sum * t / N / 3;
}

static void integrated(void **unused)
{
    (void)unused;
    const double dfs[] = {0.5, 1.7, 7, 31.5, 63, 127, 255, 1e3, 1e5, 1e8};
    for (size_t i = 0; i < sizeof dfs / sizeof *dfs; i++) {
        const double df = dfs[i];
        const double to_2 = gbsi_student_cdf(2, df) - 0.5;
        for (double t = 0.125; t < 6; t += 0.37) {
            const double expected = to_2 * simpson(t, df) / simpson(2, df);
            assert_within(gbsi_student_cdf(t, df) - 0.5, expected, 2e-11);
        }
    }
}

/* Roots of the finite sums for even df (Abramowitz & Stegun 26.7.4), and the normal limit. */
static void quantiles(void **unused)
{
    (void)unused;
    assert_within(gbsi_student_quantile(0.975, 1), 12.706204736174704, 1e-8);
    assert_within(gbsi_student_quantile(0.975, 10), 2.2281388519649385, 1e-9);
    assert_within(gbsi_student_quantile(0.95, 30), 1.6972608865939598, 1e-9);
    assert_within(gbsi_student_quantile(0.025, 10), -2.2281388519649385, 1e-9);
    assert_within(gbsi_student_quantile(0.975, 1e9), 1.959963984540054, 1e-8);
    assert_within(gbsi_student_quantile(0.975, INFINITY), 1.959963984540054, 1e-8);
    assert_true(gbsi_student_quantile(0.5, 3) == 0);
    const double dfs[] = {0.7, 1, 5, 63, 255, 1e6};
    for (size_t i = 0; i < sizeof dfs / sizeof *dfs; i++) {
        for (double p = 1e-9; p < 1; p = p < 0.5 ? p * 3 : p + 0.03) {
            assert_within(gbsi_student_cdf(gbsi_student_quantile(p, dfs[i]), dfs[i]), p, 1e-12);
        }
    }
}

static void edges(void **unused)
{
    (void)unused;
    assert_true(gbsi_student_cdf(0, 5) == 0.5);
    assert_true(gbsi_student_cdf(INFINITY, 5) == 1);
    assert_true(gbsi_student_cdf(-INFINITY, 5) == 0);
    assert_true(gbsi_student_quantile(0, 5) == -INFINITY);
    assert_true(gbsi_student_quantile(1, 5) == INFINITY);
    assert_true(isnan(gbsi_student_cdf(NAN, 5)));
    assert_true(isnan(gbsi_student_cdf(1, 0)));
    assert_true(isnan(gbsi_student_cdf(1, NAN)));
    assert_true(isnan(gbsi_student_quantile(1.1, 5)));
    assert_true(isnan(gbsi_student_quantile(NAN, 5)));
    assert_true(isnan(gbsi_student_quantile(0.4, -1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elementary), cmocka_unit_test(tails), cmocka_unit_test(integrated),
        cmocka_unit_test(quantiles),  cmocka_unit_test(edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
