/* SPDX-License-Identifier: Apache-2.0 */
/* Error components of draws on a small model, the last variable in focus: means over the chains. */
#ifndef GBSI_LAB_COMPONENT_CURVES_H
#define GBSI_LAB_COMPONENT_CURVES_H

#include "lab/contest.h"
#include "lab/decomposition.h"

typedef struct gbsi_parts {
    size_t n; /* checkpoints */
    double sweeps[GBSI_MAX_CHECKPOINTS];
    double mean[GBS_N_COMPONENTS][GBSI_MAX_CHECKPOINTS];
    double error[GBS_N_COMPONENTS][GBSI_MAX_CHECKPOINTS]; /* standard errors */
} gbsi_parts;

/* @param parts out, untouched where the run fails or stops. */
gbs_status gbsi_lab_parts(gbsi_lab *lab, const gbs_model *model, const gbsi_contender *contender,
                          uint64_t chains, uint64_t sweeps, gbsi_parts *parts, gbs_error *err);

#define GBSI_PARTS_HEADER "model,draw,sweeps,component,mean,standard_error"
void gbsi_parts_rows(gbs_output *table, const char *model, const char *draw,
                     const gbsi_parts *parts);
/* Slope of a component over the last two octaves. */
double gbsi_parts_slope(const gbsi_parts *parts, gbs_component component);
/* Whether what was measured tends to a limit: it is within 0.4 and 2 times of it, or above it and
 * still falling. */
bool gbsi_parts_tends(const gbsi_parts *parts, gbs_component component, double limit);
/* A line of one component. */
gbsi_line gbsi_parts_line(const gbsi_parts *parts, gbs_component component, const char *label,
                          gbsi_color color, gbsi_dash dash);
/* The colour of a component in all charts. */
gbsi_color gbsi_component_color(gbs_component component);
/* The label of a component: "D cor". */
const char *gbsi_component_label(gbs_component component);

#endif
