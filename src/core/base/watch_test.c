/* SPDX-License-Identifier: Apache-2.0 */
#include "base/watch.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "parallel/pool.h"

/* Time of a clock that replaces the machine's clock: the test links gbsi_clock_s() to
 * __wrap_gbsi_clock_s(). */
static _Atomic double now_s;

/* The linker requires this name. */
/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming) */
double __wrap_gbsi_clock_s(void);
double __wrap_gbsi_clock_s(void)
{
    return now_s;
}
/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming) */

static void stops_after_its_time(void **unused)
{
    (void)unused;
    now_s = 100.0;
    gbsi_watch watch = gbsi_watch_of(NULL, NULL, 90.0, 20.0);
    gbsi_watch unlimited = gbsi_watch_of(NULL, NULL, 90.0, 0.0);
    assert_false(gbsi_watch_spend(&watch, GBSI_WATCH_EVERY));
    now_s = 110.5;
    assert_false(gbsi_watch_spend(&watch, GBSI_WATCH_EVERY - 1));
    assert_true(gbsi_watch_spend(&watch, 1));
    assert_int_equal(watch.n_looks, 2);
    assert_false(gbsi_watch_spend(&unlimited, GBSI_WATCH_EVERY));
}

/* An owner that is asked by a watch may call the library itself. */
static bool is_over(void *context)
{
    assert_null(gbsi_watch_current());
    assert_null(gbsi_watch_surrounding().watch);
    return *(bool *)context;
}

static void an_inner_call_stops_with_the_outer_one(void **unused)
{
    (void)unused;
    bool over = false;
    now_s = 0.0;
    gbsi_watch outer = gbsi_watch_of(is_over, &over, 0.0, 5.0);
    for (int late = 0; late < 2; late++) {
        outer.stopped = false;
        gbsi_watch *nobody = gbsi_watch_enter(&outer);
        gbsi_watch inner = gbsi_watch_of(NULL, NULL, 0.0, 1000.0);
        gbsi_watch *before = gbsi_watch_enter(&inner);
        gbsi_watch innermost = gbsi_watch_of(NULL, NULL, 0.0, 0.0);
        assert_ptr_equal(before, &outer);
        assert_false(gbsi_watch_spend(&innermost, GBSI_WATCH_EVERY));
        over = late == 0;
        now_s = late == 0 ? 0.0 : 6.0;
        assert_true(gbsi_watch_spend(&innermost, GBSI_WATCH_EVERY));
        assert_true(gbsi_watch_stopped(&inner) && gbsi_watch_stopped(&outer));
        gbsi_watch_leave(before);
        gbsi_watch_leave(nobody);
        over = false;
        now_s = 0.0;
    }
    assert_null(gbsi_watch_current());
}

/* If work can be stopped and must then give an answer, only calls inside the work are stopped. */
static void what_surrounds_is_not_spent_on(void **unused)
{
    (void)unused;
    bool over = true;
    now_s = 0.0;
    gbsi_watch work = gbsi_watch_of(is_over, &over, 0.0, 0.0);
    const gbsi_surrounding before = gbsi_watch_surround((gbsi_surrounding){.watch = &work});
    assert_null(gbsi_watch_current());
    gbsi_watch inner = gbsi_watch_of(NULL, NULL, 0.0, 0.0);
    assert_true(gbsi_watch_spend(&inner, GBSI_WATCH_EVERY));
    assert_int_equal(work.n_looks, 1);
    (void)gbsi_watch_surround(before);
    assert_null(gbsi_watch_of(NULL, NULL, 0.0, 0.0).outer);
}

static void nobody_new_leaves_the_watch_in_force(void **unused)
{
    (void)unused;
    gbsi_watch watch = gbsi_watch_of(NULL, NULL, 0.0, 0.0);
    gbsi_watch *nobody = gbsi_watch_enter(&watch);
    gbsi_watch *before = gbsi_watch_enter(NULL);
    assert_ptr_equal(gbsi_watch_current(), &watch);
    gbsi_watch_leave(before);
    gbsi_watch_leave(nobody);
}

enum { MEMBERS = 3 };

typedef struct sharing {
    gbsi_watch *outer;
    _Atomic uint32_t n_right, n_stopped;
} sharing;

/* Every member makes a call that works for the call outside of the pool. */
static void call_inside(void *context, uint32_t member)
{
    sharing *s = context;
    gbsi_watch inner = gbsi_watch_of(NULL, NULL, 0.0, 0.0);
    s->n_right += inner.outer == s->outer && inner.lent == (member > 0);
    s->n_stopped += gbsi_watch_spend(&inner, GBSI_WATCH_EVERY);
}

static void members_of_a_pool_stop_too(void **unused)
{
    (void)unused;
    gbsi_pool *pool = NULL;
    gbsi_watch outer = gbsi_watch_of(NULL, NULL, 0.0, 5.0);
    sharing s = {.outer = &outer};
    assert_int_equal(gbsi_pool_new(MEMBERS, &pool, NULL), GBS_OK);
    gbsi_watch *nobody = gbsi_watch_enter(&outer);
    now_s = 4.0;
    gbsi_pool_run(pool, call_inside, &s);
    assert_int_equal(s.n_stopped, 0);
    now_s = 6.0;
    gbsi_pool_run(pool, call_inside, &s);
    assert_int_equal(s.n_stopped, MEMBERS);
    assert_int_equal(s.n_right, 2 * MEMBERS);
    assert_true(gbsi_watch_stopped(&outer)); /* whichever member noticed that the time was over */
    gbsi_watch_leave(nobody);
    gbsi_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stops_after_its_time),
        cmocka_unit_test(an_inner_call_stops_with_the_outer_one),
        cmocka_unit_test(what_surrounds_is_not_spent_on),
        cmocka_unit_test(nobody_new_leaves_the_watch_in_force),
        cmocka_unit_test(members_of_a_pool_stop_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
