/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures run level by level: a byte a site, without factors. */
#ifndef BENCH_BENCH_LEVELS_H
#define BENCH_BENCH_LEVELS_H

#include <stdbool.h>

#include "report.h"

/* Times passes that keep nothing and passes that average probabilities, in turn with passes of the
 * model of the same picture where that is small. @param only report only cases in whose name this
 * occurs. */
void bench_levels(const bench_report *report, bool quick, const char *only);

#endif
