/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the code that is about to be timed gives right results. */
#ifndef BENCH_CHECK_H
#define BENCH_CHECK_H

#include "bench_engine.h"
#include "scalar.h"

/* Makes one pass with each estimator and compares it with the definition. Some hundred places
 * are checked in all chains. The conditional of a place is computed from the model's factors in
 * double. The random number of the place must pick the drawn value from this conditional, if the
 * draw is the random one (bench_herded.c checks other draws). The estimates of one pass must be
 * the average of the values, or of the conditionals. The conditionals of the scalar loop are
 * checked too. Ends the program if anything is wrong.
 * @param scalar NULL if there is no scalar loop. */
void bench_check_engine(bench_engine *engine, bench_scalar *scalar);

#endif
