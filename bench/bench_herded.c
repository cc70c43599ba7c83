/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_herded.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_models.h"
#include "bytes.h"
#include "check.h"
#include "limits.h"

#define BINS         16
#define CHECK_PASSES 256
#define CHECK_CELLS  (1u << 19) /* in larger runs only the conditionals are checked */

/* In "cache" cases the weights take half of a large cache. */
static const struct {
    const char *size;
    int draw; /* gbs_draw_kind */
    bench_family family;
    uint32_t side, chains;
} cases[] = {
    {"cache", GBS_DRAW_HERDED, BENCH_ISING, 64, 16},
    {"cache", GBS_DRAW_HERDED, BENCH_ISING, 512, 1},
    {"memory", GBS_DRAW_HERDED, BENCH_ISING, 1024, 16},
    {"memory", GBS_DRAW_HERDED, BENCH_ISING, 2048, 1},
    {"cache", GBS_DRAW_HERDED_SHARED, BENCH_UNIFORM, 128, 16},
    {"cache", GBS_DRAW_HERDED_SHARED, BENCH_UNIFORM, 512, 1},
    {"memory", GBS_DRAW_HERDED_SHARED, BENCH_UNIFORM, 1024, 16},
    {"memory", GBS_DRAW_HERDED_SHARED, BENCH_UNIFORM, 2048, 1},
    {"cache", GBS_DRAW_DISCRETIZED, BENCH_ISING, 64, 16},
    {"cache", GBS_DRAW_DISCRETIZED, BENCH_ISING, 512, 1},
    {"memory", GBS_DRAW_DISCRETIZED, BENCH_ISING, 1024, 16},
    {"memory", GBS_DRAW_DISCRETIZED, BENCH_ISING, 2048, 1},
};

enum { RANDOM, HERDED, N_DRAWS };
enum { COUNT, RAO_BLACKWELL, N_KINDS };

static gbs_estimator_kind kind_of(int kind)
{
    return kind == RAO_BLACKWELL ? GBS_ESTIMATOR_RAO_BLACKWELL : GBS_ESTIMATOR_COUNT;
}

/* ---- check that visits are herded ------------------------------------------------------------ */

/* Checks that draws are herded. Over T passes, D is the difference of the visits to state 1 of a
 * variable in one chain and the sum of its conditionals. With random draws D^2 is T p (1 - p) on
 * average. With n weights, each between 0 and 1, D^2 is n / 6. The check demands less than a
 * quarter of the random value. */
static void check_herding(bench_engine *engine)
{
    const gbsi_executor *x = &engine->executor;
    const gbsi_plan *plan = x->plan;
    const double trials = (double)CHECK_PASSES * engine->chains;
    gbsi_estimate *estimate = bench_engine_estimate(engine, GBS_ESTIMATOR_RAO_BLACKWELL);
    uint32_t *visits = bench_alloc(plan->n_slots, sizeof *visits);
    for (int pass = 0; pass < CHECK_PASSES; ++pass) {
        bench_engine_pass(engine, estimate, GBS_ESTIMATOR_RAO_BLACKWELL);
        for (uint32_t chain = 0; chain < engine->chains; ++chain) {
            const uint8_t *state = x->group[chain / x->lanes].state;
            for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
                visits[slot] += state[(size_t)slot * x->lanes + chain % x->lanes];
            }
        }
    }
    double square = 0.0;
    double at_random = 0.0;
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        double p[2];
        gbsi_estimate_slot(estimate, slot, p, NULL, NULL, NULL);
        const double d = visits[slot] - trials * p[1];
        square += d * d;
        at_random += trials * p[0] * p[1];
    }
    bench_check(square < 0.25 * at_random, "herding: visits vary %.3f times as much as at random",
                square / at_random);
    free(visits);
    gbsi_estimate_free(estimate);
}

static void check(bench_engine *engine)
{
    bench_check(engine->run->sampling.engine.plan->value_bytes == 1 &&
                    engine->run->sampling.engine.plan->max_arity == 2,
                "variables of two states");
    bench_check_engine(engine, NULL);
    if ((uint64_t)engine->run->sampling.engine.plan->n_slots * engine->chains <= CHECK_CELLS) {
        check_herding(engine);
    }
}

/* ---- timing ---------------------------------------------------------------------------------- */

typedef struct figures {
    double rate[N_DRAWS][N_KINDS][BENCH_REPEATS]; /* million updates per second */
    /* time of a herded pass divided by that of a random pass, in neighbouring timings */
    double cost[N_KINDS][BENCH_REPEATS];
    double bandwidth[BENCH_REPEATS]; /* GB/s */
} figures;

static double bytes_of(const bench_engine *engine, int kind)
{
    const bench_bytes b = bench_bytes_of(engine);
    const double kept = kind == RAO_BLACKWELL ? b.rao_blackwell : b.count;
    return (b.plan + b.states + b.draw + kept) / bench_engine_updates(engine);
}

static void measure(bench_engine engine[N_DRAWS], double seconds, figures *f)
{
    gbsi_estimate *estimate[N_DRAWS][N_KINDS];
    uint64_t passes[N_DRAWS][N_KINDS];
    const double bytes =
        bytes_of(&engine[HERDED], RAO_BLACKWELL) * bench_engine_updates(&engine[HERDED]);
    bench_limits *limits = bench_limits_new(bytes, engine[HERDED].pool);
    for (int d = 0; d < N_DRAWS; ++d) {
        for (int k = 0; k < N_KINDS; ++k) {
            estimate[d][k] = bench_engine_estimate(&engine[d], kind_of(k));
            passes[d][k] = bench_engine_warm_up(&engine[d], estimate[d][k], kind_of(k), seconds);
        }
    }
    for (int i = 0; i < BENCH_REPEATS; ++i) {
        for (int k = 0; k < N_KINDS; ++k) {
            for (int d = 0; d < N_DRAWS; ++d) {
                f->rate[d][k][i] =
                    bench_engine_rate(&engine[d], estimate[d][k], kind_of(k), passes[d][k]);
            }
            f->cost[k][i] = f->rate[RANDOM][k][i] / f->rate[HERDED][k][i];
        }
        f->bandwidth[i] = bench_bandwidth(limits);
    }
    for (int d = 0; d < N_DRAWS; ++d) {
        for (int k = 0; k < N_KINDS; ++k) {
            gbsi_estimate_free(estimate[d][k]);
        }
    }
    bench_limits_free(limits);
}

/* ---- reporting ------------------------------------------------------------------------------- */

static void name_of(size_t i, char *name, size_t size)
{
    (void)snprintf(name, size, "%s/%s/%uc/1t", gbsi_draw_name(cases[i].draw), cases[i].size,
                   cases[i].chains);
}

static bool wanted(size_t i, bool quick, const char *only)
{
    char name[128];
    name_of(i, name, sizeof name);
    return strstr(name, only) != NULL && !(quick && strcmp(cases[i].size, "memory") == 0);
}

static void tell(const bench_report *report, size_t i, const bench_engine *herded, figures *f)
{
    char name[128];
    char text[128];
    bench_spread rate[N_DRAWS][N_KINDS];
    bench_spread cost[N_KINDS];
    double bytes[N_KINDS];
    for (int k = 0; k < N_KINDS; ++k) {
        for (int d = 0; d < N_DRAWS; ++d) {
            rate[d][k] = bench_spread_of(f->rate[d][k]);
        }
        cost[k] = bench_spread_of(f->cost[k]);
        bytes[k] = bytes_of(herded, k);
    }
    const double bandwidth = bench_spread_of(f->bandwidth).median;
    const double moved = rate[HERDED][RAO_BLACKWELL].median * bytes[RAO_BLACKWELL] / 1e3;
    name_of(i, name, sizeof name);
    bench_model_text(cases[i].family, cases[i].side, text, sizeof text);
    bench_tell(report, "%-28s %8.1f %8.1f %6.2f  %8.1f %8.1f %6.2f %7.2f..%-5.2f %6.1f %6.1f %5.2f",
               name, rate[RANDOM][COUNT].median, rate[HERDED][COUNT].median, cost[COUNT].median,
               rate[RANDOM][RAO_BLACKWELL].median, rate[HERDED][RAO_BLACKWELL].median,
               cost[RAO_BLACKWELL].median, cost[RAO_BLACKWELL].low, cost[RAO_BLACKWELL].high,
               bytes[RAO_BLACKWELL], moved, moved / bandwidth);
    bench_record(report, "herded",
                 "\"case\":\"%s\",\"draw\":\"%s\",\"size\":\"%s\",\"model\":\"%s\","
                 "\"variables\":%u,\"chains\":%u,\"threads\":1,\"repeats\":%d,"
                 "\"random\":{\"count\":%.1f,\"rao_blackwell\":%.1f},"
                 "\"herded\":{\"count\":%.1f,\"rao_blackwell\":%.1f},"
                 "\"count_cost\":{\"median\":%.3f,\"low\":%.3f,\"high\":%.3f},"
                 "\"cost\":{\"median\":%.3f,\"low\":%.3f,\"high\":%.3f},"
                 "\"count_bytes_per_update\":%.1f,\"bytes_per_update\":%.1f,"
                 "\"bandwidth_gb_per_s\":%.2f",
                 name, gbsi_draw_name(cases[i].draw), cases[i].size, text,
                 herded->run->sampling.engine.plan->n_slots, cases[i].chains, BENCH_REPEATS,
                 rate[RANDOM][COUNT].median, rate[RANDOM][RAO_BLACKWELL].median,
                 rate[HERDED][COUNT].median, rate[HERDED][RAO_BLACKWELL].median, cost[COUNT].median,
                 cost[COUNT].low, cost[COUNT].high, cost[RAO_BLACKWELL].median,
                 cost[RAO_BLACKWELL].low, cost[RAO_BLACKWELL].high, bytes[COUNT],
                 bytes[RAO_BLACKWELL], bandwidth);
}

static void one_case(const bench_report *report, size_t i, double seconds)
{
    gbs_model *model = bench_model(cases[i].family, cases[i].side);
    bench_engine engine[N_DRAWS];
    figures f;
    for (int d = 0; d < N_DRAWS; ++d) {
        gbs_run_options options = bench_engine_options(cases[i].chains);
        options.draw = d == RANDOM ? GBS_DRAW_RANDOM : cases[i].draw;
        options.bins = options.draw == GBS_DRAW_DISCRETIZED ? BINS : 0;
        bench_engine_new(&engine[d], model, &options);
        bench_engine_start(&engine[d], 1);
        if (d == HERDED) {
            check(&engine[d]);
        }
    }
    measure(engine, seconds, &f);
    tell(report, i, &engine[HERDED], &f);
    for (int d = 0; d < N_DRAWS; ++d) {
        bench_engine_free(&engine[d]);
    }
    gbs_model_free(model);
}

void bench_herded(const bench_report *report, bool quick, const char *only)
{
    bool headed = false;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        if (!wanted(i, quick, only)) {
            continue;
        }
        if (!headed) {
            bench_tell(report,
                       "\nHerded draws beside the random one: million updates a second, and "
                       "what a sweep costs in sweeps of the random draw");
            bench_tell(report,
                       "  counting, then Rao-Blackwell with the range of its cost; B, GB/s, "
                       "part: as above");
            bench_tell(report, "%-28s %8s %8s %6s  %8s %8s %6s %14s %6s %6s %5s", "case", "random",
                       "herded", "cost", "random", "herded", "cost", "range", "B", "GB/s", "part");
            headed = true;
        }
        one_case(report, i, quick ? 0.02 : 0.15);
    }
}
