/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a fit. */
#ifndef GBSI_FIT_FITTED_H
#define GBSI_FIT_FITTED_H

#include "fit/families.h"

struct gbs_fitted {
    gbsi_families families; /* of model; own: theta */
    gbs_model *model;
    gbs_fit_options options;
    gbs_fit_report report;
    double *count; /* [entries] rows, or expected rows */
};

#endif
