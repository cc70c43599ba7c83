/* SPDX-License-Identifier: Apache-2.0 */
/* A watch looks at the clock and the stop flag inside long work. The code of such work reports to
 * the watch how many operations it has spent. After every GBSI_WATCH_EVERY operations the watch
 * asks its owner whether to continue. A watch changes no results, except that it may cut work
 * short.
 *
 * Only the thread that called the library counts operations; its helper threads only ask whether
 * the watch stopped.
 *
 * If one call of the library makes a second call, the second call stops when the first call must
 * stop, on any thread: the watch of the second call refers to the watch of the first. */
#ifndef GBSI_BASE_WATCH_H
#define GBSI_BASE_WATCH_H

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Number of operations between two looks at the clock; one operation takes a few nanoseconds. */
#define GBSI_WATCH_EVERY (UINT64_C(1) << 16)

typedef struct gbsi_watch {
    bool (*look)(void *context); /* function that returns true to stop the work; NULL: only the
                                    clock and `outer` stop the work */
    void *context;
    double until_s; /* time of the clock at which the watch stops; 0: no time limit */
    /* watch of the outer call, for which this call works; NULL if there is no outer call */
    struct gbsi_watch *outer;
    bool lent; /* true if the outer watch counts operations on another thread; this watch then only
                  asks the outer watch */
    _Atomic bool stopped;
    uint64_t spent;   /* number of operations since the last look */
    uint64_t before;  /* number of operations before the last look */
    uint64_t n_looks; /* number of looks, for tests */
    uint64_t longest; /* largest number of operations between two looks, for tests */
} gbsi_watch;

/* Makes the watch of a call that may take `time_s` seconds from the time `begun_s` on; time_s = 0
 * means no limit. The watch in force on this thread becomes its outer watch.
 * @param look NULL if only the clock and the outer watch may stop the call. */
gbsi_watch gbsi_watch_of(bool (*look)(void *context), void *context, double begun_s, double time_s);

/* Looks at the clock and calls `look`. This function is not inlined, because it is called only once
 * per GBSI_WATCH_EVERY operations. */
void gbsi_watch_look(gbsi_watch *watch);
/* Checks the clock and the outer watches, on any thread, without a call of `look`. @return
 * whether to stop. */
bool gbsi_watch_ask(gbsi_watch *watch);

/* Puts a watch in force on this thread, as gbsi_budget_enter() does with a budget. The reading of a
 * model and the preparation of a run take long, and their loops are in functions far from the
 * caller. Such functions get the watch from gbsi_watch_current() and report their steps to it.
 * @param watch NULL if the watch now in force must stay in force. @return the argument of
 * gbsi_watch_leave(). */
gbsi_watch *gbsi_watch_enter(gbsi_watch *watch);
void gbsi_watch_leave(gbsi_watch *before);
gbsi_watch *gbsi_watch_current(void);

/* The watch around calls that this thread makes while no watch is in force. If work must still give
 * an answer after it was stopped, its watch is stored here instead of being in force. */
typedef struct gbsi_surrounding {
    gbsi_watch *watch; /* NULL if there is none */
    bool lent;         /* the watch is used on another thread too, for example by members of a pool
                        */
} gbsi_surrounding;

/* Sets the watch around calls. @return the watch around calls until now. */
gbsi_surrounding gbsi_watch_surround(gbsi_surrounding now);
/* @return the watch around a call that this thread makes now. */
gbsi_surrounding gbsi_watch_surrounding(void);

/* Returns GBS_ERR_STOPPED. The message says that the call was stopped during the work `doing` and
 * has no result. */
gbs_status gbsi_watch_fail(gbs_error *err, const char *doing);

/* Returns whether the watch has stopped; false if `watch` is NULL. */
static inline bool gbsi_watch_stopped(const gbsi_watch *watch)
{
    return watch != NULL && atomic_load_explicit(&watch->stopped, memory_order_relaxed);
}

/* Counts operations, and looks at the clock when a look is due. @return whether to stop. */
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

/* Counts operations. @return the status of gbsi_watch_fail() if the work must stop, otherwise
 * GBS_OK. */
static inline gbs_status gbsi_watch_work(gbsi_watch *watch, uint64_t n_operations,
                                         const char *doing, gbs_error *err)
{
    return gbsi_watch_spend(watch, n_operations) ? gbsi_watch_fail(err, doing) : GBS_OK;
}

#endif
