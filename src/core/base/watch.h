/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at the clock and the stop flag inside long work. Code that works reports how many
 * operations it has spent. After every GBSI_WATCH_EVERY operations the watch asks its owner whether
 * to go on. Results do not depend on it, except that work may be cut short.
 *
 * Only the thread that called the library counts operations; its helper threads only ask whether it
 * stopped.
 *
 * A call of the library that works for another call stops with it, on any thread: its watch refers
 * to the watch of the other call. */
#ifndef GBSI_BASE_WATCH_H
#define GBSI_BASE_WATCH_H

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of operations, of a few nanoseconds each, from one look to the next. */
#define GBSI_WATCH_EVERY (UINT64_C(1) << 16)

typedef struct gbsi_watch {
    bool (*look)(void *context); /* true: stop; NULL: never asked */
    void *context;
    double until_s;           /* stops once the clock is past it; 0: no limit of time */
    struct gbsi_watch *outer; /* the watch of the call that this one works for; NULL: none */
    bool lent;                /* the outer one spends on another thread: it is only asked here */
    _Atomic bool stopped;
    uint64_t spent;   /* since the last look */
    uint64_t n_looks; /* for tests, as is: */
    uint64_t longest; /* most that was spent from one look to the next */
} gbsi_watch;

/* The watch of a call that may take time_s from begun_s on (0: no limit). It refers to the watch in
 * force on this thread as the outer one.
 * @param look NULL: only the clock and the outer watch stop it. */
gbsi_watch gbsi_watch_of(bool (*look)(void *context), void *context, double begun_s, double time_s);

/* Not inlined: called once the count has reached GBSI_WATCH_EVERY. */
void gbsi_watch_look(gbsi_watch *watch);
/* A look on any thread, which leaves `look` out. @return whether to stop. */
bool gbsi_watch_ask(gbsi_watch *watch);

/* Puts a watch in force on this thread, like a budget: reading a model and preparing a run are
 * long, and have many loops far from the caller. Such functions get the watch by
 * gbsi_watch_current(), and report their steps to it. NULL: the one in force stays. @return the
 * argument of gbsi_watch_leave(). */
gbsi_watch *gbsi_watch_enter(gbsi_watch *watch);
void gbsi_watch_leave(gbsi_watch *before);
gbsi_watch *gbsi_watch_current(void);

/* The watch around calls that this thread makes while no watch is in force: work that still has an
 * answer to give after it is stopped has its watch here. */
typedef struct gbsi_surrounding {
    gbsi_watch *watch; /* NULL: none */
    bool lent;         /* the watch is used on another thread too, for example by members of a pool
                        */
} gbsi_surrounding;

/* Sets the watch around calls. @return the one before. */
gbsi_surrounding gbsi_watch_surround(gbsi_surrounding now);
/* @return the watch around a call made now. */
gbsi_surrounding gbsi_watch_surrounding(void);

/* GBS_ERR_STOPPED with a message that it was stopped while doing this, without a result. */
gbs_status gbsi_watch_fail(gbs_error *err, const char *doing);

/* @param watch NULL: never stops. */
static inline bool gbsi_watch_stopped(const gbsi_watch *watch)
{
    return watch != NULL && atomic_load_explicit(&watch->stopped, memory_order_relaxed);
}

/* @return whether to stop. */
static inline bool gbsi_watch_spend(gbsi_watch *watch, uint64_t n_operations)
{
    if (watch == NULL) {
        return false;
    }
    watch->spent += n_operations;
    if (watch->spent >= GBSI_WATCH_EVERY) {
        gbsi_watch_look(watch);
    }
    return gbsi_watch_stopped(watch);
}

/* @return the status of gbsi_watch_fail() if the work must stop. */
static inline gbs_status gbsi_watch_work(gbsi_watch *watch, uint64_t n_operations,
                                         const char *doing, gbs_error *err)
{
    return gbsi_watch_spend(watch, n_operations) ? gbsi_watch_fail(err, doing) : GBS_OK;
}

#endif
