/* SPDX-License-Identifier: Apache-2.0 */
/* Times the steps before the first update: reading a model, and compiling it. */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include <stdbool.h>

#include "report.h"

/* Times reading: megabytes of a file per second of processor time, as text and in the native
 * format ("load/uai", "load/gbm"). The file is in memory (the page cache). The model that was
 * read must have the digest of the model that was written. */
void bench_load(const bench_report *report, bool quick, const char *only);

/* Times compiling: variables per second, "compile/ising" and so on. The compiled model makes a
 * pass, which is checked. */
void bench_compile(const bench_report *report, bool quick, const char *only);

#endif
