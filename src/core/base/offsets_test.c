/* SPDX-License-Identifier: Apache-2.0 */
/* Tests offsets of every width, also if the rows together have more entries than 32 bits can
 * count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/offsets.h"

static gbs_status take(const uint32_t *size, size_t n, gbsi_offsets *offsets)
{
    uint32_t *own = gbsi_alloc_array(n + 1, sizeof *own);
    assert_non_null(own);
    memcpy(own, size, n * sizeof *own);
    own[n] = 77; /* this element is never read */
    return gbsi_offsets_take(own, n, offsets, "test", NULL);
}

static void check(const uint32_t *size, size_t n, const gbsi_offsets *offsets)
{
    size_t at = 0;
    for (size_t i = 0; i < n; ++i) {
        assert_int_equal(gbsi_offset(offsets, i), at);
        at += size[i];
    }
    assert_int_equal(gbsi_offset(offsets, n), at);
}

static void test_equal_rows_take_nothing(void **unused)
{
    (void)unused;
    static const uint32_t size[] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    gbsi_offsets o = {0};
    for (size_t n = 0; n <= 3; ++n) {
        assert_int_equal(take(size, n, &o), GBS_OK);
        check(size, n, &o);
        assert_int_equal(gbsi_offsets_bytes(&o), 0);
        gbsi_offsets_free(&o);
    }
}

static void test_narrow_and_wide(void **unused)
{
    (void)unused;
    static const uint32_t narrow[] = {3, 0, 1, UINT32_MAX - 4};
    static const uint32_t wide[] = {3, 0, 1, UINT32_MAX - 3, 5, UINT32_MAX, UINT32_MAX};
    gbsi_offsets o = {0};
    assert_int_equal(take(narrow, 4, &o), GBS_OK);
    check(narrow, 4, &o);
    assert_int_equal(gbsi_offsets_bytes(&o), 20);
    gbsi_offsets_free(&o);
    assert_int_equal(take(wide, 7, &o), GBS_OK);
    check(wide, 7, &o);
    assert_int_equal(gbsi_offsets_bytes(&o), 64);
    gbsi_offsets_free(&o);
}

static void test_failure_changes_nothing(void **unused)
{
    (void)unused;
    static const uint32_t wide[] = {1, UINT32_MAX};
    gbsi_offsets o = {.n = 5, .width = 6};
    uint32_t *own = gbsi_alloc_array(3, sizeof *own);
    assert_non_null(own);
    memcpy(own, wide, sizeof wide);
    gbsi_alloc_fail_after(0);
    const gbs_status status = gbsi_offsets_take(own, 2, &o, "test", NULL);
    gbsi_alloc_fail_after(UINT64_MAX);
    assert_int_equal(status, GBS_ERR_MEMORY);
    assert_int_equal(o.n, 5);
    assert_int_equal(o.width, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_rows_take_nothing),
        cmocka_unit_test(test_narrow_and_wide),
        cmocka_unit_test(test_failure_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
