/* SPDX-License-Identifier: Apache-2.0 */
/* The table of experiments. */
#include "lab/experiment_table.h"

#include <string.h>

static const lab_experiment_row *const experiment[] = {
    &lab_hg_two_variables, &lab_hg_incomplete,  &lab_ws_sharing,  &lab_ws_components,
    &lab_ws_dcor,          &lab_ws_beg,         &lab_ws_rdhg,     &lab_hg_denoise,
    &lab_ws_rao_blackwell, &lab_ws_images,      &lab_pgs_denoise, &lab_pgs_adaptation,
    &lab_pgs_synchronous,  &lab_pgs_relational, &lab_dogs_scans,  &lab_dogs_million,
    &lab_dogs_marginal,    &lab_dogs_mle,
};

#define N_EXPERIMENTS (sizeof experiment / sizeof experiment[0])

const lab_experiment_row *lab_experiment_named(const char *name)
{
    for (size_t i = 0; i < N_EXPERIMENTS; i++) {
        if (strcmp(experiment[i]->about.name, name) == 0) {
            return experiment[i];
        }
    }
    return NULL;
}

const lab_experiment *lab_experiment_at(size_t index)
{
    return index < N_EXPERIMENTS ? &experiment[index]->about : NULL;
}
