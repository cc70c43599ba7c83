/* SPDX-License-Identifier: Apache-2.0 */
/* Times spins that are stored in the bits of words: sites of lattices, or chains on any graph. */
#ifndef BENCH_BENCH_SPINS_H
#define BENCH_BENCH_SPINS_H

#include <stdbool.h>

#include "report.h"

/* Checks a pass, then times passes that trace energy and magnetisation, without and with counts
 * of every site. The scalar loop is timed in turn with them.
 * @param only a text: only cases whose name contains it are reported. */
void bench_spins(const bench_report *report, bool quick, const char *only);

#endif
