/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that readers of evidence call to add samples to a set. */
#include "answers/evidence_set.h"

#include "base/memory.h"

gbs_status gbsi_evidence_set_begin(gbsi_evidence_set *set, gbs_error *err)
{
    gbs_status status = gbsi_reserve(&set->start, &set->start_capacity, set->n_samples + 1,
                                     sizeof(size_t), set->name, err);
    if (status == GBS_OK) {
        ((size_t *)set->start)[set->n_samples++] = set->n_observations;
    }
    return status;
}

gbs_status gbsi_evidence_set_add(gbsi_evidence_set *set, gbsi_observation observation,
                                 gbs_error *err)
{
    gbs_status status = gbsi_reserve(&set->observation, &set->observation_capacity,
                                     set->n_observations + 1, sizeof observation, set->name, err);
    if (status == GBS_OK) {
        ((gbsi_observation *)set->observation)[set->n_observations++] = observation;
    }
    return status;
}
