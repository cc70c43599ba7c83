/* SPDX-License-Identifier: Apache-2.0 */
/* Log densities of all chains of a group at once. */
#ifndef GBSI_SAMPLER_DENSITY_H
#define GBSI_SAMPLER_DENSITY_H

#include "plan/kernel.h"
#include "sampler/executor.h"

/* ln of the product of the plan's factors for each lane of a group, log_constant included: the same
 * bits for a chain in any lane. @param out [lanes]. */
void gbsi_group_log_density(const gbsi_plan *plan, const gbsi_group *group, uint32_t lanes,
                            double *out);
/* The sums of the factors alone, added to two parts that no order of adding rounds
 * (base/exact_sum.h).
 * @param own [plan variables] NULL, or: only of factors whose first variable has it not 0.
 * @param high, low [lanes] */
void gbsi_group_density_sums(const gbsi_plan *plan, const gbsi_group *group, uint32_t lanes,
                             const uint8_t *own, double *high, double *low);

/* The same of chains in whatever form, padded lanes left out where states have one of their own. Of
 * a share: summed over all ranks, which call it together; a failure is kept in x->lost. */
void gbsi_executor_group_density(const gbsi_executor *x, uint32_t group, double *out);

/* The same of every chain that passes move, groups shared among the executor's threads.
 * @param out [n_groups * lanes], padded lanes included. */
void gbsi_executor_log_density(const gbsi_executor *executor, double *out);

#endif
