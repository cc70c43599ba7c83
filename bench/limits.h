/* SPDX-License-Identifier: Apache-2.0 */
/* Measures what this machine can do at best, so that benchmarks can be compared with it. */
#ifndef BENCH_LIMITS_H
#define BENCH_LIMITS_H

#include "parallel/pool.h"

typedef struct bench_limits bench_limits;

/* @param bytes that a pass moves. The bandwidth is measured with an array of this size, so that it
 * is the bandwidth of the cache in which the array fits. @param pool borrowed: its threads share
 * them. */
bench_limits *bench_limits_new(double bytes, gbsi_pool *pool);
void bench_limits_free(bench_limits *limits);

/* Gigabytes a second of a[i] += b[i] (McCalpin 1995, IEEE TCCA newsletter, in place: two reads and
 * a write, all counted), on the widest registers there are. */
double bench_bandwidth(bench_limits *limits);
/* Million random words a second: Philox4x32-10 into a window in L1, and nothing done with them. */
double bench_words(bench_limits *limits);

#endif
