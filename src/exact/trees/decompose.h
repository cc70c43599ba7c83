/* SPDX-License-Identifier: Apache-2.0 */
/* Long factors become chains of short factors. A logical factor of three hundred literals needs no
 * table of 2^300 entries. Reading the literals one by one, it is enough to remember whether none,
 * some or all of them were true (or how many, or the parity of spins). The remembered value becomes
 * a chain of additional variables [M23]. */
#ifndef GBSI_TREES_DECOMPOSE_H
#define GBSI_TREES_DECOMPOSE_H

#include "condition/condition.h"

/* A factor is long if its scope has more configurations than this and its kind can be read so. */
#define GBSI_LONG_FACTOR 4096u
/* Most states of a chain variable that counts true literals, which some logical kinds need. */
#define GBSI_MOST_COUNTS 64u
/* Most states of a chain variable if several cardinalities of the same literals share the chain.
 * Such cardinalities make up a table by the number of true literals (Tarlow, Swersky, Zemel, Adams
 * & Frey 2012, Fast exact inference for recursive cardinality models, UAI). */
#define GBSI_MOST_TABLE_COUNTS 257u

/* A noisy factor is long if its scope has more configurations than this. */
#define GBSI_LONG_NOISY 64u

/* @param out NULL if no factor is long; else a model with chain variables appended: summing over
 * them gives back the model. Chain variables of factors that are not noisy are functions of the
 * model's variables, so that maximising over them also gives back the model. Members that refer to
 * the user's model are left empty. @param maximised whether all variables will be maximised over:
 * noisy factors then stay as they are. */
gbs_status gbsi_decompose(const gbsi_conditioned *model, bool maximised, gbsi_conditioned **out,
                          gbs_error *err);

#endif
