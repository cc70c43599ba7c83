/* SPDX-License-Identifier: Apache-2.0 */
/* Times pictures that run level by level: one byte for each site, without factors. */
#ifndef BENCH_BENCH_LEVELS_H
#define BENCH_BENCH_LEVELS_H

#include <stdbool.h>

#include "report.h"

/* Times passes that keep nothing, and passes that average probabilities. Passes of the picture's
 * model are timed in turn with them if the picture is small.
 * @param only a text: only cases whose name contains it are reported. */
void bench_levels(const bench_report *report, bool quick, const char *only);

#endif
