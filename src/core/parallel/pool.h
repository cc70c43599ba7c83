/* SPDX-License-Identifier: Apache-2.0 */
/* Worker threads that exist for the duration of a run. The caller of gbsi_pool_run() is member
 * 0. */
#ifndef GBSI_PARALLEL_POOL_H
#define GBSI_PARALLEL_POOL_H

#include <sched.h>
#include <sys/types.h>

#include "base/status.h"
#include "parallel/barrier.h"

#define GBSI_MOST_THREADS 1024u

typedef struct gbsi_pool gbsi_pool;

/* Number of cores that this process may use, from 1 to GBSI_MOST_THREADS: the cores in its CPU set,
 * or fewer if the quota of a control group allows fewer. */
uint32_t gbsi_pool_cores(void);

#ifdef __linux__
/* Counts the cores in the CPU set of the process. For this, it tries larger and larger sets until
 * the system accepts the size.
 * @param get sched_getaffinity() or a function of a test; fails while the set is too small. */
typedef int gbsi_get_affinity(pid_t process, size_t bytes, cpu_set_t *set);
uint32_t gbsi_affinity_cores(gbsi_get_affinity *get);
#endif

/* @param n_members number of working threads, including the caller; a pool of 1 member starts no
 * thread.
 * @return GBS_ERR_MEMORY if the system does not give that many threads; a pool never has fewer
 * members. */
gbs_status gbsi_pool_new(uint32_t n_members, gbsi_pool **out, gbs_error *err);
void gbsi_pool_free(gbsi_pool *pool); /* NULL is allowed */

/* number of members; if the pool is NULL, the number is 1 */
uint32_t gbsi_pool_size(const gbsi_pool *pool);
/* number of times that a member should look at a barrier before it sleeps */
uint32_t gbsi_pool_spins(const gbsi_pool *pool);

/* Runs job(context, member) once for each member, at the same time. Members see all writes made
 * before the call, and the caller sees the writes of the members. */
void gbsi_pool_run(gbsi_pool *pool, void (*job)(void *context, uint32_t member), void *context);

/* Computes the share [*first, *end) of n things that belongs to a member, cut at multiples of
 * `unit`. */
void gbsi_pool_share(uint64_t n, uint64_t unit, uint32_t member, uint32_t n_members,
                     uint64_t *first, uint64_t *end);

#endif
