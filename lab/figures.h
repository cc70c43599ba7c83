/* SPDX-License-Identifier: Apache-2.0 */
/* Table of the figures, with those properties of each figure that do not change between runs;
 * plot.h adds the measurements. */
#ifndef LAB_FIGURES_H
#define LAB_FIGURES_H

#include "chart/chart.h"

typedef enum lab_figure_id {
    LAB_HG_TWO_VARIABLES_ERRORS,
    LAB_HG_TWO_VARIABLES_MARGINALS,
    LAB_HG_TWO_VARIABLES_INVERSE,
    LAB_HG_TWO_VARIABLES_ESTIMATES,
    LAB_HG_INCOMPLETE_ERRORS,
    LAB_HG_INCOMPLETE_JOINT,
    LAB_HG_DENOISE_ERRORS,
    LAB_HG_DENOISE_PICTURES,
    LAB_WS_SHARING_ERRORS,
    LAB_WS_COMPONENTS_PARTS,
    LAB_WS_DCOR_LIMITS,
    LAB_WS_BEG_COMPONENTS,
    LAB_WS_RDHG_COMPONENTS,
    LAB_WS_RAO_BLACKWELL_ERRORS,
    LAB_WS_IMAGES_ERRORS,
    LAB_WS_IMAGES_PICTURES,
    LAB_PGS_RACE_CURVES,
    LAB_PGS_RACE_WORK,
    LAB_PGS_RACE_TIMES,
    LAB_HG_NER_SCORES,
    LAB_PGS_ADAPTATION_LAWS,
    LAB_PGS_ADAPTATION_PICTURES,
    LAB_PGS_ADAPTATION_TREES,
    LAB_PGS_SYNCHRONOUS_LAWS,
    LAB_DOGS_SCANS_BOUNDS,
    LAB_DOGS_MILLION_BOUNDS,
    LAB_DOGS_MARGINAL_BOUNDS,
    LAB_DOGS_MARGINAL_BIAS,
    LAB_DOGS_MLE_ERRORS,
    LAB_DOGS_SEGMENT_ERRORS,
    LAB_DOGS_SEGMENT_PICTURES,
    LAB_N_FIGURES,
} lab_figure_id;

typedef struct lab_figure {
    const char *file;
    /* panels have no lines; the subtitle is NULL if it contains measured values */
    gbsi_figure figure;
} lab_figure;

extern const lab_figure lab_figures[LAB_N_FIGURES];

#endif
