/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_spins.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_models.h"
#include "chains/run.h"
#include "lattice/bits.h"
#include "scalar.h"
#include "timing.h"

#define MOST_THREADS 2
#define WARM_UP      512 /* passes after which batches of counts have 4 to 8 passes */
#define WARM_UP_S    1.0

typedef enum shape { UNIFORM, GLASS, GRAPH } shape;

static const struct {
    const char *family, *size, *text;
    shape shape;
    uint32_t n, chains; /* n: side of a lattice, or number of variables */
} cases[] = {
    {"lattice", "cache", "1024 x 1024 torus, one coupling", UNIFORM, 1024, 1},
    {"lattice", "cache", "256 x 256 torus, one coupling", UNIFORM, 256, 16},
    {"lattice", "memory", "4096 x 4096 torus, one coupling", UNIFORM, 4096, 1},
    {"lattice-odd", "cache", "1023 x 1023 torus, one coupling", UNIFORM, 1023, 1},
    {"lattice-glass", "cache", "1024 x 1024 torus, couplings of either sign", GLASS, 1024, 1},
    {"lattice-chains", "cache", "random graph of degree 4, 10 000 variables", GRAPH, 10000, 32},
    {"lattice-chains", "memory", "random graph of degree 4, 1 000 000 variables", GRAPH, 1000000,
     32},
};

/* ---- models ---------------------------------------------------------------------------------- */

static gbs_model *glass(uint32_t side)
{
    gbs_error err = {0};
    gbs_builder *builder = NULL;
    gbs_model *model = NULL;
    uint64_t stream = 88172645463325252U;
    uint32_t *two = bench_alloc((size_t)side * side, sizeof *two);
    for (uint32_t v = 0; v < side * side; ++v) {
        two[v] = 2;
    }
    bench_must(gbs_builder_new(&builder, &err), &err);
    bench_must(gbs_builder_add_variables(builder, side * side, two, NULL, &err), &err);
    free(two);
    for (uint32_t v = 0; v < side * side; ++v) {
        const uint32_t right = v % side + 1 < side ? v + 1 : v + 1 - side;
        stream ^= stream << 13;
        stream ^= stream >> 7;
        stream ^= stream << 17;
        const double along = stream >> 62 & 1u ? 0.5 : -0.5;
        const double down = stream >> 63 & 1u ? 0.5 : -0.5;
        bench_must(gbs_builder_add_ising(builder, v, right, along, &err), &err);
        bench_must(gbs_builder_add_ising(builder, v, (v + side) % (side * side), down, &err), &err);
    }
    bench_must(gbs_builder_build(builder, &model, &err), &err);
    gbs_builder_free(builder);
    return model;
}

static gbs_model *make(shape which, uint32_t n)
{
    gbs_error err = {0};
    gbs_model *model = NULL;
    if (which == GLASS) {
        return glass(n);
    }
    if (which == UNIFORM) {
        return bench_model(BENCH_UNIFORM, n);
    }
    const gbs_generate_regular_options options = {
        .variables = n, .degree = 4, .coupling = 0.2, .seed = 1};
    bench_must(gbs_generate_regular(&options, &model, &err), &err);
    return model;
}

/* ---- runs ------------------------------------------------------------------------------------ */

enum { TRACES, COUNT, N_KINDS };

typedef struct subject {
    gbs_run *run[N_KINDS];
    uint64_t pass[N_KINDS];
    bench_scalar *scalar;
    uint32_t threads;
} subject;

static gbs_run *start(const gbs_model *model, uint32_t chains, uint32_t threads, int kind)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.estimator = kind == COUNT ? GBS_ESTIMATOR_COUNT : GBS_ESTIMATOR_TRACES;
    options.lattice = GBS_LATTICE_ALWAYS;
    options.chains = chains;
    options.threads = threads;
    options.burn_in = 0;
    options.sweeps = 1;
    bench_must(gbs_run_new(model, NULL, &options, &run, &err), &err);
    bench_must(gbs_run_execute(run, NULL, &err),
               &err); /* this call draws states and makes one pass */
    return run;
}

/* Compares the sums of a pass with the states at its end. Unit tests check that the states are
 * right. */
static void check(const gbs_run *run)
{
    const gbsi_spin_chains *chains = gbsi_bits_chains(run->sampling.engine.executor.pass_state);
    uint32_t *x = bench_alloc(run->task.problem.part->n_variables, sizeof *x);
    int64_t total = 0;
    chains->form->get(chains, 0, x);
    for (uint32_t v = 0; v < run->task.problem.part->n_variables; ++v) {
        total += x[v] != 0 ? 1 : -1;
    }
    const double logw = gbsi_conditioned_log_density(run->task.problem.part, x);
    const double said = gbsi_spins_log_density(run->sampling.engine.spins, &chains->sums[0]);
    bench_check(fabs(logw - said) <= 1e-9 * (1.0 + fabs(logw)), "energy: found %g, expected %g",
                said, logw);
    bench_check(gbsi_spins_total(run->sampling.engine.spins, &chains->sums[0]) == total,
                "magnetisation is wrong");
    free(x);
}

static double time_ours(subject *s, int kind, uint64_t passes)
{
    gbs_error err = {0};
    gbs_run *run = s->run[kind];
    const double start_s = bench_now_s(s->threads);
    for (uint64_t i = 0; i < passes; ++i) {
        bench_must(gbsi_executor_pass(&run->sampling.engine.executor,
                                      &run->sampling.engine.schedule, ++s->pass[kind],
                                      run->sampling.estimates.estimate, false, &err),
                   &err);
        gbsi_traces_put(&run->sampling.estimates, &run->sampling.engine);
    }
    const double updates = (double)run->sampling.engine.schedule.n_places *
                           run->sampling.engine.executor.n_chains * (double)passes;
    return updates / (bench_now_s(s->threads) - start_s) / 1e6;
}

/* Warms up. @return the number of passes in one timing. */
static uint64_t warm_up(subject *s, int kind, double seconds)
{
    const gbs_run *run = s->run[kind];
    const double updates =
        (double)run->sampling.engine.schedule.n_places * run->sampling.engine.executor.n_chains;
    const double begun_s = bench_now_s(s->threads);
    double rate = time_ours(s, kind, 2);
    while (s->pass[kind] < WARM_UP && bench_now_s(s->threads) < begun_s + WARM_UP_S) {
        rate = time_ours(s, kind, 16);
    }
    return 1 + (uint64_t)(seconds * rate * 1e6 / updates);
}

static double time_scalar(const subject *s)
{
    const double start_s = bench_now_s(1);
    bench_scalar_pass(s->scalar);
    return s->run[TRACES]->task.problem.part->n_variables / (bench_now_s(1) - start_s) / 1e6;
}

/* ---- reporting ------------------------------------------------------------------------------- */

static void name_of(size_t i, uint32_t threads, char *name, size_t size)
{
    (void)snprintf(name, size, "%s/%s/%uc/%ut", cases[i].family, cases[i].size, cases[i].chains,
                   threads);
}

static bool wanted(size_t i, uint32_t threads, bool quick, const char *only)
{
    char name[128];
    name_of(i, threads, name, sizeof name);
    return strstr(name, only) != NULL && threads <= gbsi_pool_cores() &&
           !(quick && strcmp(cases[i].size, "memory") == 0);
}

static void measure(const bench_report *report, size_t i, subject *s, double seconds)
{
    double ours[N_KINDS][BENCH_REPEATS];
    double scalar[BENCH_REPEATS];
    uint64_t passes[N_KINDS];
    char name[128];
    for (int kind = 0; kind < N_KINDS; ++kind) {
        passes[kind] = warm_up(s, kind, seconds);
    }
    for (int repeat = 0; repeat < BENCH_REPEATS; ++repeat) {
        for (int kind = 0; kind < N_KINDS; ++kind) {
            ours[kind][repeat] = time_ours(s, kind, passes[kind]);
        }
        scalar[repeat] = time_scalar(s);
    }
    const bench_spread traces = bench_spread_of(ours[TRACES]);
    const bench_spread count = bench_spread_of(ours[COUNT]);
    const double reference = bench_spread_of(scalar).median;
    const double share = s->run[TRACES]->sampling.engine.form.share;
    name_of(i, s->threads, name, sizeof name);
    bench_tell(report, "%-28s %9.1f %9.1f..%-9.1f %9.1f %6.2f %7.1fx", name, traces.median,
               traces.low, traces.high, count.median, share, traces.median / reference);
    bench_record(report, "spins",
                 "\"case\":\"%s\",\"family\":\"%s\",\"size\":\"%s\",\"model\":\"%s\","
                 "\"variables\":%u,\"chains\":%u,\"threads\":%u,\"repeats\":%d,\"share\":%.4f,"
                 "\"traces\":{\"median\":%.1f,\"low\":%.1f,\"high\":%.1f},"
                 "\"count\":{\"median\":%.1f,\"low\":%.1f,\"high\":%.1f},\"scalar\":%.2f",
                 name, cases[i].family, cases[i].size, cases[i].text,
                 s->run[TRACES]->task.problem.part->n_variables, cases[i].chains, s->threads,
                 BENCH_REPEATS, share, traces.median, traces.low, traces.high, count.median,
                 count.low, count.high, reference);
}

static void one_case(const bench_report *report, size_t i, bool quick, const char *only)
{
    gbs_model *model = make(cases[i].shape, cases[i].n);
    for (uint32_t threads = 1; threads <= MOST_THREADS; ++threads) {
        if (!wanted(i, threads, quick, only)) {
            continue;
        }
        subject s = {.threads = threads};
        for (int kind = 0; kind < N_KINDS; ++kind) {
            s.run[kind] = start(model, cases[i].chains, threads, kind);
            check(s.run[kind]);
        }
        s.scalar = bench_scalar_new(s.run[TRACES]->task.problem.part);
        measure(report, i, &s, quick ? 0.02 : 0.15);
        bench_scalar_free(s.scalar);
        for (int kind = 0; kind < N_KINDS; ++kind) {
            gbs_run_free(s.run[kind]);
        }
    }
    gbs_model_free(model);
}

void bench_spins(const bench_report *report, bool quick, const char *only)
{
    bool headed = false;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        if (!wanted(i, 1, quick, only) && !wanted(i, 2, quick, only)) {
            continue;
        }
        if (!headed) {
            bench_tell(report, "\nSpins bit by bit: million updates a second, energy and "
                               "magnetisation traced; with counts of every site");
            bench_tell(report, "  share: of the bits worked on, in use; scalar: times the scalar "
                               "loop");
            bench_tell(report, "%-28s %9s %20s %9s %6s %8s", "case", "traces", "range", "count",
                       "share", "scalar");
            headed = true;
        }
        one_case(report, i, quick, only);
    }
}
