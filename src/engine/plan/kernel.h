/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels compute the full conditionals of a tile of variables. There is one kernel per class, in
 * src/engine/kernel/. */
#ifndef GBSI_PLAN_KERNEL_H
#define GBSI_PLAN_KERNEL_H

#include "plan/plan.h"
#include "plan/tile.h"
#include "simd/dispatch.h"

/* The chains of one group. The chains follow the same schedule, but are independent of one another.
 */
typedef struct gbsi_group {
    void *state;       /* [n_slots][lanes] uint8_t or uint16_t, from gbsi_alloc_lanes() */
    uint32_t *counter; /* [n_counters][lanes] counters: the number of true literals of each long
                          factor, and the two halves of the sum of each noisy factor; NULL: the plan
                          has no counters */
} gbsi_group;

/* Returns element i of an array of states, which have one or two bytes each. */
static inline uint32_t gbsi_state_at(const void *states, size_t i, uint32_t value_bytes)
{
    return value_bytes == 1 ? ((const uint8_t *)states)[i] : ((const uint16_t *)states)[i];
}

static inline int64_t gbsi_noisy_sum_at(const gbsi_group *group, const gbsi_noisy_sum *noisy,
                                        uint32_t lanes, uint32_t lane)
{
    const uint32_t *low = group->counter + (size_t)noisy->counter * lanes + lane;
    return (int64_t)((uint64_t)low[lanes] << 32 | low[0]);
}

/* Returns the log-weight that a noisy factor has if the sum of its costs is `sum`. */
double gbsi_noisy_sum_log(const gbsi_noisy_sum *noisy, int64_t sum, gbsi_noisy_part part);

typedef struct gbsi_kernel {
    const char *name;
    /* Writes tile->w from plan and states, for rows that are one place in 16 chains. */
    void (*fill16)(const gbsi_plan *plan, const gbsi_group *group, gbsi_tile *tile);
    /* Writes tile->w for rows that are 16 places of one chain. fill16 and fill1 sum in the same
     * order and give the same bits. */
    void (*fill1)(const gbsi_plan *plan, const gbsi_group *group, gbsi_tile *tile);
} gbsi_kernel;

/* Returns the kernel of a class for an instruction set. */
const gbsi_kernel *gbsi_kernel_of(gbsi_class class_id, gbsi_simd level);

/* Returns the log-weight that a term of kind NOISY gives to own state a of a slot in one chain. */
double gbsi_noisy_term_log(const gbsi_plan *plan, const gbsi_group *group, const gbsi_term *term,
                           uint32_t slot, uint32_t lanes, uint32_t lane, uint32_t a);

/* gbsi_counters_init() computes all counters of a group from the states. gbsi_counters_commit()
 * updates the counters for a tile whose values are drawn but not yet stored. The variables of a
 * factor are neighbours; no two updates of a batch therefore change the same counter. These
 * functions must be called only if plan->n_counters > 0. */
void gbsi_counters_init(const gbsi_plan *plan, uint32_t lanes, gbsi_group *group);
void gbsi_counters_commit(const gbsi_plan *plan, gbsi_group *group, const gbsi_tile *tile);

#endif
