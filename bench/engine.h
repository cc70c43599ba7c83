/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of a run with its parts in the hand: one compiled model, run with any number of
 * threads and with one estimator, the other, or none. */
#ifndef BENCH_ENGINE_H
#define BENCH_ENGINE_H

#include "sampler/run.h"
#include "timing.h"

typedef struct bench_engine {
    gbs_run *run; /* its plan and schedule; it takes no memory to run */
    uint32_t chains;
    uint32_t threads;
    gbsi_pool *pool;
    gbsi_executor executor;
    uint64_t pass; /* the next one */
} bench_engine;

/* Compiles. @param model borrowed. */
void bench_engine_new(bench_engine *engine, const gbs_model *model, uint32_t chains);
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

#endif
