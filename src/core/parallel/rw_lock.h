/* SPDX-License-Identifier: Apache-2.0 */
/* Locks of four bytes each, one per variable. A lock has many readers or one writer. Waiting
 * threads spin, because locks are held for only some hundred instructions. A thread that takes
 * several locks takes them in ascending order. */
#ifndef GBSI_PARALLEL_RW_LOCK_H
#define GBSI_PARALLEL_RW_LOCK_H

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

/* number of readers, or GBSI_RW_WRITER; 0 if the lock is free */
typedef _Atomic uint32_t gbsi_rw_lock;

#define GBSI_RW_WRITER UINT32_MAX
#define GBSI_RW_SPINS  64u

static inline void gbsi_rw_wait(uint32_t *n_spins)
{
    if (++*n_spins % GBSI_RW_SPINS == 0) {
        (void)sched_yield();
    }
}

static inline void gbsi_rw_read(gbsi_rw_lock *lock)
{
    uint32_t n_spins = 0;
    for (;;) {
        uint32_t held = atomic_load_explicit(lock, memory_order_relaxed);
        if (held < GBSI_RW_WRITER - 1 &&
            atomic_compare_exchange_weak_explicit(lock, &held, held + 1, memory_order_acquire,
                                                  memory_order_relaxed)) {
            return;
        }
        gbsi_rw_wait(&n_spins);
    }
}

static inline void gbsi_rw_write(gbsi_rw_lock *lock)
{
    uint32_t n_spins = 0;
    for (;;) {
        uint32_t held = 0;
        if (atomic_compare_exchange_weak_explicit(lock, &held, GBSI_RW_WRITER, memory_order_acquire,
                                                  memory_order_relaxed)) {
            return;
        }
        gbsi_rw_wait(&n_spins);
    }
}

static inline void gbsi_rw_end_read(gbsi_rw_lock *lock)
{
    (void)atomic_fetch_sub_explicit(lock, 1, memory_order_release);
}

static inline void gbsi_rw_end_write(gbsi_rw_lock *lock)
{
    atomic_store_explicit(lock, 0, memory_order_release);
}

#endif
