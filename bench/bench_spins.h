/* SPDX-License-Identifier: Apache-2.0 */
/* Spins run bit by bit: the sites of lattices, and chains on any graph, in the bits of words. */
#ifndef BENCH_BENCH_SPINS_H
#define BENCH_BENCH_SPINS_H

#include <stdbool.h>

#include "report.h"

/* Checks a pass, then times passes that trace energy and magnetisation, without and with counts of
 * every site, in turn with the scalar loop. @param only report only cases in whose name this
 * occurs. */
void bench_spins(const bench_report *report, bool quick, const char *only);

#endif
