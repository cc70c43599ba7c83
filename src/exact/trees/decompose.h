/* SPDX-License-Identifier: Apache-2.0 */
/* Long factors become chains of short factors. A logical factor of three hundred literals needs no
 * table of 2^300 entries: if the literals are read one by one, it is enough to remember whether
 * none, some or all of the literals so far were true. For other factors, the chain remembers the
 * number of true literals, or the parity of spins. The remembered values become additional
 * variables, which form a chain [M23]. */
#ifndef GBSI_TREES_DECOMPOSE_H
#define GBSI_TREES_DECOMPOSE_H

#include "condition/condition.h"

/* A factor is long if its scope has more joint states than this number, and if its kind is one that
 * can be turned into a chain. */
#define GBSI_LONG_FACTOR 4096u
/* The largest number of states of a chain variable that counts the true literals of a logical
 * factor. */
#define GBSI_MOST_COUNTS 64u
/* The largest number of states of a chain variable if several cardinality factors of the same
 * literals share the chain. Together such factors are a table indexed by the number of true
 * literals (Tarlow, Swersky, Zemel, Adams & Frey 2012, Fast exact inference for recursive
 * cardinality models, UAI). */
#define GBSI_MOST_TABLE_COUNTS 257u

/* A noisy factor is long if its scope has more joint states than this number. */
#define GBSI_LONG_NOISY 64u

/* @param out NULL if no factor is long; otherwise a model in which chain variables come after the
 * variables of the original model. Summing this model over the chain variables gives the original
 * model. Chain variables of factors that are not noisy are functions of the model's variables, and
 * maximising over them also gives back the original model. Members that refer to the user's model
 * are left empty. @param maximised whether all variables will be maximised over. If so, noisy
 * factors are not split. */
gbs_status gbsi_decompose(const gbsi_conditioned *model, bool maximised, gbsi_conditioned **out,
                          gbs_error *err);

#endif
