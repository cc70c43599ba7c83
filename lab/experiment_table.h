/* SPDX-License-Identifier: Apache-2.0 */
/* The experiments, a file each. */
#ifndef GBSI_LAB_EXPERIMENT_TABLE_H
#define GBSI_LAB_EXPERIMENT_TABLE_H

#include "lab/lab.h"

extern const gbsi_experiment gbsi_hg_two_variables, gbsi_hg_incomplete, gbsi_hg_denoise;
extern const gbsi_experiment gbsi_pgs_denoise, gbsi_pgs_adaptation, gbsi_pgs_synchronous,
    gbsi_pgs_relational;
extern const gbsi_experiment gbsi_ws_sharing, gbsi_ws_components, gbsi_ws_dcor, gbsi_ws_beg,
    gbsi_ws_rdhg, gbsi_ws_rao_blackwell, gbsi_ws_images;
extern const gbsi_experiment gbsi_dogs_scans, gbsi_dogs_million, gbsi_dogs_marginal, gbsi_dogs_mle;

#endif
