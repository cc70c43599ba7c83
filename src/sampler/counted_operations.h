/* SPDX-License-Identifier: Apache-2.0 */
/* What passes cost, told from counts alone [M42]. */
#ifndef GBSI_SAMPLER_COUNTED_OPERATIONS_H
#define GBSI_SAMPLER_COUNTED_OPERATIONS_H

#include "plan/plan.h"

/* A pass that updates every variable once, one after the other, in operations: nanoseconds of one
 * core of the machine that the constants were measured on. */
double gbsi_operations_single(const gbsi_plan *plan, uint32_t n_chains);

#endif
