/* SPDX-License-Identifier: Apache-2.0 */
/* Log densities of all chains of a group at once. */
#ifndef GBSI_CHAINS_DENSITY_H
#define GBSI_CHAINS_DENSITY_H

#include "chains/executor.h"
#include "plan/kernel.h"

/* The factors that are added to a log density. */
typedef struct gbsi_summed {
    size_t first, end;
    const uint8_t *own; /* [plan variables] only factors whose first variable v has own[v] != 0 are
                           added; NULL: all are added */
} gbsi_summed;

/* Writes the log density of each lane of a group: ln of the product of the plan's factors,
 * including log_constant. The log density of a chain has the same bits in every lane and in every
 * form of chains. If the pass keeps states in its own form, padded lanes get no log density. If
 * ranks share the model, the log density is summed over all ranks, which must call the function
 * together; a failure is kept in x->lost. @param watch may be NULL; `out` is undefined if the watch
 * stops the work. The watch is not used if ranks share the model. */
void gbsi_executor_group_density(const gbsi_executor *x, uint32_t group, gbsi_watch *watch,
                                 double *out);

/* Computes the log density of every chain that passes update; the threads of the executor divide
 * the groups among themselves.
 * @param out [n_groups * lanes], padded lanes included. */
void gbsi_executor_log_density(const gbsi_executor *executor, double *out);

#endif
