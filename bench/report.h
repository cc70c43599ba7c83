/* SPDX-License-Identifier: Apache-2.0 */
/* Where results go: a table to read on standard output, and one JSON object a line into a file. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdio.h>

#include "base/status.h"

typedef struct bench_report {
    FILE *table; /* NULL: none */
    FILE *json;  /* NULL: none */
} bench_report;

/* A line of the table. */
void bench_tell(const bench_report *report, const char *format, ...) GBSI_PRINTF(2, 3);
/* The members of an object, without braces: what all lines have is added. @param kind of result. */
void bench_record(const bench_report *report, const char *kind, const char *format, ...)
    GBSI_PRINTF(3, 4);

#endif
