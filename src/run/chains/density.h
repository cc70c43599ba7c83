/* SPDX-License-Identifier: Apache-2.0 */
/* Log densities of all chains of a group at once. */
#ifndef GBSI_CHAINS_DENSITY_H
#define GBSI_CHAINS_DENSITY_H

#include "chains/executor.h"
#include "plan/kernel.h"

/* Factors that are summed up. */
typedef struct gbsi_summed {
    size_t first, end;
    const uint8_t
        *own; /* [plan variables] NULL, or: only those whose first variable has it not 0 */
} gbsi_summed;

/* ln of the product of the plan's factors for each lane of a group, including log_constant. A chain
 * has the same bits in any lane and in any form of chains. Padded lanes are left out if states have
 * a form of their own. For a partitioned model it is summed over all ranks, which call the function
 * together, and a failure is kept in x->lost.
 * @param watch may be NULL; if it stops the work, out is undefined; not used for a partitioned
 * model. */
void gbsi_executor_group_density(const gbsi_executor *x, uint32_t group, gbsi_watch *watch,
                                 double *out);

/* Computes the log density of every chain that passes update; the executor's threads share the
 * groups.
 * @param out [n_groups * lanes], padded lanes included. */
void gbsi_executor_log_density(const gbsi_executor *executor, double *out);

#endif
