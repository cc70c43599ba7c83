/* SPDX-License-Identifier: Apache-2.0 */
/* Is what is about to be timed right? */
#ifndef BENCH_CHECK_H
#define BENCH_CHECK_H

#include "bench_engine.h"
#include "scalar.h"

/* Makes one pass with each estimator and compares it with the definition. For some hundred places
 * and all chains, the value drawn must be the one that the random number of the place picks from
 * the conditional computed from the model's factors in double (if the draw is the random one: see
 * bench_herded.c for others). The estimates of one pass must be the average of the values, or of
 * the conditionals. The conditionals of the scalar loop are looked at too. Ends the program if
 * anything is wrong. @param scalar NULL: there is none. */
void bench_check_engine(bench_engine *engine, bench_scalar *scalar);

#endif
