/* SPDX-License-Identifier: Apache-2.0 */
#include "base/budget.h"

#include "base/machine.h"

static _Thread_local gbsi_budget *current;

void gbsi_budget_init(gbsi_budget *budget, uint64_t limit, uint64_t there)
{
    const uint64_t room = limit > there ? limit - there : 0;
    budget->limit = limit;
    budget->room = room > INT64_MAX ? INT64_MAX : (int64_t)room;
    atomic_init(&budget->held, 0);
    atomic_init(&budget->most, 0);
    atomic_init(&budget->refused, 0);
}

gbsi_budget *gbsi_budget_enter(gbsi_budget *budget)
{
    gbsi_budget *before = current;
    if (before == NULL) {
        current = budget;
    }
    return before;
}

gbsi_budget *gbsi_budget_enter_default(gbsi_budget *budget, uint64_t there)
{
    gbsi_budget_init(budget, gbsi_default_memory_limit(), gbsi_process_bytes() + there);
    return gbsi_budget_enter(budget);
}

void gbsi_budget_leave(gbsi_budget *before)
{
    current = before;
}

gbsi_budget *gbsi_budget_current(void)
{
    return current;
}

void gbsi_budget_set(gbsi_budget *budget)
{
    current = budget;
}

static void note_most(gbsi_budget *b, int64_t held)
{
    int64_t most = atomic_load_explicit(&b->most, memory_order_relaxed);
    while (held > most && !atomic_compare_exchange_weak_explicit(
                              &b->most, &most, held, memory_order_relaxed, memory_order_relaxed)) {
    }
}

bool gbsi_budget_take(size_t bytes)
{
    gbsi_budget *b = current;
    if (b == NULL) {
        return true;
    }
    const int64_t more = bytes > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)bytes;
    const int64_t held = atomic_fetch_add_explicit(&b->held, more, memory_order_relaxed) + more;
    if (held > b->room) {
        (void)atomic_fetch_sub_explicit(&b->held, more, memory_order_relaxed);
        atomic_store_explicit(&b->refused, bytes, memory_order_relaxed);
        return false;
    }
    note_most(b, held);
    return true;
}

void gbsi_budget_count(size_t bytes)
{
    if (current != NULL) {
        note_most(current,
                  atomic_fetch_add_explicit(&current->held, (int64_t)bytes, memory_order_relaxed) +
                      (int64_t)bytes);
    }
}

bool gbsi_budget_refused(void)
{
    return current != NULL && atomic_load_explicit(&current->refused, memory_order_relaxed) != 0;
}

void gbsi_budget_give(size_t bytes)
{
    if (current != NULL) {
        (void)atomic_fetch_sub_explicit(&current->held, (int64_t)bytes, memory_order_relaxed);
    }
}
