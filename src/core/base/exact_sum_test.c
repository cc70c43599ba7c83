/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that exact sums have the same bits in any order and for any division among threads, and
 * that they are close to a sum in twice the precision. */
#include "base/exact_sum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/test_random.h"

enum { N = 4000 };

typedef struct parts {
    double high, low;
} parts;

/* Sums the terms first, first + step, ... */
static parts sum(const gbsi_sum_units *units, const double *term, size_t first, size_t step)
{
    parts p = {0.0, 0.0};
    for (size_t i = first; i < N; i += step) {
        gbsi_sum_term(units, term[i], &p.high, &p.low);
    }
    return p;
}

/* Draws terms of very different sizes and of either sign. */
static double draw(uint64_t *state, double most)
{
    double x = (double)(next_random(state) >> 11) * 0x1p-53 * most;
    for (uint64_t halvings = next_random(state) % 60; halvings > 0; --halvings) {
        x *= 0.5;
    }
    return next_random(state) % 2 == 0 ? x : -x;
}

static void check(double most, uint64_t *state)
{
    double term[N];
    long double expected = 0.0L;
    for (size_t i = 0; i < N; ++i) {
        term[i] = i == 0 ? most : draw(state, most);
        expected += (long double)term[i];
    }
    const gbsi_sum_units units = gbsi_sum_units_of(most, N);
    const parts once = sum(&units, term, 0, 1);
    for (size_t n_shares = 2; n_shares < 9; ++n_shares) {
        parts shared = {0.0, 0.0};
        for (size_t i = n_shares; i-- > 0;) {
            const parts own = sum(&units, term, i, n_shares);
            shared.high += own.high;
            shared.low += own.low;
        }
        assert_true(shared.high == once.high && shared.low == once.low);
    }
    const double error = (double)((long double)once.high + (long double)once.low - expected);
    /* n^3 M 2^-102, and the rounding error of long double */
    assert_true(fabs(error) <= 0x1p-64 * N * most);
}

static void test_any_order_has_the_same_bits(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    for (double most = 1e-30; most < 1e30; most *= 977.0) {
        check(most, &state);
    }
}

static void test_minus_infinity_stays(void **unused)
{
    (void)unused;
    const gbsi_sum_units units = gbsi_sum_units_of(0.0, 2);
    parts p = {0.0, 0.0};
    gbsi_sum_term(&units, -INFINITY, &p.high, &p.low);
    gbsi_sum_term(&units, 0.0, &p.high, &p.low);
    assert_true(p.high == -INFINITY && p.low == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_any_order_has_the_same_bits),
                                       cmocka_unit_test(test_minus_infinity_stays)};
    return cmocka_run_group_tests_name("exact_sum", tests, NULL, NULL);
}
