/* SPDX-License-Identifier: Apache-2.0 */
/* The reference: Gibbs sampling as a programmer would write it in an afternoon. It has one
 * chain, one variable after the other, packed neighbour lists, float, expf() and a shift
 * register for random numbers. It shares only the model with the library. */
#ifndef BENCH_SCALAR_H
#define BENCH_SCALAR_H

#include <stdint.h>

#include "condition/condition.h"

typedef struct bench_scalar bench_scalar;

/* @return the sampler, NULL if the model has factors that the loop does not know (products of
 *   spins). */
bench_scalar *bench_scalar_new(const gbsi_conditioned *model);
void bench_scalar_free(bench_scalar *scalar);

void bench_scalar_set(bench_scalar *scalar, uint32_t variable, uint32_t state);
/* @return [arity] p(. | rest) of a variable, valid until the next call. */
const float *bench_scalar_conditional(bench_scalar *scalar, uint32_t variable);
/* Updates every variable once, and counts the states drawn. */
void bench_scalar_pass(bench_scalar *scalar);

#endif
