/* SPDX-License-Identifier: Apache-2.0 */
/* Error components of draws on a small model whose last variable is the focus: means over the
 * chains. */
#ifndef LAB_COMPONENT_CURVES_H
#define LAB_COMPONENT_CURVES_H

#include "lab/contest.h"
#include "lab/decomposition.h"

typedef struct lab_component_curves {
    size_t n; /* number of checkpoints */
    double sweeps[LAB_MAX_CHECKPOINTS];
    double mean[LAB_N_COMPONENTS][LAB_MAX_CHECKPOINTS];
    double error[LAB_N_COMPONENTS][LAB_MAX_CHECKPOINTS]; /* standard errors of the means */
    /* components of the pooled counts of all chains, at the end of the run */
    double pooled[LAB_N_COMPONENTS];
} lab_component_curves;

/* @param parts out; unchanged if the run fails or stops. */
gbs_status lab_component_curves_run(laboratory *lab, const gbs_model *model,
                                    const lab_contender *contender, uint64_t chains,
                                    uint64_t sweeps, lab_component_curves *parts, gbs_error *err);

#define LAB_COMPONENT_CURVES_HEADER "model,draw,sweeps,component,mean,standard_error"
void lab_component_rows(lab_table *table, const char *model, const char *draw,
                        const lab_component_curves *parts);
/* Limit of a component of all chains pooled. The component of random draws, which would tend to
 * 0, is subtracted as a difference of squares, because the squares of independent deviations add
 * up. */
double lab_component_limit(const lab_component_curves *parts, const lab_component_curves *random,
                           lab_component component);

/* Line that draws one component. */
gbsi_line lab_component_line(const lab_component_curves *parts, lab_component component,
                             const char *label, gbsi_color color);
/* Colour of a component in all charts. */
gbsi_color lab_component_color(lab_component component);
/* Label of a component, such as "D cor". */
const char *lab_component_label(lab_component component);

#endif
