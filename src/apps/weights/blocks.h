/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over many things, on many threads: over fixed blocks of them, which are added in their
 * order, so that threads change no bit. */
#ifndef GBSI_WEIGHTS_BLOCKS_H
#define GBSI_WEIGHTS_BLOCKS_H

#include "parallel/pool.h"

typedef struct gbsi_blocks {
    size_t n;        /* things */
    size_t of_block; /* number of things in a block; the last block may have fewer */
    size_t n_sums;
    void *context;
    /* Adds things first to end - 1 to a block's sums. Members of the pool call this function at the
     * same time. */
    void (*add)(void *context, uint32_t member, size_t first, size_t end, double *sum);
} gbsi_blocks;

/* @param pool NULL: this thread alone. @param sum out, caller frees: [n_sums], and behind it room
 * of the members. */
gbs_status gbsi_blocks_sum(const gbsi_blocks *blocks, gbsi_pool *pool, double **sum,
                           gbs_error *err);

#endif
