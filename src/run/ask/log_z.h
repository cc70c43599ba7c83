/* SPDX-License-Identifier: Apache-2.0 */
/* The sampled part of ln Z, by ladders of temperatures or by annealing: gibbsite/log_z.h. */
#ifndef GBSI_ASK_LOG_Z_H
#define GBSI_ASK_LOG_Z_H

#include "chains/run.h"
#include "gibbsite/log_z.h"

/* Into the report: all but what is the same for both. Memory of the run is taken.
 * @param log_exact ln Z of the components that were summed exactly. */
gbs_status gbsi_log_z_by_ladders(gbs_run *run, gbsi_drive *drive, double log_exact,
                                 gbs_log_z_report *report, gbs_error *err);
gbs_status gbsi_log_z_by_annealing(gbs_run *run, gbsi_drive *drive, double log_exact,
                                   gbs_log_z_report *report, gbs_error *err);

#endif
