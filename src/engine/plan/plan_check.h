/* SPDX-License-Identifier: Apache-2.0 */
/* Asserts the invariants of a plan and of a schedule, once it is made; they allocate nothing and
 * take no more time than making it did. Does nothing in builds without asserts. */
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
/* @param packed whether neighbourhoods are there, which a plan that only measures may leave out. */
void gbsi_plan_check(const gbsi_plan *plan, bool packed);
void gbsi_schedule_check(const gbsi_plan *plan, const gbsi_schedule *schedule);
/* No two variables of a batch are neighbours, and none is in it twice [M11].
 * @param last [gbsi_graph_n_last()] scratch. */
void gbsi_schedule_check_batches(const gbsi_plan *plan, const gbsi_schedule *schedule,
                                 uint32_t *last);
#endif

#endif
