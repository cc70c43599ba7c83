/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that assert the invariants of a finished plan or schedule. They allocate no memory, and
 * take no more time than making the plan or schedule took. In builds without asserts they do
 * nothing. */
#ifndef GBSI_PLAN_PLAN_CHECK_H
#define GBSI_PLAN_PLAN_CHECK_H

#include "plan/plan.h"

#ifdef NDEBUG
static inline void gbsi_plan_check(const gbsi_plan *plan, bool packed)
{
    (void)plan;
    (void)packed;
}
static inline void gbsi_schedule_check(const gbsi_plan *plan, const gbsi_schedule *schedule)
{
    (void)plan;
    (void)schedule;
}
static inline void gbsi_schedule_check_batches(const gbsi_plan *plan, const gbsi_schedule *schedule,
                                               uint32_t *last)
{
    (void)plan;
    (void)schedule;
    (void)last;
}
#else
/* @param packed whether the plan has neighbourhoods; a plan that is only measured may have none. */
void gbsi_plan_check(const gbsi_plan *plan, bool packed);
void gbsi_schedule_check(const gbsi_plan *plan, const gbsi_schedule *schedule);
/* Asserts that no two variables of a batch are neighbours, and that no variable is twice in a batch
 * [M11].
 * @param last [gbsi_graph_n_last()] scratch. */
void gbsi_schedule_check_batches(const gbsi_plan *plan, const gbsi_schedule *schedule,
                                 uint32_t *last);
#endif

#endif
