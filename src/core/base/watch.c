/* SPDX-License-Identifier: Apache-2.0 */
#include "base/watch.h"

gbs_status gbsi_watch_fail(gbs_error *err, const char *doing)
{
    return gbsi_fail(err, GBS_ERR_STOPPED, "stopped while %s: there is no result yet", doing);
}

static _Thread_local gbsi_watch *current;

gbsi_watch *gbsi_watch_enter(gbsi_watch *watch)
{
    gbsi_watch *before = current;
    current = watch;
    return before;
}

void gbsi_watch_leave(gbsi_watch *before)
{
    current = before;
}

gbsi_watch *gbsi_watch_current(void)
{
    return current;
}

void gbsi_watch_look(gbsi_watch *watch)
{
    watch->longest = watch->spent > watch->longest ? watch->spent : watch->longest;
    watch->spent = 0;
    ++watch->n_looks;
    if (watch->look != NULL && watch->look(watch->context)) {
        atomic_store_explicit(&watch->stopped, true, memory_order_relaxed);
    }
}
