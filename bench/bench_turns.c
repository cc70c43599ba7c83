/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_turns.h"

#include <string.h>

#include "bench_engine.h"
#include "bench_models.h"

#define TURNS 15 /* turns of one repeat */

/* What two threads gain over one: wall-clock time of one divided by that of two. The gain of a loop
 * that touches registers only is what the machine gives to two threads. */
typedef struct gains {
    double pass, loop;
} gains;

/* Steps of the loop that touches registers only. */
typedef struct steps {
    uint64_t n;
    uint64_t sum[2][8]; /* a cache line for each member */
} steps;

static void step(void *context, uint32_t member)
{
    steps *s = context;
    uint64_t x = member + 1;
    for (uint64_t i = 0; i < s->n; ++i) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    s->sum[member][0] = x;
}

static double seconds_of_passes(bench_engine *engine, gbsi_estimate *estimate, uint64_t passes)
{
    const double start_s = bench_now_s(2);
    for (uint64_t i = 0; i < passes; ++i) {
        bench_engine_pass(engine, estimate, GBS_ESTIMATOR_RAO_BLACKWELL);
    }
    return bench_now_s(2) - start_s;
}

/* @return seconds of a loop that two members share, or that one member does twice. */
static double seconds_of_loop(gbsi_pool *pool, uint64_t n)
{
    steps s = {.n = n};
    const double start_s = bench_now_s(2);
    if (gbsi_pool_size(pool) == 1) {
        step(&s, 0);
        step(&s, 1);
    } else {
        gbsi_pool_run(pool, step, &s);
    }
    return bench_now_s(2) - start_s;
}

/* Takes turns: passes of one thread and of two, the loop on one thread and on two. */
static gains measure(bench_engine engine[2], gbsi_estimate *const estimate[2], double turn_s)
{
    double pass_s[2] = {0.0, 0.0};
    double loop_s[2] = {0.0, 0.0};
    const double once_s = seconds_of_passes(&engine[0], estimate[0], 2) / 2.0;
    const double steps_s = seconds_of_loop(engine[0].pool, 1 << 16) / (2 << 16);
    const uint64_t passes = once_s < turn_s ? (uint64_t)(turn_s / once_s) : 1;
    const uint64_t n = (uint64_t)(turn_s / steps_s / 2.0) + 1;
    for (int turn = 0; turn < TURNS; ++turn) {
        for (int k = 0; k < 2; ++k) {
            pass_s[k] += seconds_of_passes(&engine[k], estimate[k], passes);
            loop_s[k] += seconds_of_loop(engine[k].pool, n);
        }
    }
    return (gains){.pass = pass_s[0] / pass_s[1], .loop = loop_s[0] / loop_s[1]};
}

typedef struct turns_case {
    const char *name;
    bench_family family;
    uint32_t size, chains;
    int scan;
} turns_case;

static void one_case(const bench_report *report, const turns_case *c, bool quick)
{
    gbs_model *model = bench_model(c->family, c->size);
    gbs_run_options options = bench_engine_options(c->chains);
    options.scan = c->scan;
    bench_engine engine[2];
    gbsi_estimate *estimate[2];
    double pass[BENCH_REPEATS];
    double loop[BENCH_REPEATS];
    double lost[BENCH_REPEATS];
    char text[128];
    bench_model_text(c->family, c->size, text, sizeof text);
    for (uint32_t k = 0; k < 2; ++k) {
        bench_engine_new(&engine[k], model, &options);
        bench_engine_start(&engine[k], k + 1);
        estimate[k] = bench_engine_estimate(&engine[k], GBS_ESTIMATOR_RAO_BLACKWELL);
    }
    for (int i = 0; i < BENCH_REPEATS; ++i) {
        const gains g = measure(engine, estimate, quick ? 0.002 : 0.02);
        pass[i] = g.pass;
        loop[i] = g.loop;
        lost[i] = 1.0 - g.pass / g.loop;
    }
    const bench_spread p = bench_spread_of(pass);
    const bench_spread l = bench_spread_of(loop);
    const bench_spread s = bench_spread_of(lost);
    bench_tell(report, "%-28s %6.2f  %6.2f %6.2f..%-6.2f %6.2f", c->name, l.median, p.median, p.low,
               p.high, s.median);
    bench_record(report, "turns",
                 "\"case\":\"%s\",\"model\":\"%s\",\"chains\":%u,\"threads\":2,"
                 "\"loop_gain\":%.3f,\"gain\":{\"median\":%.3f,\"low\":%.3f,\"high\":%.3f},"
                 "\"lost\":%.3f",
                 c->name, text, c->chains, l.median, p.median, p.low, p.high, s.median);
    for (uint32_t k = 0; k < 2; ++k) {
        gbsi_estimate_free(estimate[k]);
        bench_engine_free(&engine[k]);
    }
    gbs_model_free(model);
}

void bench_turns(const bench_report *report, bool quick, const char *only)
{
    static const turns_case cases[] = {
        {"turns/chromatic/small/16c", BENCH_ISING, 32, 16, GBS_SCAN_CHROMATIC},
        {"turns/chromatic/ising/1c", BENCH_ISING, 512, 1, GBS_SCAN_CHROMATIC},
        {"turns/chromatic/ising/16c", BENCH_ISING, 128, 16, GBS_SCAN_CHROMATIC},
        {"turns/splash/ising/16c", BENCH_ISING, 100, 16, GBS_SCAN_SPLASH},
        {"turns/splash/potts/16c", BENCH_POTTS, 200, 16, GBS_SCAN_SPLASH},
    };
    bool headed = false;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        if (strstr(cases[i].name, only) == NULL) {
            continue;
        }
        if (!headed) {
            bench_tell(report,
                       "\nOne and two threads in turn: what two gain, first of a loop that touches "
                       "registers only, then of passes with their range; the part of the first "
                       "that passes lose");
            bench_tell(report, "%-28s %6s  %6s %14s %6s", "case", "loop", "passes", "range",
                       "lost");
            headed = true;
        }
        one_case(report, &cases[i], quick);
    }
}
