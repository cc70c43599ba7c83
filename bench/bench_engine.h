/* SPDX-License-Identifier: Apache-2.0 */
/* A run whose parts the benchmarks can use directly: one compiled model, with any number of
 * threads, and with either estimator or none. */
#ifndef BENCH_BENCH_ENGINE_H
#define BENCH_BENCH_ENGINE_H

#include "chains/run.h"
#include "timing.h"

typedef struct bench_engine {
    gbs_run *run; /* supplies the plan and the schedule */
    uint32_t chains;
    uint32_t threads;
    gbsi_pool *pool;
    gbsi_executor executor;
    uint64_t pass; /* number of the next pass */
} bench_engine;

/* @return the options that most cases use: chains of the random draw, in classes with a plan. */
gbs_run_options bench_engine_options(uint32_t chains);
/* Compiles the model. @param model borrowed. */
void bench_engine_new(bench_engine *engine, const gbs_model *model, const gbs_run_options *options);
void bench_engine_free(bench_engine *engine);

/* Puts all chains at drawn states, ready for pass 0. A later call with another number of threads
 * starts again from pass 0. */
void bench_engine_start(bench_engine *engine, uint32_t threads);

/* Makes an estimate of a kind. */
gbsi_estimate *bench_engine_estimate(const bench_engine *engine, gbs_estimator_kind kind);

/* Makes one pass. @param estimate an estimate of this kind, or NULL. */
void bench_engine_pass(bench_engine *engine, gbsi_estimate *estimate, gbs_estimator_kind kind);

/* @return the updates in one pass of all chains. */
double bench_engine_updates(const bench_engine *engine);

/* @return million updates per second, measured over `passes` passes. @param estimate as for
 *   bench_engine_pass(). */
double bench_engine_rate(bench_engine *engine, gbsi_estimate *estimate, gbs_estimator_kind kind,
                         uint64_t passes);
/* Makes passes until the batches of the estimator are long, but at most for the time of one
 * timing.
 * @param seconds approximate duration of a timing.
 * @return the number of passes in a timing of that duration. */
uint64_t bench_engine_warm_up(bench_engine *engine, gbsi_estimate *estimate,
                              gbs_estimator_kind kind, double seconds);
/* @return the number of passes that take `seconds` at this rate, at least one. */
uint64_t bench_passes_for(double seconds, double million_per_s, double updates_per_pass);

#endif
