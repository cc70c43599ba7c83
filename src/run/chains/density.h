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

/* ln of the product of the plan's factors for each lane of a group, log_constant included: the same
 * bits for a chain in any lane, of chains in whatever form, padded lanes left out where states have
 * one of their own. Of a share: summed over all ranks, which call it together; a failure is kept in
 * x->lost.
 * @param watch NULL: nobody waits; where it stops the work out is of no use; not of a share. */
void gbsi_executor_group_density(const gbsi_executor *x, uint32_t group, gbsi_watch *watch,
                                 double *out);

/* The same of every chain that passes move, groups shared among the executor's threads.
 * @param out [n_groups * lanes], padded lanes included. */
void gbsi_executor_log_density(const gbsi_executor *executor, double *out);

#endif
