/* SPDX-License-Identifier: Apache-2.0 */
/* Members of tables that several ways of running share, see chains/runner.h. */
#ifndef GBSI_DRIVE_RUNNERS_H
#define GBSI_DRIVE_RUNNERS_H

#include "chains/run.h"

/* tempered.c: the runner that a run turns to whose plain chains disagree. */
extern const gbsi_runner gbsi_runner_ladders;

/* chains_runner.c: for runners whose draws go into run->estimates. */
gbs_status gbsi_chains_check(const gbs_run *run, gbs_error *err);
void gbsi_chains_marginal(const gbs_run *run, uint32_t v, double *const row[GBSI_N_ROWS]);

#endif
