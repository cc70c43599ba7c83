/* SPDX-License-Identifier: Apache-2.0 */
/* What a fit leaves. */
#ifndef GBSI_LEARN_FITTED_H
#define GBSI_LEARN_FITTED_H

#include "learn/families.h"

struct gbs_fitted {
    gbsi_families families; /* of model; own: theta */
    gbs_model *model;
    gbs_fit_options options;
    gbs_fit_report report;
    double *count; /* [entries] rows, or expected rows */
};

#endif
