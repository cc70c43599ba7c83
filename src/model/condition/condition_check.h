/* SPDX-License-Identifier: Apache-2.0 */
/* Asserts the invariants of a conditioned model, once when it is made. Does nothing in builds
 * without asserts. */
#ifndef GBSI_CONDITION_CONDITION_CHECK_H
#define GBSI_CONDITION_CONDITION_CHECK_H

#include "condition/condition.h"
#include "condition/propagate.h"

#ifdef NDEBUG
static inline void gbsi_condition_check(const gbsi_conditioned *conditioned)
{
    (void)conditioned;
}
static inline void gbsi_propagator_check(gbsi_propagator *propagator)
{
    (void)propagator;
}
#else
void gbsi_condition_check(const gbsi_conditioned *conditioned);
/* Domains are at their fixed point: every state left is supported in every factor with hard zeros
 * (generalised arc consistency). Revises every factor once more. */
void gbsi_propagator_check(gbsi_propagator *propagator);
#endif

#endif
