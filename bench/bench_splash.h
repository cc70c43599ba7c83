/* SPDX-License-Identifier: Apache-2.0 */
/* Splashes: how many variables they draw a second, what the operations that a pilot counts are
 * worth, and effective samples where single variables hardly move. */
#ifndef BENCH_BENCH_SPLASH_H
#define BENCH_BENCH_SPLASH_H

#include <stdbool.h>

#include "report.h"

void bench_splash(const bench_report *report, bool quick, const char *only);

#endif
