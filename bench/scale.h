/* SPDX-License-Identifier: Apache-2.0 */
/* Measures time and memory until the first update of ten million variables. */
#ifndef BENCH_SCALE_H
#define BENCH_SCALE_H

#include <stdbool.h>
#include <stdint.h>

#include "report.h"

#define BENCH_SCALE_VARIABLES 10000000

/* Generates, writes, reads and compiles models of n_variables variables of degree 4, and runs them
 * with one chain and with sixteen. Reports seconds of processor time, each measured once, and the
 * memory that a process took beside the predicted memory. Every step is a process of its own. The
 * report says if the memory limit, half of the machine's memory, refuses a run.
 * @param only a text: only cases whose name contains it are reported. */
void bench_scale(const bench_report *report, uint32_t n_variables, const char *only);

#endif
