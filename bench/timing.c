/* SPDX-License-Identifier: Apache-2.0 */
#include "timing.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"

void bench_must(gbs_status status, const gbs_error *err)
{
    bench_check(status >= 0, "%s", err->message);
}

void bench_check(bool holds, const char *format, ...)
{
    if (holds) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    (void)fputs("bench: ", stderr);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

void *bench_alloc(size_t n, size_t size)
{
    void *memory = calloc(n == 0 ? 1 : n, size);
    bench_check(memory != NULL, "no memory for %zu times %zu bytes", n, size);
    return memory;
}

double bench_now_s(uint32_t threads)
{
    struct timespec now;
    if (threads > 1) {
        return gbsi_clock_s();
    }
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

bench_spread bench_spread_of(double *value)
{
    qsort(value, BENCH_REPEATS, sizeof *value, by_value);
    return (bench_spread){value[BENCH_REPEATS / 2], value[0], value[BENCH_REPEATS - 1]};
}
