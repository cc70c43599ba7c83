/* SPDX-License-Identifier: Apache-2.0 */
/* Ten million variables: time until the first update, and memory. */
#ifndef BENCH_SCALE_H
#define BENCH_SCALE_H

#include <stdbool.h>
#include <stdint.h>

#include "report.h"

#define BENCH_SCALE_VARIABLES 10000000

/* Generates, writes, reads and compiles models of so many variables of degree 4, and runs them with
 * one chain and with sixteen. It reports seconds of processor time, each measured once, and the
 * memory that a process took beside the predicted memory. Every step is a process of its own. A run
 * that the memory limit refuses (half of the machine) is told as such. @param only report only
 * cases in whose name this occurs. */
void bench_scale(const bench_report *report, uint32_t n_variables, const char *only);

#endif
