/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "parallel/pool.h"

enum { MOST = 8, ROUNDS = 2000, WORDS = 64 };

/* Members write their part of a row, wait at a barrier, and read the whole row. A barrier that
 * lets a member pass too early shows as an old word, and as a race under the thread sanitizer. */
typedef struct relay {
    gbsi_barrier *barrier;
    uint32_t n_members;
    uint32_t word[2][WORDS];
    uint32_t wrong[MOST];
} relay;

static void run_relay(void *context, uint32_t member)
{
    relay *r = context;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint64_t first = 0;
        uint64_t end = 0;
        gbsi_pool_share(WORDS, 1, member, r->n_members, &first, &end);
        uint32_t *row = r->word[round % 2];
        for (uint64_t i = first; i < end; i++) {
            row[i] = round * WORDS + (uint32_t)i;
        }
        gbsi_barrier_wait(r->barrier);
        for (uint32_t i = 0; i < WORDS; i++) {
            r->wrong[member] += row[i] != round * WORDS + i;
        }
    }
}

static void members_meet(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= MOST; n++) {
        gbsi_pool *pool = NULL;
        relay r = {.n_members = n};
        assert_int_equal(gbsi_pool_new(n, &pool, NULL), GBS_OK);
        assert_int_equal(gbsi_pool_size(pool), n);
        r.barrier = gbsi_alloc_lanes(1, sizeof *r.barrier);
        assert_non_null(r.barrier);
        assert_true(gbsi_barrier_init(r.barrier, n, gbsi_pool_spins(pool)));
        gbsi_pool_run(pool, run_relay, &r);
        for (uint32_t member = 0; member < n; member++) {
            assert_int_equal(r.wrong[member], 0);
        }
        gbsi_barrier_destroy(r.barrier);
        gbsi_free(r.barrier);
        gbsi_pool_free(pool);
    }
}

static void count_one(void *context, uint32_t member)
{
    ((uint32_t *)context)[member]++;
}

static void many_jobs(void **state)
{
    (void)state;
    gbsi_pool *pool = NULL;
    uint32_t count[3] = {0};
    assert_int_equal(gbsi_pool_new(3, &pool, NULL), GBS_OK);
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        gbsi_pool_run(pool, count_one, count);
        for (uint32_t member = 0; member < 3; member++) {
            assert_int_equal(count[member], i);
        }
    }
    gbsi_pool_free(pool);
    gbsi_pool_run(NULL, count_one, count); /* without a pool, only the caller runs */
    assert_int_equal(count[0], ROUNDS + 1);
    assert_int_equal(count[1], ROUNDS);
}

static void shares(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 1, 7, 64, 65, 1000, UINT64_C(1) << 40};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (uint64_t unit = 1; unit <= 64; unit *= 8) {
            for (uint32_t n = 1; n <= 7; n++) {
                uint64_t expected = 0;
                for (uint32_t member = 0; member < n; member++) {
                    uint64_t first = 0;
                    uint64_t end = 0;
                    gbsi_pool_share(sizes[s], unit, member, n, &first, &end);
                    assert_true(first == expected && end >= first && end <= sizes[s]);
                    assert_true(first % unit == 0 || first == sizes[s]);
                    expected = end;
                }
                assert_true(expected == sizes[s]);
            }
        }
    }
}

#ifdef __linux__
/* A kernel of 4096 processors, which refuses smaller sets; this process may run on 3000 of them. */
static int many_processors(pid_t process, size_t bytes, cpu_set_t *set)
{
    (void)process;
    if (bytes < CPU_ALLOC_SIZE(4096)) {
        errno = EINVAL;
        return -1;
    }
    CPU_ZERO_S(bytes, set);
    for (size_t i = 0; i < 3000; i++) {
        CPU_SET_S(i, bytes, set);
    }
    return 0;
}

static int no_answer(pid_t process, size_t bytes, cpu_set_t *set)
{
    (void)process;
    (void)bytes;
    (void)set;
    errno = EPERM;
    return -1;
}
#endif

static void cores(void **state)
{
    (void)state;
#ifdef __linux__
    assert_int_equal(gbsi_affinity_cores(many_processors), 3000);
    assert_int_equal(gbsi_affinity_cores(no_answer), sysconf(_SC_NPROCESSORS_ONLN));
#endif
    assert_in_range(gbsi_pool_cores(), 1, GBSI_MOST_THREADS);
}

static void no_memory(void **state)
{
    (void)state;
    gbs_status status = GBS_ERR_MEMORY;
    for (uint64_t n = 0; status != GBS_OK; n++) {
        gbsi_pool *pool = NULL;
        gbsi_alloc_fail_after(n);
        status = gbsi_pool_new(4, &pool, NULL);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || (status == GBS_ERR_MEMORY && pool == NULL));
        gbsi_pool_free(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(members_meet), cmocka_unit_test(many_jobs),
                                       cmocka_unit_test(shares), cmocka_unit_test(cores),
                                       cmocka_unit_test(no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
