/* SPDX-License-Identifier: Apache-2.0 */
/* The experiments, a file each. */
#ifndef LAB_EXPERIMENT_TABLE_H
#define LAB_EXPERIMENT_TABLE_H

#include "lab/lab.h"

extern const lab_experiment_row lab_hg_two_variables, lab_hg_incomplete, lab_hg_denoise;
extern const lab_experiment_row lab_pgs_denoise, lab_pgs_adaptation, lab_pgs_synchronous,
    lab_pgs_relational;
extern const lab_experiment_row lab_ws_sharing, lab_ws_components, lab_ws_dcor, lab_ws_beg,
    lab_ws_rdhg, lab_ws_rao_blackwell, lab_ws_images;
extern const lab_experiment_row lab_dogs_scans, lab_dogs_million, lab_dogs_marginal, lab_dogs_mle;

#endif
