/* SPDX-License-Identifier: Apache-2.0 */
/* Times splashes: how many variables they draw per second, how long the operations take that a
 * pilot counts, and how many effective samples splashes give on models whose single variables
 * hardly move. */
#ifndef BENCH_BENCH_SPLASH_H
#define BENCH_BENCH_SPLASH_H

#include <stdbool.h>

#include "report.h"

void bench_splash(const bench_report *report, bool quick, const char *only);

#endif
