/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the cost of a herded sweep with that of a sweep of the random draw. */
#ifndef BENCH_BENCH_HERDED_H
#define BENCH_BENCH_HERDED_H

#include <stdbool.h>

#include "report.h"

/* Checks passes, then times them in turn with passes of the random draw over the same model.
 * @param only a text: only cases whose name contains it are reported. */
void bench_herded(const bench_report *report, bool quick, const char *only);

#endif
