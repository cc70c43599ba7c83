/* SPDX-License-Identifier: Apache-2.0 */
/* Table of the experiments. */
#include "lab/experiment_table.h"

#include <string.h>

#define ROW(name) &lab_##name,
static const lab_experiment_row *const experiment[] = {LAB_EXPERIMENTS(ROW)};

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
