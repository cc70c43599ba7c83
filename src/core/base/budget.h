/* SPDX-License-Identifier: Apache-2.0 */
/* A memory limit that the library enforces by counting bytes, not by predicting them. A request to
 * gbsi_alloc*() fails if it would make the current call of the library exceed its limit;
 * gbsi_no_memory() then returns GBS_ERR_LIMIT.
 *
 * A budget is in force on one thread at a time, from gbsi_budget_enter() to gbsi_budget_leave(); a
 * pool puts the budget in force on its members while they work. While a budget is in force, it
 * counts the bytes requested minus the bytes freed. Each thread has its own budget, so that runs on
 * two threads have separate limits. If a call of the library makes an inner call, the budget of the
 * outer call stays in force: the memory of the inner call counts towards the outer call. A request
 * for memory costs two atomic additions; a sweep makes no such requests.
 */
#ifndef GBSI_BASE_BUDGET_H
#define GBSI_BASE_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct gbsi_budget {
    uint64_t limit; /* limit as the user set it, for messages */
    int64_t room;   /* number of bytes that may be held under the budget: the limit minus the bytes
                       allocated before */
    /* number of bytes held now; below 0 if more bytes were freed than requested */
    _Atomic int64_t held;
    _Atomic int64_t most;   /* largest number of bytes held at once until now */
    _Atomic size_t refused; /* number of bytes of the last request that failed; 0 if none failed */
} gbsi_budget;

/* @param there number of bytes allocated before, for example by the program and the model; these
 * bytes count towards the limit. */
void gbsi_budget_init(gbsi_budget *budget, uint64_t limit, uint64_t there);

/* Puts a budget in force. @return the argument of gbsi_budget_leave(): the budget in force
 * before, or NULL. */
gbsi_budget *gbsi_budget_enter(gbsi_budget *budget);
/* Puts a budget in force for a call whose options have no limit: its limit is
 * gbsi_default_memory_limit() minus the memory of the process and the bytes `there`. */
gbsi_budget *gbsi_budget_enter_default(gbsi_budget *budget, uint64_t there);
void gbsi_budget_leave(gbsi_budget *before);
/* Returns the budget in force on this thread, or NULL. */
gbsi_budget *gbsi_budget_current(void);
/* Puts exactly this budget in force on a member of a pool; NULL means no budget. */
void gbsi_budget_set(gbsi_budget *budget);

/* Counts bytes that do not come from gbsi_alloc*(), such as a mapped file. @return false, with
 * nothing counted, if the bytes exceed the limit. */
bool gbsi_budget_take(size_t bytes);
void gbsi_budget_give(size_t bytes);
/* Counts bytes that are in memory already, even if they exceed the limit. */
void gbsi_budget_count(size_t bytes);
/* Returns whether the budget in force refused a request whose failure gbsi_no_memory() has not
 * reported yet. */
bool gbsi_budget_refused(void);

#endif
