/* SPDX-License-Identifier: Apache-2.0 */
/* Compares every operation of every instruction set with portable C, bit for bit. Compares
 * portable C with the statements in lanes.h if these can be checked in a line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/test_random.h"
#include "base/test_scale.h"
#include "gibbsite/status.h"
#include "simd/dispatch.h"
#include "simd/lanes_probe.h"
#include "simd/math_lanes.h"

/* Returns the number of rounds of sixteen random words each. */
static uint32_t n_rounds(void)
{
    return (uint32_t)test_share(20000, 2000);
}

static const uint32_t EXTREME[] = {
    0x00000000, 0x80000000, 0x00000001, 0x807FFFFF, 0x00800000, 0x3F800000, 0xBF800000, 0x3F7FFFFF,
    0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0x4B000000, 0x4AFFFFFF,
    0xCB000001, 0x4F000000, 0x4EFFFFFF, 0xCF000000, 0x3F000000, 0x3FC00000, 0xBF000000, 0x42B00000,
    0xC2AE999A, 0xC2AE999B, 0xC2B00000, 0x3F200000, 0x3F3504F3, 0x3F3504F2, 0xFFFFFFFF, 0x00FF00FF,
    0x0000FFFF, 0xFFFF0000, 0x01010101, 0x4B800000};
static const double EXTREME_DOUBLE[] = {
    0.0,     -0.0,     1.0,       -1.0, 0x1p-149,  0x1p-150,  0x1.8p-149,   0x1.fffffefp127,
    0x1p128, INFINITY, -INFINITY, NAN,  0x1p-1074, -0x1p1023, 0x1.000001p0, 0x1.0000010000001p0};

static uint32_t random_word(uint32_t *n)
{
    uint64_t state = *n;
    uint32_t word = (uint32_t)(next_random(&state) >> 32);
    *n += 1;
    return word;
}

/* Returns an extreme value, arbitrary bits, or a float between 2^-9 and 2^9, a third of the time
 * each. */
static uint32_t test_word(uint32_t *n)
{
    uint32_t word = random_word(n);
    uint32_t more = random_word(n);
    switch (more % 3) {
    case 0:
        return EXTREME[word % (sizeof EXTREME / sizeof EXTREME[0])];
    case 1:
        return word;
    default:
        return (word & 0x807FFFFFu) | (118 + (more >> 8) % 18) << 23;
    }
}

static double test_double(uint32_t *n)
{
    uint32_t word = random_word(n);
    if (word % 3 == 0) {
        return EXTREME_DOUBLE[(word >> 8) % (sizeof EXTREME_DOUBLE / sizeof EXTREME_DOUBLE[0])];
    }
    return ldexp((double)(int32_t)random_word(n) + 0x1p-32 * random_word(n),
                 word % 3 == 1 ? -31 : (int)((word >> 8) % 300) - 180);
}

static void fill(probe_input *in, uint32_t round, uint32_t *n)
{
    for (int i = 0; i < 16; i++) {
        in->a[i] = test_word(n);
        in->b[i] = test_word(n);
        in->c[i] = test_word(n);
        in->x[i] = test_double(n);
        in->y[i] = random_word(n) % 8 == 0 ? in->x[i] : test_double(n);
        in->z[i] = test_double(n);
        if (random_word(n) % 8 == 0) {
            in->b[i] = in->a[i];
        }
    }
    if (round % 16 == 0) {
        for (int i = 0; i < PROBE_TABLE + 4; i++) {
            in->table[i] = random_word(n) & 0xFF7FFFFFu; /* no NaN, because payloads may differ */
        }
    }
}

/* Returns whether two outputs are equal; all NaNs count as equal. */
static bool same(probe_kind kind, const uint32_t *p, const uint32_t *q)
{
    if (kind == PROBE_WORD) {
        return memcmp(p, q, PROBE_WORDS * sizeof *p) == 0;
    }
    for (int i = 0; i < 16; i++) {
        float f[2];
        double d[2];
        memcpy(&f[0], p + i, sizeof f[0]);
        memcpy(&f[1], q + i, sizeof f[1]);
        memcpy(&d[0], p + 2 * i, sizeof d[0]);
        memcpy(&d[1], q + 2 * i, sizeof d[1]);
        bool both_nan =
            kind == PROBE_FLOAT ? isnan(f[0]) && isnan(f[1]) : isnan(d[0]) && isnan(d[1]);
        bool equal = kind == PROBE_FLOAT ? p[i] == q[i]
                                         : p[2 * i] == q[2 * i] && p[2 * i + 1] == q[2 * i + 1];
        if (!both_nan && !equal) {
            return false;
        }
    }
    return true;
}

static void compare_set(const lane_probe *probes)
{
    probe_input in;
    memset(&in, 0, sizeof in);
    uint32_t n = 0;
    for (uint32_t round = 0; round < n_rounds(); round++) {
        fill(&in, round, &n);
        for (size_t k = 0; k < gbsi_n_probes; k++) {
            uint32_t expected[PROBE_WORDS] = {0};
            uint32_t found[PROBE_WORDS] = {0};
            gbsi_probes_portable[k].run(&in, expected);
            probes[k].run(&in, found);
            assert_string_equal(probes[k].name, gbsi_probes_portable[k].name);
            if (!same(probes[k].kind, expected, found)) {
                for (int i = 0; i < 16; i++) {
                    print_error("lane %d: %08x %08x %08x -> %08x, not %08x\n", i, in.a[i], in.b[i],
                                in.c[i], found[i], expected[i]);
                }
                fail_msg("%s differs from portable in round %u", probes[k].name, round);
            }
        }
    }
}

static void sets_equal_portable(void **state)
{
    (void)state;
#define COMPARE(set, SET)                 \
    if (gbsi_simd_has(GBSI_SIMD_##SET)) { \
        compare_set(gbsi_probes_##set);   \
    }
    GBSI_SIMD_SETS(COMPARE)
#undef COMPARE
}

/* Returns lane 0 of a result of a portable operation. */
static float lane0(vf a)
{
    float v[16];
    vf_store(v, a);
    return v[0];
}

static uint32_t vu_lane0(vu a)
{
    uint32_t v[16];
    vu_store(v, a);
    return v[0];
}

static void portable_keeps_promises(void **state)
{
    (void)state;
    vf nan = vf_set1(NAN);
    vf one = vf_set1(1.0f);
    assert_float_equal(lane0(vf_max(nan, one)), 1.0f, 0.0f); /* a > b ? a : b */
    assert_true(isnan(lane0(vf_max(one, nan))));
    assert_true(isnan(lane0(vf_min(one, nan))));
    assert_float_equal(lane0(vf_round(vf_set1(2.5f))), 2.0f, 0.0f);
    assert_float_equal(lane0(vf_round(vf_set1(-3.5f))), -4.0f, 0.0f);
    assert_true(signbit(lane0(vf_round(vf_set1(-0.25f)))));
    assert_int_equal(vm_bits(vf_lt(nan, one)) | vm_bits(vf_le(one, nan)) | vm_bits(vf_eq(nan, nan)),
                     0);
    /* One rounding: the square of 1 + 2^-12 minus its rounded square is 2^-24. */
    vf a = vf_set1(1.0f + 0x1p-12f);
    assert_float_equal(lane0(vf_fnma(a, a, vf_mul(a, a))), -0x1p-24f, 0.0f);
    assert_float_equal(lane0(vf_from_vu(vu_set1(0xFFFFFF80u))), 0x1p32f, 0.0f);
    assert_float_equal(lane0(vf_from_vu(vu_set1(0xFFFFFF7Fu))), 0x1.fffffep31f, 0.0f);
    static const float halves[] = {0.5F, 1.5F, 2.5F, 0x1.fffffep-2F, 8388606.5F, 4194303.5F};
    static const uint32_t nearest[] = {0, 2, 2, 0, 8388606, 4194304};
    for (int i = 0; i < 6; ++i) {
        assert_int_equal(vu_lane0(vf_to_vu_near(vf_set1(halves[i]))), nearest[i]);
    }
    assert_int_equal(vu_lane0(vf_to_vu_near(vf_set1(0x1.fffffep31F))), 0xFFFFFF00u);
    assert_int_equal(vm_bits(vu_lt(vu_set1(1), vu_set1(0x80000000u))), 0xFFFF);
    assert_int_equal(vm_bits(vm_andnot(vm_from_bits(6), vm_from_bits(2))), 4);
    assert_float_equal(lane0(vf_scale2(one, vf_set1(-126.0f))), 0x1p-126f, 0.0f);
    uint32_t out[64];
    vu i = vu_iota();
    vu_store_transposed4(out, i, vu_add(i, vu_set1(100)), vu_add(i, vu_set1(200)),
                         vu_add(i, vu_set1(300)));
    for (uint32_t k = 0; k < 64; k++) {
        assert_int_equal(out[k], k / 4 + 100 * (k % 4));
    }
}

/* Applies a function to floats whose bits are `stride` apart, sixteen at a time. @return the
 * largest relative error. */
static double worst_error(vf (*f)(vf), double (*exact)(double), float from, float to,
                          uint32_t stride)
{
    uint32_t bits;
    memcpy(&bits, &from, sizeof bits);
    double worst = 0.0;
    for (bool inside = true; inside;) {
        float x[16];
        float y[16];
        for (int i = 0; i < 16; i++) {
            memcpy(&x[i], &bits, sizeof bits);
            bits += stride;
        }
        vf_store(y, f(vf_load(x)));
        for (int i = 0; i < 16; i++) {
            inside = from < to ? x[i] <= to : x[i] >= to;
            if (!inside) {
                break;
            }
            double truth = exact(x[i]);
            double error = truth == 0.0 ? fabs((double)y[i]) : fabs(y[i] / truth - 1.0);
            worst = error > worst || isnan(error) ? error : worst;
            if (isnan(worst)) {
                return worst;
            }
        }
    }
    return worst;
}

static vf call_exp(vf x)
{
    return vf_exp(x);
}
static vf call_log(vf x)
{
    return vf_log(x);
}
static vf call_tanh(vf x)
{
    return vf_tanh(x);
}

static void functions_are_accurate(void **state)
{
    (void)state;
    const uint32_t stride = 9973; /* a prime number, which does not align with octaves */
    assert_true(worst_error(call_exp, exp, -0x1p-126f, -87.3f, stride) < 1.9e-7);
    assert_true(worst_error(call_exp, exp, 0x1p-126f, 88.0f, stride) < 1.9e-7);
    assert_true(worst_error(call_exp, exp, -0x1p-8f, -87.3f, 97 * 13) < 1.9e-7);
    assert_true(worst_error(call_log, log, 0x1p-126f, 0x1.fffffep127f, stride) < 1.2e-7);
    assert_true(worst_error(call_log, log, 0.5f, 2.0f, 257) < 1.2e-7);
    assert_true(worst_error(call_tanh, tanh, 0x1p-100f, 100.0f, stride) < 3e-7);
    assert_true(worst_error(call_tanh, tanh, -0.01f, -20.0f, 1009) < 3e-7);
}

static void functions_at_the_edges(void **state)
{
    (void)state;
    assert_float_equal(lane0(vf_exp(vf_set1(0.0f))), 1.0f, 0.0f);
    assert_float_equal(lane0(vf_exp(vf_set1(-0.0f))), 1.0f, 0.0f);
    assert_true(lane0(vf_exp(vf_set1(-87.3f))) > 0.0f);
    float below = nextafterf(-87.3f, -100.0f);
    assert_float_equal(lane0(vf_exp(vf_set1(below))), 0.0f, 0.0f);
    assert_float_equal(lane0(vf_exp(vf_set1(-1e30f))), 0.0f, 0.0f);
    assert_float_equal(lane0(vf_exp(vf_set1(-INFINITY))), 0.0f, 0.0f);
    assert_float_equal(lane0(vf_exp(vf_set1(INFINITY))), lane0(vf_exp(vf_set1(88.0f))), 0.0f);
    assert_float_equal(lane0(vf_exp(vf_set1(1e30f))), lane0(vf_exp(vf_set1(88.0f))), 0.0f);
    assert_true(isfinite(lane0(vf_exp(vf_set1(88.0f)))));
    assert_true(isnan(lane0(vf_exp(vf_set1(NAN)))));
    assert_true(lane0(vf_log(vf_set1(0.0f))) == -INFINITY);
    assert_float_equal(lane0(vf_log(vf_set1(1.0f))), 0.0f, 0.0f);
    assert_true(signbit(lane0(vf_tanh(vf_set1(-0.0f)))));
    assert_float_equal(lane0(vf_tanh(vf_set1(INFINITY))), 1.0f, 0.0f);
    assert_float_equal(lane0(vf_tanh(vf_set1(-INFINITY))), -1.0f, 0.0f);
    assert_true(isnan(lane0(vf_tanh(vf_set1(NAN)))));
}

static void levels_are_lowered_not_raised(void **state)
{
    (void)state;
    assert_int_equal(gbsi_simd_force(GBSI_SIMD_PORTABLE), GBSI_SIMD_PORTABLE);
    assert_string_equal(gbs_simd_name(), "portable");
    gbsi_simd best = gbsi_simd_force(GBSI_SIMD_AVX512);
    assert_true(best < GBSI_N_SIMD);
    assert_int_equal(gbsi_simd_level(), best);
    assert_int_equal(gbsi_simd_force(GBSI_N_SIMD), best);
    assert_string_equal(gbs_simd_name(), gbsi_simd_text(best));
    for (int level = 0; level < GBSI_N_SIMD; ++level) {
        const gbsi_simd used = gbsi_simd_force((gbsi_simd)level);
        assert_true(gbsi_simd_has(used) && (int)used <= level);
        assert_int_equal(used == (gbsi_simd)level, gbsi_simd_has((gbsi_simd)level));
    }
    assert_true(gbsi_simd_has(GBSI_SIMD_PORTABLE));
    assert_false(gbsi_simd_has(GBSI_SIMD_NEON) && gbsi_simd_has(GBSI_SIMD_AVX2));
    assert_false(gbsi_simd_has(GBSI_N_SIMD));
    (void)gbsi_simd_force(best);
}

static void unknown_names_are_refused(void **state)
{
    (void)state;
    static const char *const good[] = {"", "portable", "avx2", "neon"};
    static const char *const bad[] = {"AVX2", "avx51", "best"};
    gbs_error err;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(setenv("GIBBSITE_SIMD", good[i], 1), 0);
        assert_int_equal(gbsi_simd_check(NULL), GBS_OK);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(setenv("GIBBSITE_SIMD", bad[i], 1), 0);
        assert_int_equal(gbsi_simd_check(&err), GBS_ERR_ARGUMENT);
        assert_non_null(strstr(err.message, bad[i]));
        assert_non_null(strstr(err.message, "this machine has: portable"));
    }
    assert_int_equal(unsetenv("GIBBSITE_SIMD"), 0);
    assert_int_equal(gbsi_simd_check(NULL), GBS_OK);
}

/* Must run first, because the environment is read only once. */
static void environment_is_heard(void **state)
{
    (void)state;
    assert_int_equal(setenv("GIBBSITE_SIMD", "portable", 1), 0);
    assert_int_equal(gbsi_simd_level(), GBSI_SIMD_PORTABLE);
    assert_int_equal(setenv("GIBBSITE_SIMD", "avx512", 1), 0);
    assert_int_equal(gbsi_simd_level(), GBSI_SIMD_PORTABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(environment_is_heard),
        cmocka_unit_test(levels_are_lowered_not_raised),
        cmocka_unit_test(unknown_names_are_refused),
        cmocka_unit_test(portable_keeps_promises),
        cmocka_unit_test(functions_are_accurate),
        cmocka_unit_test(functions_at_the_edges),
        cmocka_unit_test(sets_equal_portable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
