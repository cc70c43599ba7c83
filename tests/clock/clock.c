/* SPDX-License-Identifier: Apache-2.0 */
/* The program with a clock that a test sets. CLOCK_LATE=N: it stands still until it is read for the
 * N-th time, and then is hours later. CLOCK_STEP=S: it goes on by S seconds at each reading
 * instead. CLOCK_REPORT=FILE: how often it was read, how often from then on, and, in a build with
 * -Dcount_work=true, how many branches the program took at most from one reading to the next, and
 * from that one until its end. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "count_work.h"

#define LATE_S 1e5
#define STEP_S 5.0 /* of a reading, then: what begins so late has a few readings, too */

static uint64_t n_read, late_at, work_before, work_late, work_most;
static double step_s; /* 0: it stands still */

static uint64_t work(void)
{
    return &gbsi_test_work != NULL ? gbsi_test_work : 0;
}

static void report(void)
{
    const char *path = getenv("CLOCK_REPORT"); // NOLINT(concurrency-mt-unsafe): at the end
    FILE *file = path == NULL ? NULL : fopen(path, "w");
    if (file != NULL) {
        const bool late = n_read >= late_at;
        (void)fprintf(file, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", n_read,
                      late ? n_read - late_at : 0, work_most, late ? work() - work_late : 0);
        (void)fclose(file);
    }
}

static void begin(void)
{
    const char *late = getenv("CLOCK_LATE"); // NOLINT(concurrency-mt-unsafe): one thread
    const char *step = getenv("CLOCK_STEP"); // NOLINT(concurrency-mt-unsafe)
    step_s = step == NULL ? 0.0 : strtod(step, NULL);
    late_at = late == NULL ? UINT64_MAX : strtoull(late, NULL, 10);
    work_before = work();
    (void)atexit(report);
}

double __wrap_gbsi_clock_s(void); // NOLINT: the linker's names
double __wrap_cli_clock_s(void);  // NOLINT

double __wrap_gbsi_clock_s(void)
{
    if (n_read == 0) {
        begin();
    }
    const uint64_t since = work() - work_before;
    work_most = since > work_most ? since : work_most;
    work_before = work();
    if (++n_read == late_at) {
        work_late = work();
    }
    if (step_s > 0.0) {
        return step_s * (double)n_read;
    }
    return n_read < late_at ? 0.0 : LATE_S + STEP_S * (double)(n_read - late_at);
}

double __wrap_cli_clock_s(void)
{
    return __wrap_gbsi_clock_s();
}
