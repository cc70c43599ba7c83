/* SPDX-License-Identifier: Apache-2.0 */
/* Times effective samples per second, which are the purpose of a run. */
#ifndef BENCH_ESS_H
#define BENCH_ESS_H

#include <stdbool.h>

#include "report.h"

/* Times three models with 16 chains on one thread, burn-in included.
 * @param only a text: only cases whose name contains it are reported. */
void bench_ess(const bench_report *report, bool quick, const char *only);

#endif
