/* SPDX-License-Identifier: Apache-2.0 */
#include "throughput.h"
#include "gibbsite/info.h"

#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "check.h"
#include "limits.h"

#define MOST_THREADS 2

/* Kinds of passes: without an estimator, and with either estimator. */
enum { NONE, COUNT, RAO_BLACKWELL, N_KINDS };

/* Figures of a case, in million updates per second if no unit is named. */
typedef struct figures {
    double ours[N_KINDS][BENCH_REPEATS];
    double scalar[BENCH_REPEATS];
    double bandwidth[BENCH_REPEATS]; /* GB/s */
    double words[BENCH_REPEATS];     /* million per second */
} figures;

typedef struct subject {
    bench_engine *engine;
    bench_scalar *scalar; /* NULL if the loop does not know the model */
    gbsi_estimate *estimate[N_KINDS];
    double seconds; /* approximate duration of one timing */
} subject;

static void name_of(const bench_case *c, uint32_t threads, char *name, size_t size)
{
    (void)snprintf(name, size, "%s/%s/%uc/%ut", c->family, c->size, c->chains, threads);
}

static bool wanted(const bench_case *c, uint32_t threads, const char *only)
{
    char name[128];
    name_of(c, threads, name, sizeof name);
    return strstr(name, only) != NULL && threads <= gbsi_pool_cores();
}

bool bench_throughput_wanted(const bench_case *c, const char *only)
{
    bool any = false;
    for (uint32_t threads = 1; threads <= MOST_THREADS; ++threads) {
        any |= wanted(c, threads, only);
    }
    return any;
}

/* ---- timing ---------------------------------------------------------------------------------- */

static gbs_estimator_kind kind_of(int kind)
{
    return kind == RAO_BLACKWELL ? GBS_ESTIMATOR_RAO_BLACKWELL : GBS_ESTIMATOR_COUNT;
}

static double time_scalar(const subject *s, uint64_t passes)
{
    const double start_s = bench_now_s(1);
    for (uint64_t i = 0; i < passes; ++i) {
        bench_scalar_pass(s->scalar);
    }
    const double n = s->engine->run->task.problem.part->n_variables;
    return n * (double)passes / (bench_now_s(1) - start_s) / 1e6;
}

static figures measure(const subject *s)
{
    figures f = {0};
    const bench_bytes bytes = bench_bytes_of(s->engine);
    bench_limits *limits =
        bench_limits_new(bytes.plan + bytes.states + bytes.rao_blackwell, s->engine->pool);
    uint64_t passes[N_KINDS];
    uint64_t scalar_passes = 0;
    for (int kind = 0; kind < N_KINDS; ++kind) {
        passes[kind] =
            bench_engine_warm_up(s->engine, s->estimate[kind], kind_of(kind), s->seconds);
    }
    if (s->scalar != NULL) {
        const double n = s->engine->run->task.problem.part->n_variables;
        scalar_passes = bench_passes_for(s->seconds / 4, time_scalar(s, 1), n);
    }
    for (int i = 0; i < BENCH_REPEATS; ++i) {
        for (int kind = 0; kind < N_KINDS; ++kind) {
            f.ours[kind][i] =
                bench_engine_rate(s->engine, s->estimate[kind], kind_of(kind), passes[kind]);
        }
        f.scalar[i] = s->scalar == NULL ? 0.0 : time_scalar(s, scalar_passes);
        f.bandwidth[i] = bench_bandwidth(limits);
        f.words[i] = bench_words(limits);
    }
    bench_limits_free(limits);
    return f;
}

/* ---- reporting ------------------------------------------------------------------------------- */

static const char *class_of(const gbsi_plan *plan)
{
    unsigned most = 0;
    for (unsigned k = 1; k < GBSI_N_CLASSES; ++k) {
        most = plan->n_of_class[k] > plan->n_of_class[most] ? k : most;
    }
    return gbs_class_name(most);
}

void bench_throughput_heading(const bench_report *report)
{
    bench_tell(report, "Million updates of variables a second, %s, median of %d repeats",
               gbs_simd_name(), BENCH_REPEATS);
    bench_tell(report,
               "  none, count, rb: without estimator, counting, Rao-Blackwell and its range");
    bench_tell(
        report,
        "  B: bytes an update moves at least (Rao-Blackwell); GB/s: bytes moved a second, part "
        "of the bandwidth");
    bench_tell(
        report,
        "  words: part of the rate at which random numbers alone are made; scalar: times the "
        "scalar loop");
    bench_tell(report, "%-24s %8s %8s %8s %17s  %6s %6s %5s %6s %7s", "case", "none", "count", "rb",
               "range", "B", "GB/s", "part", "words", "scalar");
}

static void tell(const bench_report *report, const bench_case *c, const subject *s, figures *f)
{
    char name[128];
    bench_spread ours[N_KINDS];
    const bench_engine *engine = s->engine;
    for (int kind = 0; kind < N_KINDS; ++kind) {
        ours[kind] = bench_spread_of(f->ours[kind]);
    }
    const double scalar = bench_spread_of(f->scalar).median;
    const double bandwidth = bench_spread_of(f->bandwidth).median;
    const double words = bench_spread_of(f->words).median;
    const bench_bytes bytes = bench_bytes_of(engine);
    const double updates = bench_engine_updates(engine);
    const double of_count = (bytes.plan + bytes.states + bytes.count) / updates;
    const double of_rb = (bytes.plan + bytes.states + bytes.rao_blackwell) / updates;
    const bench_spread *rb = &ours[RAO_BLACKWELL];
    name_of(c, engine->threads, name, sizeof name);
    bench_tell(report, "%-24s %8.1f %8.1f %8.1f %8.1f..%-7.1f  %6.1f %6.1f %5.2f %6.2f %6.1fx",
               name, ours[NONE].median, ours[COUNT].median, rb->median, rb->low, rb->high, of_rb,
               rb->median * of_rb / 1e3, rb->median * of_rb / 1e3 / bandwidth, rb->median / words,
               scalar > 0.0 ? rb->median / scalar : 0.0);
    bench_record(
        report, "throughput",
        "\"case\":\"%s\",\"family\":\"%s\",\"size\":\"%s\",\"model\":\"%s\",\"class\":\"%s\","
        "\"variables\":%u,\"chains\":%u,\"threads\":%u,\"repeats\":%d,"
        "\"none\":{\"median\":%.1f,\"low\":%.1f,\"high\":%.1f},"
        "\"count\":{\"median\":%.1f,\"low\":%.1f,\"high\":%.1f,\"bytes_per_update\":%.2f},"
        "\"rao_blackwell\":{\"median\":%.1f,\"low\":%.1f,\"high\":%.1f,\"bytes_per_update\":%.2f},"
        "\"plan_bytes_per_update\":%.2f,\"closing_bytes_per_update\":%.2f,"
        "\"scalar\":%.2f,\"bandwidth_gb_per_s\":%.2f,\"million_words_per_s\":%.1f",
        name, c->family, c->size, c->model_text, class_of(engine->run->sampling.engine.plan),
        engine->run->sampling.engine.plan->n_slots, engine->chains, engine->threads, BENCH_REPEATS,
        ours[NONE].median, ours[NONE].low, ours[NONE].high, ours[COUNT].median, ours[COUNT].low,
        ours[COUNT].high, of_count, rb->median, rb->low, rb->high, of_rb, bytes.plan / updates,
        bytes.closing / updates, scalar, bandwidth, words);
}

void bench_throughput(const bench_report *report, const bench_case *c, const gbs_model *model,
                      double seconds, const char *only)
{
    bench_engine engine;
    const gbs_run_options options = bench_engine_options(c->chains);
    bench_engine_new(&engine, model, &options);
    subject s = {.engine = &engine, .seconds = seconds};
    s.scalar = bench_scalar_new(engine.run->task.problem.part);
    for (uint32_t threads = 1; threads <= MOST_THREADS; ++threads) {
        if (!wanted(c, threads, only)) {
            continue;
        }
        bench_engine_start(&engine, threads);
        bench_check_engine(&engine, s.scalar);
        for (int kind = COUNT; kind < N_KINDS; ++kind) {
            s.estimate[kind] = bench_engine_estimate(&engine, kind_of(kind));
        }
        figures f = measure(&s);
        tell(report, c, &s, &f);
        for (int kind = COUNT; kind < N_KINDS; ++kind) {
            gbsi_estimate_free(s.estimate[kind]);
        }
    }
    bench_scalar_free(s.scalar);
    bench_engine_free(&engine);
}
