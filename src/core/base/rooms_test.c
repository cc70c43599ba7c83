/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { N_ARRAYS = 3 };

typedef struct thing {
    double *value;
    uint32_t *place;
    uint8_t *mark;
} thing;

static void list_arrays(thing *t, uint64_t n, gbsi_room out[N_ARRAYS])
{
    out[0] = GBSI_ROOM(t->value, n, gbsi_alloc_array);
    out[1] = GBSI_ROOM(t->place, 2 * n, gbsi_alloc_lanes);
    out[2] = GBSI_ROOM(t->mark, n, gbsi_alloc_array_zero);
}

static void one_list_sizes_takes_and_frees(void **state)
{
    (void)state;
    thing t = {0};
    gbsi_room arrays[N_ARRAYS];
    list_arrays(&t, 5, arrays);
    assert_int_equal(gbsi_rooms_bytes(arrays, N_ARRAYS), 5 * (8 + 2 * 4 + 1));
    assert_int_equal(gbsi_rooms_bytes(arrays, 0), 0);
    assert_int_equal(gbsi_rooms_take(arrays, N_ARRAYS, "thing", NULL), GBS_OK);
    assert_int_equal((uintptr_t)t.place % 64, 0);
    for (int i = 0; i < 5; ++i) {
        t.value[i] = i;
        assert_int_equal(t.mark[i], 0);
    }
    gbsi_rooms_free(arrays, N_ARRAYS);
}

static void too_many_bytes_for_a_number(void **state)
{
    (void)state;
    thing t = {0};
    gbs_error err = {GBS_OK, ""};
    gbsi_room arrays[N_ARRAYS];
    list_arrays(&t, UINT64_MAX / 8, arrays);
    assert_true(gbsi_rooms_bytes(arrays, N_ARRAYS) == UINT64_MAX);
    list_arrays(&t, UINT64_MAX / 4, arrays);
    assert_true(gbsi_rooms_bytes(arrays, N_ARRAYS) == UINT64_MAX);
    assert_int_equal(gbsi_rooms_take(arrays, N_ARRAYS, "thing", &err), GBS_ERR_MEMORY);
    assert_null(t.value);
}

/* After any request fails, the arrays allocated before can be freed with the same list. */
static void every_request_may_fail(void **state)
{
    (void)state;
    for (uint64_t k = 0; k < N_ARRAYS; ++k) {
        thing t = {0};
        gbsi_room arrays[N_ARRAYS];
        list_arrays(&t, 7, arrays);
        gbsi_alloc_fail_after(k);
        const gbs_status status = gbsi_rooms_take(arrays, N_ARRAYS, "thing", NULL);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_int_equal(status, GBS_ERR_MEMORY);
        assert_int_equal(t.value != NULL, k > 0);
        assert_null(t.mark);
        gbsi_rooms_free(arrays, N_ARRAYS);
    }
}

/* Arrays keep their first elements and may move; an array that does not exist stays NULL. */
static void a_list_shrinks_its_arrays(void **state)
{
    (void)state;
    thing t = {0};
    gbsi_room arrays[N_ARRAYS];
    list_arrays(&t, 1000, arrays);
    assert_int_equal(gbsi_rooms_take(arrays, 2, "thing", NULL), GBS_OK);
    t.value[2] = 0.5;
    list_arrays(&t, 3, arrays);
    gbsi_rooms_shrink(arrays, N_ARRAYS);
    assert_true(t.value[2] == 0.5);
    assert_null(t.mark);
    gbsi_alloc_fail_after(0);
    gbsi_rooms_shrink(arrays, N_ARRAYS);
    gbsi_alloc_fail_after(UINT64_MAX);
    assert_true(t.value[2] == 0.5);
    gbsi_rooms_free(arrays, N_ARRAYS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_list_sizes_takes_and_frees),
        cmocka_unit_test(too_many_bytes_for_a_number),
        cmocka_unit_test(every_request_may_fail),
        cmocka_unit_test(a_list_shrinks_its_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
