/* SPDX-License-Identifier: Apache-2.0 */
#include "limits.h"

#include <stdlib.h>

#include "base/memory.h"
#include "estimate/accumulate.h"
#include "rng/words.h"
#include "simd/dispatch.h"
#include "timing.h"

#define WINDOW_BLOCKS 16u        /* blocks of four places and sixteen chains: 4 KiB */
#define LEAST_BYTES   (1u << 16) /* bytes of each thread */
#define LEAST_S       0.01

struct bench_limits {
    gbsi_pool *pool;
    uint32_t n_threads;
    uint32_t n_rows; /* rows of sixteen floats in each thread */
    uint64_t n_times;
    float *a, *b;   /* [n_threads][n_rows][16] */
    uint32_t *word; /* [n_threads][WINDOW_BLOCKS * 64] */
};

bench_limits *bench_limits_new(double bytes, gbsi_pool *pool)
{
    bench_limits *l = bench_alloc(1, sizeof *l);
    l->pool = pool;
    l->n_threads = gbsi_pool_size(pool);
    const double own = bytes / l->n_threads > LEAST_BYTES ? bytes / l->n_threads : LEAST_BYTES;
    /* half of the bytes for a, half for b */
    l->n_rows = (uint32_t)(own / (2 * GBSI_LANES * sizeof(float)));
    l->a = gbsi_alloc_lanes((size_t)l->n_threads * l->n_rows * GBSI_LANES, sizeof *l->a);
    l->b = gbsi_alloc_lanes((size_t)l->n_threads * l->n_rows * GBSI_LANES, sizeof *l->b);
    l->word = gbsi_alloc_lanes((size_t)l->n_threads * WINDOW_BLOCKS * 64, sizeof *l->word);
    bench_check(l->a != NULL && l->b != NULL && l->word != NULL, "no memory");
    for (size_t i = 0; i < (size_t)l->n_threads * l->n_rows * GBSI_LANES; ++i) {
        /* gives the arrays own memory pages instead of the shared page of zeros */
        l->a[i] = l->b[i] = 1.0F;
    }
    return l;
}

void bench_limits_free(bench_limits *l)
{
    gbsi_free(l->a);
    gbsi_free(l->b);
    gbsi_free(l->word);
    free(l);
}

/* Runs a[i] += b[i] once, with the kernel of an estimator that adds a tile, on the widest
 * registers of the machine. */
static void add_once(void *context, uint32_t member)
{
    bench_limits *l = context;
    const gbsi_offsets cell_start = {.n = l->n_rows, .width = 1};
    const size_t at = (size_t)member * l->n_rows * GBSI_LANES;
    const gbsi_tile tile = {.odds = 1,
                            .lanes = GBSI_LANES,
                            .arity = 2,
                            .n_places = l->n_rows,
                            .n_rows = l->n_rows,
                            .contiguous = 1,
                            .p = l->b + at};
    for (uint64_t i = 0; i < l->n_times; ++i) {
        gbsi_accumulate_of(gbsi_simd_level())->tile(l->a + at, &cell_start, &tile);
    }
}

static void make_words(void *context, uint32_t member)
{
    bench_limits *l = context;
    for (uint64_t i = 0; i < l->n_times; ++i) {
        gbsi_words_of(gbsi_simd_level())
            ->lanes16(1, 0, i, 0, WINDOW_BLOCKS, GBSI_PURPOSE_UPDATE,
                      l->word + (size_t)member * WINDOW_BLOCKS * 64);
    }
}

/* Times a job that repeats itself n_times, often enough for the clock. @return seconds of one
 * repetition. */
static double time_job(bench_limits *l, void (*job)(void *context, uint32_t member))
{
    for (l->n_times = 1;; l->n_times *= 2) {
        const double start_s = bench_now_s(l->n_threads);
        gbsi_pool_run(l->pool, job, l);
        const double seconds = bench_now_s(l->n_threads) - start_s;
        if (seconds >= LEAST_S) {
            return seconds / (double)l->n_times;
        }
    }
}

double bench_bandwidth(bench_limits *l)
{
    const double bytes = 3.0 * l->n_threads * l->n_rows * GBSI_LANES * sizeof(float);
    return bytes / time_job(l, add_once) / 1e9;
}

double bench_words(bench_limits *l)
{
    const double words = 64.0 * WINDOW_BLOCKS * l->n_threads;
    return words / time_job(l, make_words) / 1e6;
}
