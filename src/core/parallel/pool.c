/* SPDX-License-Identifier: Apache-2.0 */
#include "parallel/pool.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/machine.h"
#include "base/memory.h"
#include "base/watch.h"

/* Number of times that a member looks at a gate before it sleeps. These looks take some ten
 * microseconds. In a batch that is worth dividing among the members, the wait for the slowest
 * member is shorter. Between two jobs, a user does not notice this time. */
#define SPINS 1000u

#define MOST_CPUS ((size_t)1 << 20) /* largest size of a CPU set that pool.c asks for */

typedef struct worker {
    gbsi_pool *pool;
    uint32_t member;
    pthread_t thread;
} worker;

struct gbsi_pool {
    uint32_t n_members;
    uint32_t n_started; /* number of workers that were started */
    uint32_t n_spins;
    /* [n_members - 1] threads of all members except member 0, which is the caller */
    worker *worker;
    gbsi_gate *start; /* gate whose step increases by one for each job; separately allocated, like
                         the barrier, because both need an alignment */
    gbsi_barrier *done;
    bool start_ready, done_ready, stopping;
    void (*job)(void *context, uint32_t member);
    void *context;
    gbsi_budget *budget; /* budget of the thread that runs the job; in force for all members */
    gbsi_watch *watch;
};

static uint32_t online_cores(void)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : (uint32_t)online;
}

#ifdef __linux__
uint32_t gbsi_affinity_cores(gbsi_get_affinity *get)
{
    for (size_t n_cpus = CPU_SETSIZE; n_cpus <= MOST_CPUS; n_cpus *= 2) {
        const size_t bytes = CPU_ALLOC_SIZE(n_cpus);
        cpu_set_t *set = CPU_ALLOC(n_cpus);
        const bool known = set != NULL && get(0, bytes, set) == 0;
        const int n = known ? CPU_COUNT_S(bytes, set) : 0;
        CPU_FREE(set); /* CPU_FREE accepts NULL */
        if (n > 0) {
            return (uint32_t)n;
        }
    }
    return online_cores();
}

static uint32_t possible_cores(void)
{
    return gbsi_affinity_cores(sched_getaffinity);
}
#else /* other systems do not report the set of allowed CPUs */
static uint32_t possible_cores(void)
{
    return online_cores();
}
#endif

uint32_t gbsi_pool_cores(void)
{
    const uint32_t n = possible_cores();
    const uint32_t quota = gbsi_quota_cores();
    const uint32_t allowed = n < quota ? n : quota;
    return allowed < GBSI_MOST_THREADS ? allowed : GBSI_MOST_THREADS;
}

static void *work(void *argument)
{
    const worker *self = argument;
    gbsi_pool *pool = self->pool;
    for (uint32_t step = 0;; ++step) {
        gbsi_gate_wait(pool->start, step);
        if (pool->stopping) {
            return NULL;
        }
        gbsi_budget_set(pool->budget);
        (void)gbsi_watch_surround((gbsi_surrounding){.watch = pool->watch, .lent = true});
        pool->job(pool->context, self->member);
        gbsi_budget_set(NULL);
        (void)gbsi_watch_surround((gbsi_surrounding){.watch = NULL});
        gbsi_barrier_wait(pool->done);
    }
}

/* Starts the workers with all signals blocked. Signals therefore go to the caller's threads, which
 * are prepared to handle them. */
static gbs_status start_workers(gbsi_pool *pool, gbs_error *err)
{
    gbs_status status = GBS_OK;
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    while (status == GBS_OK && pool->n_started < pool->n_members - 1) {
        worker *w = &pool->worker[pool->n_started];
        *w = (worker){.pool = pool, .member = pool->n_started + 1};
        if (pthread_create(&w->thread, NULL, work, w) != 0) {
            status = gbsi_fail(err, GBS_ERR_MEMORY,
                               "the system started %u of %u threads: use fewer (--threads)",
                               pool->n_started + 1, pool->n_members);
        } else {
            ++pool->n_started;
        }
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

gbs_status gbsi_pool_new(uint32_t n_members, gbsi_pool **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_pool *pool = gbsi_alloc_zero(sizeof *pool);
    GBSI_PASS(GBSI_HAVE(err, "threads", pool));
    pool->n_members = n_members;
    pool->n_spins = n_members <= gbsi_pool_cores() ? SPINS : 0;
    pool->worker = gbsi_alloc_array_zero(n_members, sizeof *pool->worker);
    pool->start = gbsi_alloc_lanes(1, sizeof *pool->start);
    pool->done = gbsi_alloc_lanes(1, sizeof *pool->done);
    GBSI_TRY(GBSI_HAVE(err, "threads", pool->worker, pool->start, pool->done));
    pool->start_ready = gbsi_gate_init(pool->start, pool->n_spins);
    pool->done_ready = gbsi_barrier_init(pool->done, n_members, pool->n_spins);
    if (!pool->start_ready || !pool->done_ready) {
        status = gbsi_no_memory(err, "threads", sizeof *pool->done);
        goto cleanup;
    }
    GBSI_TRY(start_workers(pool, err));
    *out = pool;
    pool = NULL;
cleanup:
    gbsi_pool_free(pool);
    return status;
}

void gbsi_pool_free(gbsi_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    if (pool->n_started > 0) {
        pool->stopping = true;
        gbsi_gate_open(pool->start);
    }
    for (uint32_t i = 0; i < pool->n_started; ++i) {
        (void)pthread_join(pool->worker[i].thread, NULL);
    }
    if (pool->start_ready) {
        gbsi_gate_destroy(pool->start);
    }
    if (pool->done_ready) {
        gbsi_barrier_destroy(pool->done);
    }
    GBSI_FREE(pool->start, pool->done, pool->worker, pool);
}

uint32_t gbsi_pool_size(const gbsi_pool *pool)
{
    return pool == NULL ? 1 : pool->n_members;
}

uint32_t gbsi_pool_spins(const gbsi_pool *pool)
{
    return pool == NULL ? 0 : pool->n_spins;
}

void gbsi_pool_run(gbsi_pool *pool, void (*job)(void *context, uint32_t member), void *context)
{
    if (gbsi_pool_size(pool) == 1) {
        job(context, 0);
        return;
    }
    pool->job = job;
    pool->context = context;
    pool->budget = gbsi_budget_current();
    pool->watch = gbsi_watch_surrounding().watch;
    gbsi_gate_open(pool->start);
    job(context, 0);
    gbsi_barrier_wait(pool->done);
}

/* Computes a member's part of n things. The things are divided into units, and each part gets a
 * number of consecutive units: the mean rounded down or up. The larger parts come first. */
void gbsi_pool_share(uint64_t n, uint64_t unit, uint32_t member, uint32_t n_members,
                     uint64_t *first, uint64_t *end)
{
    const uint64_t n_units = n / unit + (n % unit != 0);
    const uint64_t each = n_units / n_members;
    const uint64_t longer = n_units % n_members;
    const uint64_t begin = each * member + (member < longer ? member : longer);
    const uint64_t stop = begin + each + (member < longer);
    *first = begin * unit < n ? begin * unit : n;
    *end = stop * unit < n ? stop * unit : n;
}
