/* SPDX-License-Identifier: Apache-2.0 */
/* The sampled part of ln Z, by ladders of temperatures or by annealing: gibbsite/log_z.h. */
#ifndef GBSI_ASK_LOG_Z_H
#define GBSI_ASK_LOG_Z_H

#include "chains/run.h"
#include "gibbsite/log_z.h"

/* Estimate ln Z by ladders or by annealing, and fill the fields of the report in which the two
 * differ. The run's memory must have been allocated.
 * @param log_exact ln Z of the components that were summed exactly. */
gbs_status gbsi_log_z_by_ladders(gbs_run *run, gbsi_drive *drive, double log_exact,
                                 gbs_log_z_report *report, gbs_error *err);
gbs_status gbsi_log_z_by_annealing(gbs_run *run, gbsi_drive *drive, double log_exact,
                                   gbs_log_z_report *report, gbs_error *err);

#endif
