/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of a run with its parts in the hand: one compiled model, run with any number of
 * threads and with one estimator, the other, or none. */
#ifndef BENCH_BENCH_ENGINE_H
#define BENCH_BENCH_ENGINE_H

#include "chains/run.h"
#include "timing.h"

typedef struct bench_engine {
    gbs_run *run; /* its plan and schedule; it takes no memory to run */
    uint32_t chains;
    uint32_t threads;
    gbsi_pool *pool;
    gbsi_executor executor;
    uint64_t pass; /* the next one */
} bench_engine;

/* Says what is timed unless stated otherwise: chains of the random draw, in classes with a plan. */
gbs_run_options bench_engine_options(uint32_t chains);
/* Compiles. @param model borrowed. */
void bench_engine_new(bench_engine *engine, const gbs_model *model, const gbs_run_options *options);
void bench_engine_free(bench_engine *engine);

/* Chains at drawn states, ready for pass 0; called again with another number of threads it begins
 * anew. */
void bench_engine_start(bench_engine *engine, uint32_t threads);

/* @param kind gbs_estimator_kind. */
gbsi_estimate *bench_engine_estimate(const bench_engine *engine, gbs_estimator_kind kind);

/* One pass. @param estimate of that kind, or NULL. */
void bench_engine_pass(bench_engine *engine, gbsi_estimate *estimate, gbs_estimator_kind kind);

/* Updates of one pass, all chains. */
double bench_engine_updates(const bench_engine *engine);

/* Million updates a second over so many passes. @param estimate as above. */
double bench_engine_rate(bench_engine *engine, gbsi_estimate *estimate, gbs_estimator_kind kind,
                         uint64_t passes);
/* Passes until the batches of the estimator are long, or as many as a timing has.
 * @param seconds of one timing, about. @return passes that it takes. */
uint64_t bench_engine_warm_up(bench_engine *engine, gbsi_estimate *estimate,
                              gbs_estimator_kind kind, double seconds);
/* Passes of so many updates that take so long at a rate, at least one. */
uint64_t bench_passes_for(double seconds, double million_per_s, double updates_per_pass);

#endif
