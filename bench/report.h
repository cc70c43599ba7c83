/* SPDX-License-Identifier: Apache-2.0 */
/* Writes results: a table to standard output, and one JSON object in each line of a file. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdio.h>

#include "base/status.h"

typedef struct bench_report {
    FILE *table; /* NULL if no table is wanted */
    FILE *json;  /* NULL if no JSON is wanted */
} bench_report;

/* Writes a line of the table. */
void bench_tell(const bench_report *report, const char *format, ...) GBSI_PRINTF(2, 3);
/* Writes a JSON object of the given members. Members that all lines have are added.
 * @param kind kind of the result. */
void bench_record(const bench_report *report, const char *kind, const char *format, ...)
    GBSI_PRINTF(3, 4);

#endif
