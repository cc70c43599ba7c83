/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which requests a budget allows and refuses, and the messages of refusals. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/budget.h"
#include "base/memory.h"

#define MIB ((size_t)1 << 20)

static void requests_end_at_the_limit(void **state)
{
    (void)state;
    gbs_error err;
    gbsi_budget budget;
    gbsi_budget_init(&budget, 12 * MIB, 2 * MIB);
    assert_null(gbsi_budget_enter(&budget));
    void *a = gbsi_alloc(6 * MIB);
    assert_non_null(a);
    assert_null(gbsi_alloc_zero(5 * MIB));
    assert_int_equal(gbsi_no_memory(&err, "test", 7), GBS_ERR_LIMIT);
    assert_non_null(strstr(err.message, "test: 5242880 bytes more would exceed the memory limit of "
                                        "12.0 MiB, of which 8.0 MiB are in use"));
    assert_non_null(strstr(err.message, "--memory-limit"));
    /* this failure is not a refusal by the budget */
    assert_int_equal(gbsi_no_memory(&err, "test", 7), GBS_ERR_MEMORY);
    assert_null(gbsi_alloc_lanes(5 * MIB, 1));
    assert_null(gbsi_realloc_array(a, 11 * MIB, 1));
    a = gbsi_realloc_array(a, 9 * MIB, 1);
    assert_non_null(a);
    gbsi_free(a);
    a = gbsi_alloc_array(9, MIB);
    assert_non_null(a);
    assert_false(gbsi_budget_take(2 * MIB));
    gbsi_free(a);
    assert_int_equal(atomic_load(&budget.held), 0);
    assert_true(gbsi_budget_take(10 * MIB));
    gbsi_budget_give(10 * MIB);
    assert_int_equal(atomic_load(&budget.most), 10 * MIB);
    gbsi_budget_leave(NULL);
    a = gbsi_alloc(20 * MIB); /* there is no limit any more */
    assert_non_null(a);
    gbsi_free(a);
}

static void the_outer_one_stays(void **state)
{
    (void)state;
    gbsi_budget outer;
    gbsi_budget inner;
    gbsi_budget_init(&outer, 10 * MIB, 0);
    gbsi_budget_init(&inner, MIB, 0);
    gbsi_budget *nothing = gbsi_budget_enter(&outer);
    gbsi_budget *before = gbsi_budget_enter(&inner);
    assert_ptr_equal(before, &outer);
    void *a = gbsi_alloc(5 * MIB);
    assert_non_null(a);
    gbsi_budget_leave(before);
    assert_true(atomic_load(&outer.held) >= (int64_t)(5 * MIB));
    gbsi_free(a);
    gbsi_budget_leave(nothing);
    assert_null(gbsi_budget_current());
}

/* An array that grows by doubling reserves less in advance if doubling would exceed the limit. */
static void growing_comes_close_to_the_limit(void **state)
{
    (void)state;
    gbsi_budget budget;
    void *a = NULL;
    size_t capacity = 0;
    size_t n = 0;
    gbsi_budget_init(&budget, 10 * MIB, 0);
    gbsi_budget *before = gbsi_budget_enter(&budget);
    while (gbsi_reserve(&a, &capacity, n + 1, 1, "test", NULL) == GBS_OK) {
        n = capacity;
    }
    assert_in_range(n, 9 * MIB, 10 * MIB);
    gbsi_free(a);
    gbsi_budget_leave(before);
}

/* Runs on another thread, with a different limit. @return NULL if all checks hold. */
static void *smaller(void *unused)
{
    gbsi_budget budget;
    gbsi_budget_init(&budget, MIB, 0);
    gbsi_budget *before = gbsi_budget_enter(&budget);
    void *a = gbsi_alloc(2 * MIB);
    gbsi_budget_leave(before);
    (void)unused;
    return a != NULL ? a : before; /* NULL if each of them is NULL */
}

static void threads_have_their_own(void **state)
{
    (void)state;
    gbsi_budget budget;
    pthread_t thread;
    void *found = &budget;
    gbsi_budget_init(&budget, 100 * MIB, 0);
    gbsi_budget *before = gbsi_budget_enter(&budget);
    assert_int_equal(pthread_create(&thread, NULL, smaller, NULL), 0);
    assert_int_equal(pthread_join(thread, &found), 0);
    assert_null(found);
    assert_int_equal(atomic_load(&budget.held), 0);
    gbsi_budget_leave(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(requests_end_at_the_limit),
                                       cmocka_unit_test(the_outer_one_stays),
                                       cmocka_unit_test(growing_comes_close_to_the_limit),
                                       cmocka_unit_test(threads_have_their_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
