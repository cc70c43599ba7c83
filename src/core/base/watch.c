/* SPDX-License-Identifier: Apache-2.0 */
#include "base/watch.h"

#include "base/clock.h"

gbs_status gbsi_watch_fail(gbs_error *err, const char *doing)
{
    return gbsi_fail(err, GBS_ERR_STOPPED, "stopped while %s: there is no result yet", doing);
}

static _Thread_local gbsi_watch *current;
static _Thread_local gbsi_surrounding surrounding;

gbsi_watch gbsi_watch_of(bool (*look)(void *context), void *context, double begun_s, double time_s)
{
    const gbsi_surrounding outer = gbsi_watch_surrounding();
    return (gbsi_watch){.look = look,
                        .context = context,
                        .until_s = time_s > 0.0 ? begun_s + time_s : 0.0,
                        .outer = outer.watch,
                        .lent = outer.lent};
}

gbsi_watch *gbsi_watch_enter(gbsi_watch *watch)
{
    gbsi_watch *before = current;
    current = watch != NULL ? watch : before;
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

gbsi_surrounding gbsi_watch_surround(gbsi_surrounding now)
{
    const gbsi_surrounding before = surrounding;
    surrounding = now;
    return before;
}

gbsi_surrounding gbsi_watch_surrounding(void)
{
    const gbsi_surrounding own = {.watch = current};
    return current != NULL ? own : surrounding;
}

static void stop(gbsi_watch *watch)
{
    atomic_store_explicit(&watch->stopped, true, memory_order_relaxed);
}

static bool is_late(const gbsi_watch *watch)
{
    return watch->until_s > 0.0 && gbsi_clock_s() > watch->until_s;
}

bool gbsi_watch_ask(gbsi_watch *watch)
{
    for (gbsi_watch *at = watch; at != NULL && !gbsi_watch_stopped(watch); at = at->outer) {
        if (gbsi_watch_stopped(at) || is_late(at)) {
            stop(at);
            stop(watch);
        }
    }
    return gbsi_watch_stopped(watch);
}

/* Asks the owner of the watch whether to stop. Operations that the owner spends on its answer do
 * not count as work of the call. */
static bool is_told_to_stop(gbsi_watch *watch)
{
    gbsi_watch *before = current;
    current = NULL;
    const gbsi_surrounding outer = gbsi_watch_surround((gbsi_surrounding){.watch = NULL});
    const bool stops = watch->look != NULL && watch->look(watch->context);
    (void)gbsi_watch_surround(outer);
    current = before;
    return stops;
}

void gbsi_watch_look(gbsi_watch *watch)
{
    watch->longest = watch->spent > watch->longest ? watch->spent : watch->longest;
    watch->before += watch->spent;
    watch->spent = 0;
    ++watch->n_looks;
    if (watch->outer != NULL && !watch->lent) {
        gbsi_watch_look(watch->outer);
    }
    if (is_told_to_stop(watch) || gbsi_watch_ask(watch)) {
        stop(watch);
    }
}
