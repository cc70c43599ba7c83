/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that every file of this folder uses: the clock, repeats, and ending with a message. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define BENCH_REPEATS 5

/* Ends the program with the message unless the call succeeded. */
void bench_must(gbs_status status, const gbs_error *err);
/* Ends the program unless a condition holds. Such a condition says that a result is right, or
 * that memory could be allocated. */
void bench_check(bool holds, const char *format, ...) GBSI_PRINTF(2, 3);
/* @return zeroed memory. Ends the program if there is none. */
void *bench_alloc(size_t n, size_t size);

/* @return seconds. For one thread they are the caller's processor time, so that other users of
 *   the machine only disturb its caches. For more threads, which wait for one another, they are
 *   wall-clock time. */
double bench_now_s(uint32_t threads);

typedef struct bench_spread {
    double median, low, high;
} bench_spread;

/* @param value [BENCH_REPEATS], sorted in place. */
bench_spread bench_spread_of(double *value);

#endif
