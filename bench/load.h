/* SPDX-License-Identifier: Apache-2.0 */
/* How long it takes until the first update: reading a model, and compiling it. */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include <stdbool.h>

#include "report.h"

/* Megabytes of a file that are read in a second of processor time, as text and as the native
 * format: "load uai", "load gbm". The file is in memory (the page cache), and what came in has the
 * digest of what went out. */
void bench_load(const bench_report *report, bool quick, const char *only);

/* Variables that are compiled in a second: "compile/ising" and so on. What was compiled makes a
 * pass that is checked. */
void bench_compile(const bench_report *report, bool quick, const char *only);

#endif
