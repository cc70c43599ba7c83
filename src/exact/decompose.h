/* SPDX-License-Identifier: Apache-2.0 */
/* Long factors as chains of short ones. A logical factor of three hundred literals needs no table
 * of 2^300 entries: read from one end, what matters of the literals so far is whether none, all or
 * some were true (or how many, or the parity of spins), which is a variable of its own [M23]. */
#ifndef GBSI_EXACT_DECOMPOSE_H
#define GBSI_EXACT_DECOMPOSE_H

#include "model/condition.h"

/* Factors whose scope has more configurations than this are long, if their kind can be read so. */
#define GBSI_LONG_FACTOR 4096u
/* Where counting is needed (the logarithm of a sum of literals), up to this many states. */
#define GBSI_MOST_COUNTS 64u

/* @param out NULL if no factor is long; else a model with the same sums and maxima over its
 * further variables, which come behind those of the model and are functions of them. Of its
 * members, those that tell of the user's model are left out. */
gbs_status gbsi_decompose(const gbsi_conditioned *model, gbsi_conditioned **out, gbs_error *err);

#endif
