/* SPDX-License-Identifier: Apache-2.0 */
/* Times updates of variables per second. */
#ifndef BENCH_THROUGHPUT_H
#define BENCH_THROUGHPUT_H

#include <stdbool.h>

#include "bench_models.h"
#include "report.h"

typedef struct bench_case {
    const char *family; /* class of the variables, and what else is special about the model */
    const char *size;   /* "cache", "memory", "file" */
    const char *model_text;
    uint32_t chains;
} bench_case;

void bench_throughput_heading(const bench_report *report);

/* Checks a pass, then times passes without an estimator, passes that count, and passes that
 * average conditionals, on one thread and on two. The scalar loop and the limits of the machine
 * are timed in turn with them.
 * @param only a text: only cases whose name contains it are reported. */
void bench_throughput(const bench_report *report, const bench_case *c, const gbs_model *model,
                      double seconds, const char *only);

/* Whether bench_throughput() would have something to report. */
bool bench_throughput_wanted(const bench_case *c, const char *only);

#endif
