/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the limits of this machine, with which benchmarks are compared. */
#ifndef BENCH_LIMITS_H
#define BENCH_LIMITS_H

#include "parallel/pool.h"

typedef struct bench_limits bench_limits;

/* @param bytes number of bytes that a pass moves. The bandwidth is measured with an array of this
 *   size, and is the bandwidth of the cache in which the array fits.
 * @param pool borrowed; its threads share the bytes. */
bench_limits *bench_limits_new(double bytes, gbsi_pool *pool);
void bench_limits_free(bench_limits *limits);

/* @return gigabytes per second of a[i] += b[i] (McCalpin 1995, IEEE TCCA newsletter, in place:
 *   two reads and a write, all counted), on the widest registers of the machine. */
double bench_bandwidth(bench_limits *limits);
/* @return million random words per second: Philox4x32-10 writes into a window in L1, and nothing
 *   reads the words. */
double bench_words(bench_limits *limits);

#endif
