/* SPDX-License-Identifier: Apache-2.0 */
/* Compares with the C library in long double: the largest error in ulps, and results that are
 * not finite. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/test_random.h"
#include "base/test_scale.h"
#include "simd/dispatch.h"
#include "simd/math.h"

/* If long double has no more digits than double, the reference has errors itself. */
#if LDBL_MANT_DIG >= 64
#define REFERENCE_ULPS 0.001
#else
#define REFERENCE_ULPS 1.0
#endif

/* Returns the number of random arguments; fewer at small scale, because an emulator computes
 * long doubles slowly. */
static uint32_t n_random(void)
{
    return (uint32_t)test_share(200000, 20000);
}

static double uniform(uint32_t i, uint32_t stream)
{
    uint64_t state = (uint64_t)stream << 32 | i;
    return (double)(next_random(&state) >> 11) * 0x1p-53;
}

/* Returns |y - truth| in ulps of the double next to truth. */
static double ulps(double y, long double truth)
{
    double nearest = (double)truth;
    if (isinf(y) && nearest == y) {
        return 0.0;
    }
    if (isnan(y) || isinf(y) || isinf(nearest)) {
        return INFINITY;
    }
    double size = fabs(nearest);
    double ulp = size < DBL_MIN ? 0x1p-1074 : ldexp(1.0, ilogb(size) - 52);
    return (double)(fabsl((long double)y - truth) / ulp);
}

typedef struct range {
    double low;
    double high;
    int octaves; /* 1: low and high are exponents of two; 2: the sign is random as well */
} range;

static double draw(range r, uint32_t i, uint32_t stream)
{
    double t = r.low + (r.high - r.low) * uniform(i, stream);
    if (r.octaves == 0) {
        return t;
    }
    double x = ldexp(1.0 + uniform(i, stream + 100), (int)floor(t));
    return r.octaves == 2 && uniform(i, stream + 200) < 0.5 ? -x : x;
}

static void check(const char *name, double (*f)(double), long double (*exact)(long double), range r,
                  double limit)
{
    double worst = 0.0;
    double at = 0.0;
    const uint32_t n = n_random();
    for (uint32_t i = 0; i < n; i++) {
        double x = draw(r, i, 1);
        double error = ulps(f(x), exact(x));
        if (!(error <= worst)) {
            worst = error;
            at = x;
        }
    }
    print_message("%s on [%g, %g]: %.3f ulp at %a\n", name, r.low, r.high, worst, at);
    assert_true(worst < limit + REFERENCE_ULPS);
}

static void exp_and_log(void **state)
{
    (void)state;
    check("exp", gbsi_exp, expl, (range){-708.0, 709.7, 0}, 1.0);
    check("exp", gbsi_exp, expl, (range){-745.1, -708.0, 0}, 1.0);
    check("exp", gbsi_exp, expl, (range){-1.0, 1.0, 0}, 1.0);
    check("exp", gbsi_exp, expl, (range){-60.0, 9.0, 2}, 1.0);
    check("log", gbsi_log, logl, (range){-1074.0, 1023.9, 1}, 1.0);
    check("log", gbsi_log, logl, (range){0.5, 2.0, 0}, 1.0);
    check("log", gbsi_log, logl, (range){1.0 - 1e-9, 1.0 + 1e-9, 0}, 1.0);
    check("log2", gbsi_log2, log2l, (range){-1074.0, 1023.9, 1}, 1.0);
    check("log2", gbsi_log2, log2l, (range){0.9, 1.1, 0}, 1.0);
    check("log10", gbsi_log10, log10l, (range){-1074.0, 1023.9, 1}, 1.0);
    check("log10", gbsi_log10, log10l, (range){0.9, 1.1, 0}, 1.0);
}

static void relatives(void **state)
{
    (void)state;
    check("expm1", gbsi_expm1, expm1l, (range){-50.0, 709.7, 0}, 1.5);
    check("expm1", gbsi_expm1, expm1l, (range){-60.0, 5.0, 2}, 1.5);
    check("expm1", gbsi_expm1, expm1l, (range){-1.5, 1.5, 0}, 1.5);
    check("log1p", gbsi_log1p, log1pl, (range){-60.0, 1000.0, 1}, 1.0);
    check("log1p", gbsi_log1p, log1pl, (range){-60.0, -0.5, 2}, 1.0);
    check("log1p", gbsi_log1p, log1pl, (range){-0.999999, 3.0, 0}, 1.0);
    check("tanh", gbsi_tanh, tanhl, (range){-60.0, 6.0, 2}, 1.5);
    check("tanh", gbsi_tanh, tanhl, (range){-3.0, 3.0, 0}, 1.5);
    check("sqrt", gbsi_sqrt, sqrtl, (range){-1074.0, 1023.9, 1}, 0.5);
}

/* Powers that end anywhere in the range of doubles: y is the logarithm of a random result to
 * base x. */
static void powers(void **state)
{
    (void)state;
    double worst = 0.0;
    const uint32_t n = n_random();
    for (uint32_t i = 0; i < n; i++) {
        double x = draw((range){-1074.0, 1023.9, 1}, i, 3);
        if (i % 3 == 0) {
            x = 1.0 + ldexp(uniform(i, 9) - 0.5, -(int)(i % 48));
        }
        double log_x = log(x);
        double y = (uniform(i, 4) * 1454.0 - 744.5) / (log_x == 0.0 ? 1.0 : log_x);
        double error = ulps(gbsi_pow(x, y), powl(x, y));
        worst = error > worst ? error : worst;
    }
    print_message("pow: %.3f ulp\n", worst);
    assert_true(worst < 2.0 + REFERENCE_ULPS);
}

/* Expects the same bits; all NaNs count as equal. */
static void expect(double found, double expected)
{
    if (isnan(expected)) {
        assert_true(isnan(found));
        return;
    }
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): equal bits are meant */
    if (memcmp(&found, &expected, sizeof found) != 0) {
        fail_msg("%a, not %a", found, expected);
    }
}

static void special_values(void **state)
{
    (void)state;
    const double x[] = {0.0,      -0.0,      1.0,        -1.0,    INFINITY, -INFINITY,
                        NAN,      0x1p-1074, -0x1p-1074, DBL_MAX, -DBL_MAX, 0x1p-60,
                        -0x1p-60, DBL_MIN,   -2.0,       1e300,   -1e300};
    for (size_t i = 0; i < sizeof x / sizeof x[0]; i++) {
        expect(gbsi_exp(x[i]), (double)expl(x[i]));
        expect(gbsi_expm1(x[i]), (double)expm1l(x[i]));
        expect(gbsi_tanh(x[i]), (double)tanhl(x[i]));
        expect(gbsi_log(x[i]), (double)logl(x[i]));
        expect(gbsi_log2(x[i]), (double)log2l(x[i]));
        expect(gbsi_log10(x[i]), (double)log10l(x[i]));
        expect(gbsi_log1p(x[i]), (double)log1pl(x[i]));
        expect(gbsi_sqrt(x[i]), sqrt(x[i]));
    }
    expect(gbsi_exp(0x1.62e42fefa39efp+9), (double)expl(0x1.62e42fefa39efp+9L));
    expect(gbsi_exp(0x1.62e42fefa39f0p+9), INFINITY);
    expect(gbsi_exp(-745.13), 0x1p-1074);
    expect(gbsi_exp(-745.14), 0.0);
}

static void exact_results(void **state)
{
    (void)state;
    for (int k = -1074; k <= 1023; k++) {
        expect(gbsi_log2(ldexp(1.0, k)), k);
        expect(gbsi_pow(2.0, k), ldexp(1.0, k));
    }
    double power = 1.0;
    for (int k = 0; k <= 22; k++) {
        expect(gbsi_log10(power), k);
        expect(gbsi_pow(10.0, k), power);
        power *= 10.0;
    }
    expect(gbsi_pow(9.0, 0.5), 3.0);
    expect(gbsi_pow(9.0, -0.5), 1.0 / 3.0);
}

static void special_powers(void **state)
{
    (void)state;
    expect(gbsi_pow(1.0, NAN), 1.0);
    expect(gbsi_pow(NAN, 0.0), 1.0);
    expect(gbsi_pow(NAN, 1.0), NAN);
    expect(gbsi_pow(2.0, NAN), NAN);
    expect(gbsi_pow(-1.0, 2.0), NAN);
    expect(gbsi_pow(0.0, 2.0), 0.0);
    expect(gbsi_pow(0.0, -2.0), INFINITY);
    expect(gbsi_pow(INFINITY, 0.5), INFINITY);
    expect(gbsi_pow(INFINITY, -0.5), 0.0);
    expect(gbsi_pow(0.5, INFINITY), 0.0);
    expect(gbsi_pow(0.5, -INFINITY), INFINITY);
    expect(gbsi_pow(2.0, INFINITY), INFINITY);
    expect(gbsi_pow(nextafter(1.0, 2.0), DBL_MAX), INFINITY);
    expect(gbsi_pow(nextafter(1.0, 0.0), DBL_MAX), 0.0);
    expect(gbsi_pow(DBL_MAX, 0x1p-1074), 1.0);
    expect(gbsi_pow(2.0, 1e10), INFINITY);
    expect(gbsi_pow(2.0, -1e10), 0.0);
    expect(gbsi_pow(2.0, -1074.0), 0x1p-1074);
    expect(gbsi_pow(0x1p-1074, 1.0), 0x1p-1074);
}

/* Logarithms of eight numbers at a time have the same bits as logarithms of single numbers, in
 * every instruction set, also for special arguments. */
static void log_many(void **state)
{
    (void)state;
    static const double odd[] = {0.0,
                                 -0.0,
                                 -1.0,
                                 INFINITY,
                                 -INFINITY,
                                 NAN,
                                 DBL_MIN,
                                 DBL_MIN / 3,
                                 0x1p-1074,
                                 DBL_MAX,
                                 1.0,
                                 0x1.6a09e667f3bccp-1,
                                 0x1.6a09e667f3bcdp-1,
                                 0x1.6a09e667f3bcdp0};
    enum { N = 4099, N_ODD = sizeof odd / sizeof *odd };
    static double x[N];
    static double y[N];
    for (gbsi_simd level = GBSI_SIMD_PORTABLE; level < GBSI_N_SIMD; level++) {
        if (gbsi_simd_force(level) != level) {
            print_message("no %s here\n", gbsi_simd_text(level));
            continue;
        }
        for (uint32_t i = 0; i < N; i++) {
            const range all = {-1022.0, 1023.0, 1};
            const range near_one = {0.5, 2.0, 0};
            x[i] = i % 7 == 3 ? odd[i / 7 % N_ODD] : draw(i % 2 == 0 ? all : near_one, i, 50);
        }
        for (size_t n = 0; n < 40; n++) {
            memcpy(y, x, sizeof y);
            gbsi_log_many(y, n);
            assert_memory_equal(y + n, x + n, sizeof y - n * sizeof *y);
        }
        memcpy(y, x, sizeof y);
        gbsi_log_many(y, N);
        for (size_t i = 0; i < N; i++) {
            const double one = gbsi_log(x[i]);
            /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): equal bits are meant */
            assert_true(isnan(one) ? isnan(y[i]) : memcmp(&one, &y[i], sizeof one) == 0);
        }
    }
    (void)gbsi_simd_force(GBSI_N_SIMD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_and_log),   cmocka_unit_test(relatives),
        cmocka_unit_test(powers),        cmocka_unit_test(special_values),
        cmocka_unit_test(exact_results), cmocka_unit_test(special_powers),
        cmocka_unit_test(log_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
