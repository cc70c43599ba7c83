/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_splash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_engine.h"
#include "bench_models.h"
#include "splash/splash_rounds.h"

#define CHAINS      16
#define MOST_SIGMAS 6.0 /* the value in ess.c */
#define RARE        0.01

/* ---- draws per second ------------------------------------------------------------------------ */

typedef struct draws_case {
    const char *name;
    bench_family family;
    uint32_t size, width;
} draws_case;

static double draws(bench_engine *engine, gbsi_estimate *estimate, uint64_t passes, double *told)
{
    const gbsi_splash_counts before = gbsi_splash_count(engine->executor.pass_state);
    const double start_s = bench_now_s(1);
    double n = 0.0;
    for (uint64_t pass = 0; pass < passes; ++pass) {
        bench_engine_pass(engine, estimate, GBS_ESTIMATOR_RAO_BLACKWELL);
        n += (double)engine->executor.n_updates * CHAINS;
    }
    const double seconds = bench_now_s(1) - start_s;
    gbsi_splash_counts counts = gbsi_splash_count(engine->executor.pass_state);
    counts.n_variables -= before.n_variables;
    counts.n_entries -= before.n_entries;
    counts.n_log_entries -= before.n_log_entries;
    *told = gbsi_splash_operations(&counts, CHAINS) * 1e-9 / seconds;
    return n / seconds / 1e6;
}

static void time_draws(const bench_report *report, const draws_case *c, bool quick)
{
    gbs_model *model = bench_model(c->family, c->size);
    gbs_run_options options = bench_engine_options(CHAINS);
    options.scan = GBS_SCAN_SPLASH;
    options.width = c->width;
    bench_engine engine;
    double rate[BENCH_REPEATS];
    double told[BENCH_REPEATS];
    char text[128];
    bench_model_text(c->family, c->size, text, sizeof text);
    bench_engine_new(&engine, model, &options);
    bench_engine_start(&engine, 1);
    gbsi_estimate *estimate = bench_engine_estimate(&engine, GBS_ESTIMATOR_RAO_BLACKWELL);
    (void)draws(&engine, estimate, 1, &told[0]);
    for (int i = 0; i < BENCH_REPEATS; ++i) {
        rate[i] = draws(&engine, estimate, quick ? 1 : 4, &told[i]);
    }
    const bench_spread spread = bench_spread_of(rate);
    const double share = bench_spread_of(told).median;
    bench_tell(report, "%-20s %4u %10.2f  %8.2f..%-8.2f %8.2f", c->name, c->width, spread.median,
               spread.low, spread.high, share);
    bench_record(report, "splash",
                 "\"case\":\"%s\",\"model\":\"%s\",\"width\":%u,\"chains\":%d,\"threads\":1,"
                 "\"million_draws_per_s\":{\"median\":%.3f,\"low\":%.3f,\"high\":%.3f},"
                 "\"operations_per_ns\":%.3f",
                 c->name, text, c->width, CHAINS, spread.median, spread.low, spread.high, share);
    gbsi_estimate_free(estimate);
    bench_engine_free(&engine);
    gbs_model_free(model);
}

/* ---- effective samples per second ------------------------------------------------------------ */

typedef struct stuck_case {
    const char *name;
    bench_family family;
    uint32_t size, width;
    uint64_t splash_sweeps, sweeps; /* numbers of sweeps that take about the same time */
} stuck_case;

typedef struct sampled {
    size_t n;
    double *p, *mcse;
    double least_ess, seconds, rhat;
} sampled;

static sampled sample(const gbs_model *model, const gbs_run_options *options)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    sampled s = {.n = gbs_model_state_offsets(model)[gbs_model_n_variables(model)]};
    s.p = bench_alloc(s.n, sizeof *s.p);
    s.mcse = bench_alloc(s.n, sizeof *s.mcse);
    bench_must(gbs_run_new(model, NULL, options, &run, &err), &err);
    const double start_s = bench_now_s(1);
    bench_must(gbs_run_execute(run, NULL, &err), &err);
    s.seconds = bench_now_s(1) - start_s;
    bench_must(gbs_run_marginals(run, s.p, s.mcse, NULL, NULL, &err), &err);
    s.least_ess = gbs_run_report(run)->min_ess;
    s.rhat = gbs_run_report(run)->max_rhat;
    gbs_run_free(run);
    return s;
}

static void sampled_free(sampled *s)
{
    free(s->p);
    free(s->mcse);
}

/* Either run counts states. A splash can hold the whole model, and averages of its conditionals
 * would then be exact. */
static gbs_run_options options_of(const stuck_case *c, bool blocks, bool quick, uint64_t seed)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.scan = blocks ? GBS_SCAN_SPLASH : GBS_SCAN_CHROMATIC;
    options.estimator = GBS_ESTIMATOR_COUNT;
    options.lattice = GBS_LATTICE_NEVER;
    options.chains = CHAINS;
    options.threads = 1;
    options.seed = seed;
    options.sweeps = (blocks ? c->splash_sweeps : c->sweeps) / (quick ? 4 : 1);
    options.burn_in = options.sweeps / 8;
    if (blocks) {
        options.width = c->width;
        options.grow = GBS_GROW_FIFO;
    }
    return options;
}

static void check_exact(const char *name, const gbs_model *model, const sampled *blocks)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_EXACT;
    sampled exact = sample(model, &options);
    for (size_t i = 0; i < exact.n; ++i) {
        bench_check(exact.p[i] < RARE || isnan(blocks->mcse[i]) ||
                        fabs(exact.p[i] - blocks->p[i]) <= MOST_SIGMAS * blocks->mcse[i] + 1e-6,
                    "%s: marginal %zu is %.6f with standard error %.6f, exact %.6f", name, i,
                    blocks->p[i], blocks->mcse[i], exact.p[i]);
    }
    sampled_free(&exact);
}

static void compare(const bench_report *report, const stuck_case *c, bool quick)
{
    gbs_model *model = bench_model(c->family, c->size);
    double per_s[2][BENCH_REPEATS];
    double rhat[2][BENCH_REPEATS];
    char text[128];
    bench_model_text(c->family, c->size, text, sizeof text);
    for (int i = 0; i < BENCH_REPEATS; ++i) {
        for (int blocks = 0; blocks < 2; ++blocks) {
            const gbs_run_options options = options_of(c, blocks == 1, quick, (uint64_t)i + 1);
            sampled s = sample(model, &options);
            if (i == 0 && blocks == 1) {
                check_exact(c->name, model, &s);
            }
            per_s[blocks][i] = s.least_ess / s.seconds;
            rhat[blocks][i] = s.rhat;
            sampled_free(&s);
        }
    }
    for (int blocks = 0; blocks < 2; ++blocks) {
        const bench_spread ess = bench_spread_of(per_s[blocks]);
        const double worst = bench_spread_of(rhat[blocks]).high;
        const char *scan = blocks == 1 ? "splash" : "chromatic";
        bench_tell(report, "%-20s %-10s %4u %10.1f  %10.1f..%-10.1f %8.3f", c->name, scan,
                   blocks == 1 ? c->width : 0, ess.median, ess.low, ess.high, worst);
        bench_record(report, "splash-ess",
                     "\"case\":\"%s\",\"model\":\"%s\",\"scan\":\"%s\",\"width\":%u,\"chains\":%d,"
                     "\"threads\":1,\"rhat\":%.4f,"
                     "\"worst_ess_per_s\":{\"median\":%.2f,\"low\":%.2f,\"high\":%.2f}",
                     c->name, text, scan, blocks == 1 ? c->width : 0, CHAINS, worst, ess.median,
                     ess.low, ess.high);
    }
    gbs_model_free(model);
}

/* ---- all cases ------------------------------------------------------------------------------- */

void bench_splash(const bench_report *report, bool quick, const char *only)
{
    static const draws_case drawn[] = {
        {"splash/potts/w1", BENCH_POTTS, 200, 1},  {"splash/potts/w5", BENCH_POTTS, 200, 5},
        {"splash/ising/w1", BENCH_ISING, 100, 1},  {"splash/ising/w8", BENCH_ISING, 100, 8},
        {"splash/table/w2", BENCH_TABLE, 1000, 2},
    };
    static const stuck_case stuck[] = {
        {"splash/ladder", BENCH_LADDER, 300, 4, 512, 32768},
        {"splash/strip", BENCH_STRIP, 40, 8, 256, 65536},
        {"splash/parity", BENCH_PARITY, 60, 4, 2048, 65536},
    };
    bool headed = false;
    for (size_t i = 0; i < sizeof drawn / sizeof drawn[0]; ++i) {
        if (strstr(drawn[i].name, only) == NULL) {
            continue;
        }
        if (!headed) {
            bench_tell(report, "\nMillion variables a second drawn by splashes, sixteen chains, "
                               "Rao-Blackwell\n  told: operations that [M42] counts, in a ns");
            headed = true;
        }
        time_draws(report, &drawn[i], quick);
    }
    headed = false;
    for (size_t i = 0; i < sizeof stuck / sizeof stuck[0]; ++i) {
        if (strstr(stuck[i].name, only) == NULL) {
            continue;
        }
        if (!headed) {
            bench_tell(report, "\nEffective samples a second where single variables hardly move: "
                               "worst marginal, its range; largest R-hat");
            headed = true;
        }
        compare(report, &stuck[i], quick);
    }
}
