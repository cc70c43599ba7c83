/* SPDX-License-Identifier: Apache-2.0 */
/* Times one and two threads in turn, so that other users of the machine disturb both alike. */
#ifndef BENCH_BENCH_TURNS_H
#define BENCH_BENCH_TURNS_H

#include <stdbool.h>

#include "report.h"

/* @param only a part of the names of the cases that are wanted. */
void bench_turns(const bench_report *report, bool quick, const char *only);

#endif
