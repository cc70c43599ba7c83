/* SPDX-License-Identifier: Apache-2.0 */
/* Are the standard errors true? Over many small random models of every family, scan and estimator,
 * the score of one marginal per model, z = (estimate - exact) / mcse, must follow Student's t with
 * the degrees of freedom that the estimate claims. Models are independent, so are the scores.
 *
 * Scores are judged as normal deviates q = Phi^-1(T_df(z)), whatever df was, in four ways: by
 * Kolmogorov and Smirnov's distance, by the mean of q and of q^2, and by how many |q| exceed 2.5.
 * Each group of scores (every family and every scan x estimator x number of chains, and all
 * together) may fail with probability FALSE_ALARM for right scores, shared among its tests by
 * Bonferroni's inequality; all groups with some 2e-3. Seeds are fixed: a pass stays a pass.
 *
 * Batch means of a chain of autocorrelation rho^k are too small by a share of 2 rho / ((1 - rho^2)
 * length) of the variance. Over these models the integrated autocorrelation time is 1.2 to 8 sweeps
 * on average and up to 35, the longest in spin products under the random scan. With batches of 64
 * passes that shows: the mean of q^2 over 2000 models each is 1.11 +- 0.03 for Bayesian networks
 * and 1.10 +- 0.03 for spin products; with 256 it is 1.03 +- 0.03 for both. So the least batch is
 * 128 passes at normal scale, where the test of q^2 over all scores sees 19 %, and 256 at full
 * scale, where it sees 9 %. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chains/run.h"
#include "estimate/beta.h"
#include "support/runs.h"
#include "support/small_models.h"

enum { N_VARIABLES = 5, MOST_STATES = 5 * N_VARIABLES, N_SETTINGS = 16 };

#define FALSE_ALARM 1e-4
#define FAR         2.5
#define NORMAL_DF   1e9 /* where Student's t is taken as normal */

/* Padded lanes in 21; few chains take as long as many, so there are few runs of them. */
static const uint32_t chains_of_setting[] = {16, 21, 3, 1};
static const uint32_t share_of_setting[] = {20, 6, 1, 1};

/* How runs differ besides their model. */
typedef struct setting {
    int scan;
    int estimator;
    uint32_t chains;
} setting;

static setting setting_of(uint32_t i)
{
    return (setting){.scan = i % 2 == 0 ? GBS_SCAN_CHROMATIC : GBS_SCAN_RANDOM,
                     .estimator =
                         i / 2 % 2 == 0 ? GBS_ESTIMATOR_RAO_BLACKWELL : GBS_ESTIMATOR_COUNT,
                     .chains = chains_of_setting[i / 4]};
}

/* Models per family of a setting. */
static uint32_t n_models(uint32_t i_setting)
{
    const uint32_t share = share_of_setting[i_setting / 4];
    if (test_scale_asked() == TEST_SMALL) {
        return (share + 19) / 20;
    }
    return share * (test_scale_asked() == TEST_FULL ? 4 : 1);
}

/* Passes of the shortest batch. */
static uint64_t least_length(void)
{
    static const uint64_t n[] = {32, 128, 256};
    return n[test_scale_asked()];
}

/* Blocks of batches double: with B batches per chain, after B L 2^j passes the last closed ones are
 * L 2^(j - 1) long. From half way to the next such end the running block is claimed. */
static uint64_t sweeps_of(uint32_t chains, test_stream *s)
{
    uint64_t per_chain = 16;
    while (chains < 8 && per_chain * chains < 128) {
        per_chain *= 2;
    }
    const uint64_t least = 2 * least_length() * per_chain;
    return least + test_below(s, (uint32_t)least / 4 * 3);
}

/* ---- one score ------------------------------------------------------------------------------- */

typedef struct scores {
    size_t n;
    double *q;
} scores;

static gbs_run *run_of(const gbs_model *model, const gbs_evidence *evidence, const setting *how,
                       test_stream *s)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.scan = how->scan;
    options.estimator = how->estimator;
    options.chains = how->chains;
    options.burn_in = 64;
    options.sweeps = sweeps_of(how->chains, s);
    options.seed = (uint64_t)test_u32(s) << 32 | test_u32(s);
    if (gbs_run_new(model, evidence, &options, &run, &err) < 0 ||
        gbs_run_execute(run, NULL, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return run;
}

/* One of the entries that are neither rare nor nearly sure; SIZE_MAX if there is none. */
static size_t pick_entry(const double *p, size_t n, test_stream *s)
{
    size_t candidate[MOST_STATES];
    uint32_t n_candidates = 0;
    for (size_t i = 0; i < n; ++i) {
        if (p[i] > 0.02 && p[i] < 0.98) {
            candidate[n_candidates++] = i;
        }
    }
    return n_candidates == 0 ? SIZE_MAX : candidate[test_below(s, n_candidates)];
}

/* A model in three is conditioned on one of its variables. */
static gbs_evidence *evidence_of(const gbs_model *model, test_stream *s)
{
    gbs_error err = {0};
    gbs_evidence *evidence = NULL;
    assert_int_equal(gbs_evidence_new(model, &evidence, &err), GBS_OK);
    if (test_below(s, 3) == 0) {
        const uint32_t v = test_below(s, N_VARIABLES);
        const uint32_t state = test_below(s, gbs_model_arity(model, v));
        assert_int_equal(gbs_evidence_observe(evidence, v, state, &err), GBS_OK);
    }
    return evidence;
}

static void score(test_family family, uint32_t i_setting, uint32_t i_model, scores *out)
{
    gbs_error err = {0};
    double p[MOST_STATES];
    double estimate[MOST_STATES];
    double mcse[MOST_STATES];
    const setting how = setting_of(i_setting);
    const uint64_t id = ((uint64_t)family * N_SETTINGS + i_setting) * 1000 + i_model;
    test_stream s = {.seed = 50000 + id, .n = 0};
    gbs_model *model = test_model(family, 7000 + id, N_VARIABLES);
    const size_t n = gbs_model_state_offsets(model)[N_VARIABLES];
    assert_true(n <= MOST_STATES);
    gbs_evidence *evidence = evidence_of(model, &s);
    test_exact(model, evidence, p);
    const size_t entry = pick_entry(p, n, &s);
    if (entry != SIZE_MAX) {
        gbs_run *run = run_of(model, evidence, &how, &s);
        assert_int_equal(gbs_run_marginals(run, estimate, mcse, NULL, NULL, &err), GBS_OK);
        /* A variable that hardly feels its neighbours has a conditional that hardly varies: its
         * standard error is below what the rounding of floats adds, and there is no score. */
        if (mcse[entry] > 1e-5) {
            const double z = (estimate[entry] - p[entry]) / mcse[entry];
            const double u =
                gbsi_student_cdf(z, gbsi_estimate_df(run->sampling.estimates.estimate));
            assert_true(u >= 0.0); /* not NaN */
            out->q[out->n++] = gbsi_student_quantile(fmin(fmax(u, 1e-15), 1.0 - 1e-15), NORMAL_DF);
        } else {
            assert_true(fabs(estimate[entry] - p[entry]) < 8e-5);
        }
        gbs_run_free(run);
    }
    gbs_evidence_free(evidence);
    gbs_model_free(model);
}

/* ---- judging --------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double distance_from_normal(double *q, size_t n)
{
    double distance = 0.0;
    qsort(q, n, sizeof *q, by_value);
    for (size_t i = 0; i < n; ++i) {
        const double u = gbsi_student_cdf(q[i], NORMAL_DF);
        distance = fmax(distance, fmax(u - (double)i / (double)n, (double)(i + 1) / (double)n - u));
    }
    return distance;
}

/* P(X <= k) of the binomial distribution. */
static double binomial_cdf(size_t k, size_t n, double p)
{
    double term = pow(1.0 - p, (double)n);
    double sum = term;
    for (size_t i = 1; i <= k && i <= n; ++i) {
        term *= (double)(n - i + 1) / (double)i * p / (1.0 - p);
        sum += term;
    }
    return fmin(sum, 1.0);
}

static void judge(const char *what, scores *of)
{
    const double n = (double)of->n;
    const double share = FALSE_ALARM / 4.0;
    const double limit = -gbsi_student_quantile(share / 2.0, NORMAL_DF); /* two-sided */
    double mean = 0.0;
    double square = 0.0;
    size_t n_far = 0;
    assert_true(of->n >= 5);
    for (size_t i = 0; i < of->n; ++i) {
        mean += of->q[i] / n;
        square += of->q[i] * of->q[i] / n;
        n_far += fabs(of->q[i]) > FAR;
    }
    const double far = 2.0 * gbsi_student_cdf(-FAR, NORMAL_DF);
    const double ks = sqrt(n) * distance_from_normal(of->q, of->n);
    print_message("%-32s n %5zu  mean %6.3f/sd  mean square %.3f (%5.2f sd)  D sqrt(n) %.2f  "
                  "|q| > 2.5: %zu of %.1f\n",
                  what, of->n, mean * sqrt(n), square, (square - 1.0) * sqrt(n / 2.0), ks, n_far,
                  far * n);
    assert_true(ks < sqrt(log(2.0 / share) / 2.0));
    assert_true(fabs(mean) * sqrt(n) < limit);
    /* n mean square is chi-squared; Wilson & Hilferty (1931), PNAS 17(12):684-688 */
    const double spread = sqrt(2.0 / (9.0 * n));
    assert_true(fabs((cbrt(square) - (1.0 - spread * spread)) / spread) < limit);
    assert_true(binomial_cdf(n_far, of->n, far) > share / 2.0);
    assert_true(n_far == 0 || 1.0 - binomial_cdf(n_far - 1, of->n, far) > share / 2.0);
}

static scores *all; /* [TEST_N_FAMILIES][N_SETTINGS] */

static int score_all(void **state)
{
    (void)state;
    all = calloc((size_t)TEST_N_FAMILIES * N_SETTINGS, sizeof *all);
    for (uint32_t i = 0; i < TEST_N_FAMILIES * N_SETTINGS; ++i) {
        all[i].q = calloc(n_models(i % N_SETTINGS), sizeof *all[i].q);
        for (uint32_t m = 0; m < n_models(i % N_SETTINGS); ++m) {
            score((test_family)(i / N_SETTINGS), i % N_SETTINGS, m, &all[i]);
        }
    }
    return 0;
}

static int drop_all(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TEST_N_FAMILIES * N_SETTINGS; ++i) {
        free(all[i].q);
    }
    free(all);
    return 0;
}

/* The scores of every step-th group from first on, n of them. */
static void judge_groups(const char *what, uint32_t first, uint32_t step, uint32_t n)
{
    scores some = {0};
    for (uint32_t i = 0; i < n; ++i) {
        some.n += all[first + i * step].n;
    }
    some.q = calloc(some.n + 1, sizeof *some.q);
    some.n = 0;
    for (uint32_t i = 0; i < n; ++i) {
        const scores *from = &all[first + i * step];
        memcpy(some.q + some.n, from->q, from->n * sizeof *some.q);
        some.n += from->n;
    }
    judge(what, &some);
    free(some.q);
}

static void families(void **state)
{
    (void)state;
    for (uint32_t f = 0; f < TEST_N_FAMILIES; ++f) {
        judge_groups(test_family_name((test_family)f), f * N_SETTINGS, 1, N_SETTINGS);
    }
}

static void settings(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < N_SETTINGS; ++i) {
        char what[64];
        const setting how = setting_of(i);
        (void)snprintf(what, sizeof what, "%s, %s, %u chains",
                       how.scan == GBS_SCAN_RANDOM ? "random" : "chromatic",
                       how.estimator == GBS_ESTIMATOR_COUNT ? "count" : "rao-blackwell",
                       how.chains);
        judge_groups(what, i, N_SETTINGS, TEST_N_FAMILIES);
    }
}

static void together(void **state)
{
    (void)state;
    judge_groups("all", 0, 1, TEST_N_FAMILIES * N_SETTINGS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families),
        cmocka_unit_test(settings),
        cmocka_unit_test(together),
    };
    return cmocka_run_group_tests(tests, score_all, drop_all);
}
