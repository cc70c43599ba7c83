/* SPDX-License-Identifier: Apache-2.0 */
/* Evidence that is part of the model: a hard factor on one variable alone. */
#ifndef GBSI_MODEL_CLAMPED_H
#define GBSI_MODEL_CLAMPED_H

#include "model/factors.h"

/* The only state that factor f, of a scope of one variable, does not forbid; GBSI_NONE if it
 * forbids none, leaves more or has another scope. O(arity), O(1) for logical factors but hard
 * ones. */
uint32_t gbsi_factor_clamps(const gbsi_factors *factors, const uint32_t *arity, size_t f);

#endif
