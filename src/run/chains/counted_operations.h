/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of passes, predicted from counts alone [M42]. */
#ifndef GBSI_CHAINS_COUNTED_OPERATIONS_H
#define GBSI_CHAINS_COUNTED_OPERATIONS_H

#include "plan/plan.h"

/* Number of operations of a pass that updates every variable once, one after the other. An
 * operation is a nanosecond of one core of the machine on which the constants were measured.
 * @param below only updates that cost a group of chains fewer operations than this are counted;
 * INFINITY counts all updates. */
double gbsi_operations_single(const gbsi_plan *plan, uint32_t n_chains, double below);

/* Number of operations of updating one slot in one group of chains. */
double gbsi_operations_update(const gbsi_plan *plan, uint32_t slot, uint32_t n_chains);

typedef struct gbsi_stretch {
    uint32_t end; /* number of the slot after the last of the stretch */
    double operations;
} gbsi_stretch;

/* Cuts the pass of gbsi_operations_single() into stretches of about equally many operations.
 * @param below, all argument and result of gbsi_operations_single(). @param each number of
 * operations of a stretch; stretches are longer if `most` stretches of this length are not enough.
 * @param out [most]. @return the number of stretches, at least 1. */
uint32_t gbsi_operations_cut(const gbsi_plan *plan, uint32_t n_chains, double below, double all,
                             double each, uint32_t most, gbsi_stretch *out);

#endif
