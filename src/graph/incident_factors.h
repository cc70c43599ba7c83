/* SPDX-License-Identifier: Apache-2.0 */
/* Factors of each variable, where scopes alone do not do: which factor it is matters. */
#ifndef GBSI_GRAPH_INCIDENT_FACTORS_H
#define GBSI_GRAPH_INCIDENT_FACTORS_H

#include "base/offsets.h"
#include "model/factors.h"

typedef struct gbsi_incident_factors {
    gbsi_offsets start; /* [n_variables] */
    size_t *factor;     /* ascending for each variable */
} gbsi_incident_factors;

/* @param least variables of the smallest scope that counts: 1 for all factors. */
gbs_status gbsi_incident_factors_init(const gbsi_factors *factors, uint32_t n_variables,
                                      size_t least, gbsi_incident_factors *incident,
                                      gbs_error *err);
void gbsi_incident_factors_free(gbsi_incident_factors *incident);

/* Adds the ends of n variables to their numbers. @return false where one of them has too many. */
bool gbsi_count_ends(uint32_t *degree, const uint32_t *variable, size_t n);

#endif
