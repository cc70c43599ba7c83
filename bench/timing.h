/* SPDX-License-Identifier: Apache-2.0 */
/* The clock, repeats, and ending with a message: every file of this folder uses them. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define BENCH_REPEATS 5

/* Ends the program with the message unless the call succeeded. */
void bench_must(gbs_status status, const gbs_error *err);
/* Ends the program unless a condition holds: a result was wrong, or memory is short. */
void bench_check(bool holds, const char *format, ...) GBSI_PRINTF(2, 3);
/* Zeroed memory or the end of the program. */
void *bench_alloc(size_t n, size_t size);

/* Seconds: of the caller's processor time for one thread, so that other users of the machine
 * disturb its caches alone; of the wall clock for more, which wait for each other. */
double bench_now_s(uint32_t threads);

typedef struct bench_spread {
    double median, low, high;
} bench_spread;

/* @param value [BENCH_REPEATS], sorted in place. */
bench_spread bench_spread_of(double *value);

#endif
