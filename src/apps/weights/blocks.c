/* SPDX-License-Identifier: Apache-2.0 */
#include "weights/learning.h"

#include <string.h>

#include "base/memory.h"

#define AT_ONCE 8u /* number of sums that a member adds up at a time: one cache line */

typedef struct summing {
    const gbsi_blocks *blocks;
    uint32_t n_members;
    /* first item of the block that member 0 sums now; the other members sum the following blocks */
    size_t first;
    size_t stride;
    double *sum; /* [1 + n_members][stride] total, and the sums of each member's block */
} summing;

static void sum_block(void *context, uint32_t member)
{
    const summing *s = context;
    const gbsi_blocks *b = s->blocks;
    const size_t first = s->first + member * b->of_block;
    double *own = s->sum + (member + (size_t)1) * s->stride;
    if (first < b->n) {
        memset(own, 0, b->n_sums * sizeof *own);
        b->add(b->context, member, first, b->n - first < b->of_block ? b->n : first + b->of_block,
               own);
    }
}

/* Adds the sums of the blocks to the total, in the order of the blocks. One member computes each
 * sum. */
static void add_blocks(void *context, uint32_t member)
{
    const summing *s = context;
    const gbsi_blocks *b = s->blocks;
    uint64_t begin = 0;
    uint64_t end = 0;
    gbsi_pool_share(b->n_sums, AT_ONCE, member, s->n_members, &begin, &end);
    for (uint32_t i = 0; i < s->n_members && s->first + i * b->of_block < b->n; ++i) {
        const double *of_block = s->sum + (i + (size_t)1) * s->stride;
        for (uint64_t k = begin; k < end; ++k) {
            s->sum[k] += of_block[k];
        }
    }
}

gbs_status gbsi_blocks_sum(const gbsi_blocks *blocks, gbsi_pool *pool, double **sum, gbs_error *err)
{
    summing s = {.blocks = blocks, .n_members = gbsi_pool_size(pool)};
    s.stride = (blocks->n_sums + AT_ONCE - 1) / AT_ONCE * AT_ONCE;
    s.sum = gbsi_alloc_array(s.n_members + (size_t)1, s.stride * sizeof *s.sum);
    GBSI_PASS(GBSI_HAVE(err, "sums of threads", s.sum));
    memset(s.sum, 0, blocks->n_sums * sizeof *s.sum);
    for (; s.first < blocks->n; s.first += s.n_members * blocks->of_block) {
        gbsi_pool_run(pool, sum_block, &s);
        gbsi_pool_run(pool, add_blocks, &s);
    }
    *sum = s.sum;
    return GBS_OK;
}
