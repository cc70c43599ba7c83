/* SPDX-License-Identifier: Apache-2.0 */
/* What passes cost, told from counts alone [M42]. */
#ifndef GBSI_SAMPLER_OPERATIONS_H
#define GBSI_SAMPLER_OPERATIONS_H

#include "plan/plan.h"
#include "splash/splash.h"

/* An operation is a nanosecond of one core of the machine that the constants were measured on. */

/* A pass that updates every variable once, one after the other. */
double gbsi_operations_single(const gbsi_plan *plan, uint32_t n_chains);
/* Splashes with these counts, of any number of passes. */
double gbsi_operations_splash(const gbsi_splash_counts *counts, uint32_t n_chains);
/* No pass of splashes costs less: every variable alone. */
double gbsi_operations_least_splash(const gbsi_plan *plan, uint32_t n_chains);

#endif
