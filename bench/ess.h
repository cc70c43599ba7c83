/* SPDX-License-Identifier: Apache-2.0 */
/* Effective samples a second: what a run is for. */
#ifndef BENCH_ESS_H
#define BENCH_ESS_H

#include <stdbool.h>

#include "report.h"

/* Three models, 16 chains, one thread, burn-in included in the time. @param only as elsewhere. */
void bench_ess(const bench_report *report, bool quick, const char *only);

#endif
