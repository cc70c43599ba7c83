/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GIBBSITE_BENCH_LOAD_H
#define GIBBSITE_BENCH_LOAD_H

#include <stdbool.h>

/* One line per format, in the style of bench.c. */
void bench_load(bool quick, bool json);

#endif
