/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of passes, predicted from counts alone [M42]. */
#ifndef GBSI_CHAINS_COUNTED_OPERATIONS_H
#define GBSI_CHAINS_COUNTED_OPERATIONS_H

#include "plan/plan.h"

/* The operations of a pass that updates every variable once, one after the other. An operation is a
 * nanosecond of one core of the machine on which the constants were measured. @param below leaves
 * out updates of this many operations in a group of chains, or more; INFINITY: none. */
double gbsi_operations_single(const gbsi_plan *plan, uint32_t n_chains, double below);

/* An update of a slot in a group of chains. */
double gbsi_operations_update(const gbsi_plan *plan, uint32_t slot, uint32_t n_chains);

typedef struct gbsi_stretch {
    uint32_t end; /* slot after the last */
    double operations;
} gbsi_stretch;

/* Cuts such a pass into stretches of about the same number of operations.
 * @param all what gbsi_operations_single() says of `below`. @param each number of operations of a
 * stretch, or more if there would be more than `most` stretches. @param out [most]. @return the
 * number of stretches, at least 1.
 */
uint32_t gbsi_operations_cut(const gbsi_plan *plan, uint32_t n_chains, double below, double all,
                             double each, uint32_t most, gbsi_stretch *out);

#endif
