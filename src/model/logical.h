/* SPDX-License-Identifier: Apache-2.0 */
/* What builder, propagation and conditioning ask about logical factors beyond their value. */
#ifndef GBSI_MODEL_LOGICAL_H
#define GBSI_MODEL_LOGICAL_H

#include "model/factors.h"

/* Whether the number is one of gbs_logical_function, and one of those marked (hard). */
bool gbsi_logical_known(unsigned function);
bool gbsi_logical_may_be_hard(unsigned function);

/* Whether the factor has one value whatever the n_scope literals left in its scope (the head among
 * them if it is free); *value is the value with all of them false. O(n_scope). */
bool gbsi_logical_constant(const gbsi_logical *logical, double weight, uint32_t n_scope,
                           double *value);

#endif
