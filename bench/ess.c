/* SPDX-License-Identifier: Apache-2.0 */
#include "ess.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_models.h"
#include "timing.h"

/* Largest difference of two runs in standard errors. A larger one has a chance of 2e-9 for each
 * marginal, and 1e-4 for all marginals that are checked. Rare states are not checked, because
 * the error of a count of few visits is not normal. */
#define MOST_SIGMAS 6.0
#define LEAST_P     0.01

typedef struct ess_case {
    const char *name;
    bench_family family;
    uint32_t size;
    uint64_t sweeps;
} ess_case;

/* Results of one run. */
typedef struct sampled {
    size_t n; /* number of marginals */
    double *p, *mcse, *ess;
    double seconds;
} sampled;

static sampled sample(const gbs_model *model, const ess_case *c, gbs_estimator_kind estimator,
                      uint64_t seed)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.chains = 16;
    options.threads = 1;
    options.burn_in = c->sweeps / 8;
    options.sweeps = c->sweeps;
    options.estimator = (int)estimator;
    options.seed = seed;
    sampled s = {.n = gbs_model_state_offsets(model)[gbs_model_n_variables(model)]};
    s.p = bench_alloc(s.n, sizeof *s.p);
    s.mcse = bench_alloc(s.n, sizeof *s.mcse);
    s.ess = bench_alloc(s.n, sizeof *s.ess);
    bench_must(gbs_run_new(model, NULL, &options, &run, &err), &err);
    const double start_s = bench_now_s(1);
    bench_must(gbs_run_execute(run, NULL, &err), &err);
    s.seconds = bench_now_s(1) - start_s;
    bench_must(gbs_run_marginals(run, s.p, s.mcse, s.ess, NULL, &err), &err);
    gbs_run_free(run);
    return s;
}

static void sampled_free(sampled *s)
{
    free(s->p);
    free(s->mcse);
    free(s->ess);
}

/* Checks that two independent runs of one model have marginals that differ only by chance. */
static void check_equal(const char *name, const sampled *a, const sampled *b)
{
    for (size_t i = 0; i < a->n; ++i) {
        const double sigma = sqrt(a->mcse[i] * a->mcse[i] + b->mcse[i] * b->mcse[i]);
        const double p = 0.5 * (a->p[i] + b->p[i]);
        bench_check(p < LEAST_P || fabs(a->p[i] - b->p[i]) < MOST_SIGMAS * sigma,
                    "%s: marginal %zu is %.6f and %.6f, standard errors %.6f and %.6f", name, i,
                    a->p[i], b->p[i], a->mcse[i], b->mcse[i]);
    }
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Finds the smallest and the median effective sample size, and sorts the sizes. Undefined sizes
 * (NAN, where nothing moved) do not count. */
static void summarise(sampled *s, double *least, double *middle)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; ++i) {
        if (!isnan(s->ess[i])) {
            s->ess[n++] = s->ess[i];
        }
    }
    bench_check(n > 0, "no effective sample size");
    qsort(s->ess, n, sizeof *s->ess, by_value);
    *least = s->ess[0];
    *middle = s->ess[n / 2];
}

static void measure(const bench_report *report, const ess_case *c)
{
    static const char *const name_of[] = {
        [GBS_ESTIMATOR_RAO_BLACKWELL] = "rao-blackwell", [GBS_ESTIMATOR_COUNT] = "count"};
    gbs_model *model = bench_model(c->family, c->size);
    double least[2][BENCH_REPEATS];
    double middle[2][BENCH_REPEATS];
    double seconds[2][BENCH_REPEATS];
    char text[128];
    bench_model_text(c->family, c->size, text, sizeof text);
    for (int i = 0; i < BENCH_REPEATS; ++i) {
        sampled s[2];
        for (int e = 0; e < 2; ++e) {
            s[e] = sample(model, c, (gbs_estimator_kind)e, 2 * (uint64_t)i + (uint64_t)e + 1);
        }
        check_equal(c->name, &s[0], &s[1]);
        for (int e = 0; e < 2; ++e) {
            summarise(&s[e], &least[e][i], &middle[e][i]);
            seconds[e][i] = s[e].seconds;
            least[e][i] /= s[e].seconds;
            middle[e][i] /= s[e].seconds;
            sampled_free(&s[e]);
        }
    }
    for (int e = 1; e >= 0; --e) {
        const bench_spread worst = bench_spread_of(least[e]);
        const bench_spread typical = bench_spread_of(middle[e]);
        const double s = bench_spread_of(seconds[e]).median;
        bench_tell(report, "%-24s %-14s %10.0f  %8.0f..%-8.0f %12.0f  %6.2f s", c->name, name_of[e],
                   worst.median, worst.low, worst.high, typical.median, s);
        bench_record(report, "ess",
                     "\"case\":\"%s\",\"model\":\"%s\",\"estimator\":\"%s\",\"chains\":16,"
                     "\"threads\":1,\"sweeps\":%llu,\"seconds\":%.3f,\"repeats\":%d,"
                     "\"worst_ess_per_s\":{\"median\":%.1f,\"low\":%.1f,\"high\":%.1f},"
                     "\"median_ess_per_s\":{\"median\":%.1f,\"low\":%.1f,\"high\":%.1f}",
                     c->name, text, name_of[e], (unsigned long long)c->sweeps, s, BENCH_REPEATS,
                     worst.median, worst.low, worst.high, typical.median, typical.low,
                     typical.high);
    }
    gbs_model_free(model);
}

void bench_ess(const bench_report *report, bool quick, const char *only)
{
    const ess_case cases[] = {
        {"ess/ising", BENCH_ISING, 64, quick ? 1024 : 8192},
        {"ess/potts", BENCH_POTTS, 50, quick ? 1024 : 8192},
        {"ess/table", BENCH_TABLE, 37, quick ? 8192 : 131072},
    };
    bool headed = false;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        if (strstr(cases[i].name, only) == NULL) {
            continue;
        }
        if (!headed) {
            bench_tell(report,
                       "\nEffective samples a second: worst marginal, its range, middle one");
            headed = true;
        }
        measure(report, &cases[i]);
    }
}
