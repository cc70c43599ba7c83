/* SPDX-License-Identifier: Apache-2.0 */
/* The table of experiments. */
#include "lab/experiment_table.h"

#include <string.h>

static const gbsi_experiment *const experiment[] = {
    &gbsi_hg_two_variables, &gbsi_hg_incomplete,  &gbsi_ws_sharing,  &gbsi_ws_components,
    &gbsi_ws_dcor,          &gbsi_ws_beg,         &gbsi_ws_rdhg,     &gbsi_hg_denoise,
    &gbsi_ws_rao_blackwell, &gbsi_ws_images,      &gbsi_pgs_denoise, &gbsi_pgs_adaptation,
    &gbsi_pgs_synchronous,  &gbsi_pgs_relational, &gbsi_dogs_scans,  &gbsi_dogs_million,
    &gbsi_dogs_marginal,    &gbsi_dogs_mle,
};

#define N_EXPERIMENTS (sizeof experiment / sizeof experiment[0])

const gbsi_experiment *gbsi_experiment_named(const char *name)
{
    for (size_t i = 0; i < N_EXPERIMENTS; i++) {
        if (strcmp(experiment[i]->about.name, name) == 0) {
            return experiment[i];
        }
    }
    return NULL;
}

const gbs_experiment *gbs_experiment_at(size_t index)
{
    return index < N_EXPERIMENTS ? &experiment[index]->about : NULL;
}
