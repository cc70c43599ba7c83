/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the tied weights that are learnt: those that are not fixed and that a factor is tied to. */
#ifndef GBSI_WEIGHTS_LEARNT_H
#define GBSI_WEIGHTS_LEARNT_H

#include "learn/data.h"

typedef struct gbsi_learnt {
    gbsi_factors unit; /* the model's, but the weight of a factor tied to a learnt weight is its
                          feature; only the array of weights is ours */
    uint32_t n;
    uint32_t *weight; /* [n] their numbers in the model */
    uint32_t *of;     /* [n_factors] 0 to n - 1: the learnt weight of a factor, or GBSI_NONE */
} gbsi_learnt;

/* Zero-initialise; free in any case. */
gbs_status gbsi_learnt_find(const gbs_model *model, gbsi_learnt *learnt, gbs_error *err);
void gbsi_learnt_free(gbsi_learnt *learnt);

#endif
