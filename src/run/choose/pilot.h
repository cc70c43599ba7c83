/* SPDX-License-Identifier: Apache-2.0 */
/* --scan auto: a pilot decides between the chromatic scan and splashes [M42]. */
#ifndef GBSI_CHOOSE_PILOT_H
#define GBSI_CHOOSE_PILOT_H

#include "chains/run.h"

/* If run->sampling.engine.undecided: makes the pilot, changes the scan if splashes are better, and
 * takes the memory. The choice and what it rests on stand in the report. A pilot that is cut short
 * by the clock or a signal chooses the chromatic scan. @param drive its stop ends the pilot. */
gbs_status gbsi_run_choose_scan(gbs_run *run, gbsi_drive *drive, double least_passes,
                                uint64_t *bytes, gbs_error *err);

#endif
