/* SPDX-License-Identifier: Apache-2.0 */
/* List of the experiments, in the order in which they are shown. Each has a row in a file of
 * experiments/. */
#ifndef LAB_EXPERIMENT_TABLE_H
#define LAB_EXPERIMENT_TABLE_H

#include "lab/lab.h"

/* clang-format off */
#define LAB_EXPERIMENTS(X)                                                                         \
    X(hg_two_variables) X(hg_incomplete) X(ws_sharing) X(ws_components) X(ws_dcor) X(ws_beg)       \
    X(ws_rdhg) X(hg_denoise) X(hg_ner) X(ws_rao_blackwell) X(ws_images) X(pgs_denoise) X(pgs_adaptation)     \
    X(pgs_synchronous) X(pgs_relational) X(dogs_scans) X(dogs_million) X(dogs_marginal) X(dogs_mle) \
    X(dogs_segment)
/* clang-format on */

#define LAB_DECLARE(name) extern const lab_experiment_row lab_##name;
LAB_EXPERIMENTS(LAB_DECLARE)
#undef LAB_DECLARE

#endif
