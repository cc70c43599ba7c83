/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GBSI_PLAN_KEEP_SLOTS_H
#define GBSI_PLAN_KEEP_SLOTS_H

#include "plan/plan.h"

/* Frees all but what is said of each slot: its variable, arity and type, and whether it is counted.
 * The plan cannot be run then. */
void gbsi_plan_keep_slots(gbsi_plan *plan);

#endif
