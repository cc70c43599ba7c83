/* SPDX-License-Identifier: Apache-2.0 */
/* What a pass must move between memory and core, counted from the data structures. */
#ifndef BENCH_BYTES_H
#define BENCH_BYTES_H

#include "bench_engine.h"

/* Bytes of one pass over all chains: each array of the plan is read once for every group of
 * chains, each state read once as a neighbour, then read and written; each sum of an estimator
 * read and written. A lower bound: neighbours that are far apart cost whole cache lines. */
typedef struct bench_bytes {
    double plan, states, count, rao_blackwell;
    /* Herded draws: weights, read and written, and what tells which, in whole lines of the cache.
     * Keys that decide the conditional ask no kernel: plan is 0 then. */
    double draw;
    /* Closing a batch of passes, all chains: sums and second moments. The period in passes: at
     * first 4, later a sixteenth of the passes so far (one chain: a 128th). */
    double closing;
} bench_bytes;

bench_bytes bench_bytes_of(const bench_engine *engine);

#endif
