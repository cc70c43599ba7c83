/* SPDX-License-Identifier: Apache-2.0 */
/* A part of a conditioned model at the cost of the part alone. */
#ifndef GBSI_CONDITION_PICK_H
#define GBSI_CONDITION_PICK_H

#include "condition/condition.h"

/* Consecutive numbers of variables, factors or the like: first .. first + n - 1. */
typedef struct gbsi_series {
    uint64_t first, n;
} gbsi_series;
/* Several series in ascending order, no two of which overlap. */
typedef struct gbsi_series_list {
    const gbsi_series *at;
    size_t n;
} gbsi_series_list;

/* The part of gbsi_conditioned_around(), whose variables and factors these are. The result knows no
 * other variables, and is not a network: free_variable, fixed_state, cpt and topological are NULL.
 */
gbs_status gbsi_conditioned_pick(const gbsi_conditioned *whole, gbsi_series_list variables,
                                 gbsi_series_list factors, gbsi_conditioned **part, gbs_error *err);

/* Room for a part that is of no whole: its variables, factors and tables are undefined, it has no
 * logical factors. */
gbs_status gbsi_conditioned_new_alone(const gbsi_part_sizes *sizes, gbsi_conditioned **part,
                                      gbs_error *err);

#endif
