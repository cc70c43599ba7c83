/* SPDX-License-Identifier: Apache-2.0 */
#include "estimate/beta.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "simd/math.h"

static void assert_within(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance * fabs(b))) {
        fail_msg("%.17g, expected %.17g", a, b);
    }
}

/* For whole a and b: P(X <= x) = P(Binomial(a + b - 1, x) >= a) (DLMF 8.17.5). */
static void whole_numbers(void **unused)
{
    (void)unused;
    for (int a = 1; a < 40; a += 3) {
        for (int b = 1; b < 40; b += 4) {
            for (double x = 0.03; x < 1; x += 0.12) {
                const int n = a + b - 1;
                double term = 1; /* term of k successes, from n down */
                double sum = 0;
                for (int k = 0; k < n; k++) {
                    term *= x;
                }
                for (int k = n; k >= a; k--) {
                    sum += term;
                    term *= k / (n - k + 1.0) * (1 - x) / x;
                }
                assert_within(gbsi_beta_cdf(x, a, b), sum, 1e-11);
            }
        }
    }
}

static void quantiles_invert(void **unused)
{
    (void)unused;
    const double ab[] = {0.01, 0.5, 1, 3.25, 40, 1000, 1e6};
    const double p[] = {0.001, 0.025, 0.5, 0.9, 0.975};
    for (size_t i = 0; i < sizeof ab / sizeof *ab; i++) {
        for (size_t j = 0; j < sizeof ab / sizeof *ab; j++) {
            for (size_t k = 0; k < sizeof p / sizeof *p; k++) {
                const double x = gbsi_beta_quantile(p[k], ab[i], ab[j]);
                /* where a double can be near enough to the exact value */
                if (x > 1e-290 && x < 0.999) {
                    assert_within(gbsi_beta_cdf(x, ab[i], ab[j]), p[k], 1e-8);
                }
            }
        }
    }
    assert_within(gbsi_beta_quantile(0.3, 1, 1), 0.3, 1e-12);
    assert_within(gbsi_beta_quantile(0.3, 0.5, 0.5), 0.20610737385376343,
                  1e-10); /* sin^2(.15 pi) */
}

static void outside(void **unused)
{
    (void)unused;
    assert_true(isnan(gbsi_beta_cdf(0.5, 0, 1)) && isnan(gbsi_beta_cdf(NAN, 1, 1)));
    assert_true(isnan(gbsi_beta_quantile(-0.1, 1, 1)) && isnan(gbsi_beta_quantile(0.5, 1, -1)));
    assert_true(gbsi_beta_cdf(-1, 2, 2) == 0 && gbsi_beta_cdf(2, 2, 2) == 1);
    assert_true(gbsi_beta_quantile(0, 2, 2) == 0 && gbsi_beta_quantile(1, 2, 2) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(quantiles_invert),
        cmocka_unit_test(outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
