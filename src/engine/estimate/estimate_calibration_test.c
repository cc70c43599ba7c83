/* SPDX-License-Identifier: Apache-2.0 */
/* Tests whether standard errors are correct. Each slot is a replica with a known mean. z =
 * (estimate - mean) / mcse must have Student's t distribution with the claimed degrees of freedom,
 * by a Kolmogorov-Smirnov test with a false alarm rate of 1e-4 per case, and a variance near df /
 * (df - 2). Seeds are fixed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "estimate/beta.h"
#include "estimate/estimate_feed.h"
#include "simd/math.h"

enum { N_REPLICAS = 1600, MOST_CHAINS = 16 };

/* sqrt(ln(2 / 1e-4) / 2): the asymptotic critical value of sqrt(n) D. */
#define KS_CRITICAL 2.2253

typedef struct stream {
    double memory; /* correlation from one update to the next */
    bool thin;     /* an update of a slot happens with probability 1/2, shared by the chains */
    uint64_t seed;
    double x[MOST_CHAINS][N_REPLICAS];
} stream;

static stream s;

/* AR(1) with uniform innovations about 1/2, which are small enough for values inside (0, 1). */
static float ar1(const void *context, uint32_t chain, uint32_t slot, uint32_t state, uint64_t pass)
{
    (void)context;
    (void)state;
    const double noise = feed_uniform(s.seed, chain, slot, pass) - 0.5;
    double *x = &s.x[chain][slot];
    *x = s.memory * *x + noise * (1 - s.memory) * 0.5;
    return (float)(0.5 + *x);
}

static size_t replicas_due(uint32_t *slot, uint64_t pass)
{
    size_t n = 0;
    for (uint32_t i = 0; i < N_REPLICAS; i++) {
        if (!s.thin || feed_word(s.seed + 1, i, pass, 0) % 2 == 0) {
            slot[n++] = i;
        }
    }
    return n;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void judge(double *z, double df)
{
    double mean = 0;
    double variance = 0;
    for (size_t i = 0; i < N_REPLICAS; i++) {
        mean += z[i] / N_REPLICAS;
        variance += z[i] * z[i] / N_REPLICAS;
    }
    qsort(z, N_REPLICAS, sizeof *z, by_value);
    double distance = 0;
    for (size_t i = 0; i < N_REPLICAS; i++) {
        const double cdf = gbsi_student_cdf(z[i], df);
        const double below = cdf - (double)i / N_REPLICAS;
        const double above = (double)(i + 1) / N_REPLICAS - cdf;
        const double larger = below > above ? below : above;
        distance = larger > distance ? larger : distance;
    }
    print_message("df %g: mean %.4f variance %.4f (t: %.4f) sqrt(n) D %.3f\n", df, mean, variance,
                  df / (df - 2), distance * gbsi_sqrt(N_REPLICAS));
    assert_true(distance * gbsi_sqrt(N_REPLICAS) < KS_CRITICAL);
    /* The variance of z^2 is 2 + 12/df + ... The bound is 4 standard deviations, plus the bias from
     * correlated batches. */
    const double expected = df / (df - 2);
    assert_true(fabs(variance / expected - 1) < 4 * gbsi_sqrt(2.4 / N_REPLICAS) + 0.03);
    assert_true(fabs(mean) < 4 / gbsi_sqrt(N_REPLICAS));
}

static void run_case(uint32_t n_chains, uint32_t lanes, uint64_t n_passes, double memory, bool thin,
                     double df)
{
    static uint32_t arity[N_REPLICAS];
    static uint32_t slot[N_REPLICAS];
    static double z[N_REPLICAS];
    s = (stream){.memory = memory, .thin = thin, .seed = 2024};
    for (size_t i = 0; i < N_REPLICAS; i++) {
        arity[i] = 2;
    }
    const gbsi_estimate_shape shape = {.n_slots = N_REPLICAS,
                                       .arity = arity,
                                       .n_chains = n_chains,
                                       .lanes = lanes,
                                       .n_groups = (n_chains + lanes - 1) / lanes,
                                       .value_bytes = 1,
                                       .kind = GBS_ESTIMATOR_RAO_BLACKWELL,
                                       .each_once = !thin};
    feed f = {.shape = &shape, .value = ar1};
    assert_int_equal(
        gbsi_estimate_new(&shape, gbsi_simd_force(GBSI_SIMD_AVX512), &f.estimate, NULL), GBS_OK);
    for (uint64_t pass = 0; pass < n_passes; pass++) {
        feed_slots(&f, slot, replicas_due(slot, pass), pass);
    }
    for (uint32_t i = 0; i < N_REPLICAS; i++) {
        double p[2];
        double mcse[2];
        gbsi_estimate_slot(f.estimate, i, p, mcse, NULL, NULL);
        z[i] = (p[1] - 0.5) / mcse[1];
    }
    assert_true(gbsi_estimate_df(f.estimate) == df);
    judge(z, df);
    gbsi_estimate_free(f.estimate);
}

static void independent_chains(void **unused)
{
    (void)unused;
    run_case(16, 16, 64, 0, false, 255);
    run_case(16, 16, 47, 0, false, 11 * 16 - 1);
    run_case(9, 16, 160, 0, false, 16 * 9 - 1);
}

static void correlated_chains(void **unused)
{
    (void)unused;
    run_case(16, 16, 512, 0.3, false, 255);
}

static void one_chain(void **unused)
{
    (void)unused;
    run_case(1, 1, 256, 0, false, 63);
    run_case(1, 1, 1024, 0, false, 127);
    run_case(3, 1, 200, 0, false, 50 * 3 - 1);
}

static void random_schedules(void **unused)
{
    (void)unused;
    run_case(16, 16, 128, 0, true, 255);
    run_case(1, 1, 512, 0, true, 127);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(independent_chains),
        cmocka_unit_test(correlated_chains),
        cmocka_unit_test(one_chain),
        cmocka_unit_test(random_schedules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
