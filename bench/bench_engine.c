/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_engine.h"

#include "drive/run_memory.h"
#include "rng/philox.h"

#define WARM_UP \
    256 /* number of passes after which the estimator's batches have at least 8 passes each */
#define LEAST_WARM_UP \
    2 /* least number of passes of a warm-up that the time of one timing cuts short */

gbs_run_options bench_engine_options(uint32_t chains)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.chains = chains;
    options.sweeps = 1;
    return options;
}

void bench_engine_new(bench_engine *engine, const gbs_model *model, const gbs_run_options *options)
{
    gbs_error err = {0};
    *engine = (bench_engine){.chains = (uint32_t)options->chains};
    bench_must(gbsi_run_begin(model, options, &engine->run, &err), &err);
    engine->run->task.purpose.limited = true; /* without a limit, prepare would only measure */
    bench_must(gbsi_run_prepare(engine->run, NULL, &err), &err);
    gbsi_run_leave(&engine->run->budget);
    bench_check(engine->run->task.problem.part != NULL, "nothing to sample");
}

static void stop(bench_engine *engine)
{
    if (engine->threads > 0) {
        gbsi_executor_free(&engine->executor);
    }
    gbsi_pool_free(engine->pool);
    engine->pool = NULL;
    engine->threads = 0;
}

void bench_engine_free(bench_engine *engine)
{
    stop(engine);
    gbs_run_free(engine->run);
}

/* Draws states that are independent of one another. A run starts from other states, but finding
 * these for each chain takes longer than the passes that are timed. */
static void draw_states(bench_engine *engine)
{
    const gbsi_plan *plan = engine->run->sampling.engine.plan;
    const uint32_t lanes = engine->executor.lanes;
    for (uint32_t g = 0; g < engine->executor.n_groups; ++g) {
        uint64_t stream = 88172645463325252U + g;
        for (size_t i = 0; i < (size_t)plan->n_slots * lanes; ++i) {
            stream ^= stream << 13;
            stream ^= stream >> 7;
            stream ^= stream << 17;
            const uint32_t a =
                (uint32_t)((stream >> 32) * gbsi_plan_arity(plan, (uint32_t)(i / lanes)) >> 32);
            if (plan->value_bytes == 1) {
                ((uint8_t *)engine->executor.group[g].state)[i] = (uint8_t)a;
            } else {
                ((uint16_t *)engine->executor.group[g].state)[i] = (uint16_t)a;
            }
        }
    }
    gbsi_executor_ready(&engine->executor);
}

void bench_engine_start(bench_engine *engine, uint32_t threads)
{
    gbs_error err = {0};
    const gbs_run *run = engine->run;
    stop(engine);
    bench_must(gbsi_pool_new(threads, &engine->pool, &err), &err);
    gbsi_executor_setting setting =
        gbsi_engine_setting(&run->sampling.engine, &run->task.options, run->memory.draw_room);
    setting.pool = engine->pool;
    bench_must(gbsi_executor_init(&engine->executor, &setting, &err), &err);
    engine->threads = threads;
    engine->pass = 0;
    draw_states(engine);
}

gbsi_estimate *bench_engine_estimate(const bench_engine *engine, gbs_estimator_kind kind)
{
    gbs_error err = {0};
    gbsi_estimate *estimate = NULL;
    gbsi_estimate_shape shape =
        engine->run->task.plain->shape(&engine->run->task, &engine->run->sampling.engine);
    shape.kind = kind;
    bench_must(gbsi_estimate_new(&shape, gbsi_simd_level(), &estimate, &err), &err);
    return estimate;
}

void bench_engine_pass(bench_engine *engine, gbsi_estimate *estimate, gbs_estimator_kind kind)
{
    gbs_error err = {0};
    bench_must(gbsi_executor_pass(&engine->executor, &engine->run->sampling.engine.schedule,
                                  engine->pass++, estimate, kind == GBS_ESTIMATOR_RAO_BLACKWELL,
                                  &err),
               &err);
}

double bench_engine_updates(const bench_engine *engine)
{
    return (double)engine->run->sampling.engine.schedule.n_places * engine->chains;
}

double bench_engine_rate(bench_engine *engine, gbsi_estimate *estimate, gbs_estimator_kind kind,
                         uint64_t passes)
{
    const double start_s = bench_now_s(engine->threads);
    for (uint64_t i = 0; i < passes; ++i) {
        bench_engine_pass(engine, estimate, kind);
    }
    const double seconds = bench_now_s(engine->threads) - start_s;
    return bench_engine_updates(engine) * (double)passes / seconds / 1e6;
}

uint64_t bench_passes_for(double seconds, double million_per_s, double updates_per_pass)
{
    const double passes = seconds * million_per_s * 1e6 / updates_per_pass;
    return passes < 1.0 ? 1 : (uint64_t)(passes + 0.5);
}

uint64_t bench_engine_warm_up(bench_engine *engine, gbsi_estimate *estimate,
                              gbs_estimator_kind kind, double seconds)
{
    const double updates = bench_engine_updates(engine);
    uint64_t done = LEAST_WARM_UP;
    double rate = bench_engine_rate(engine, estimate, kind, done);
    while (done < WARM_UP && (double)done * updates < seconds * rate * 1e6) {
        rate = bench_engine_rate(engine, estimate, kind, done);
        done *= 2;
    }
    return bench_passes_for(seconds, rate, updates);
}
