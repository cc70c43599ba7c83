/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that a pass must move between memory and core, counted from the data structures. */
#ifndef BENCH_BYTES_H
#define BENCH_BYTES_H

#include "bench_engine.h"

/* Bytes of one pass over all chains. Each array of the plan is read once for every group of
 * chains. Each state is read once as a neighbour, then read and written. Each sum of an
 * estimator is read and written. The count is a lower bound, because neighbours that are far
 * apart cost whole cache lines. */
typedef struct bench_bytes {
    double plan, states, count, rao_blackwell;
    /* Bytes of the herded draw: weights, read and written, and the data that choose them, in
     * whole cache lines. If keys decide the conditional, no kernel runs and plan is 0. */
    double draw;
    /* Bytes that close a batch of passes of all chains: sums and second moments. A batch has 4
     * passes at first, later a sixteenth of all passes so far (for one chain, a 128th). */
    double closing;
} bench_bytes;

bench_bytes bench_bytes_of(const bench_engine *engine);

#endif
