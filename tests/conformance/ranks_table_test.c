/* SPDX-License-Identifier: Apache-2.0 */
/* Threads as ranks: the table of functions, and what it says to those who use it wrongly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"
#include "support/ranks_check.h"
#include "support/thread_ranks.h"

static gbs_status check(const gbs_ranks *ranks, void *context, gbs_error *err)
{
    (void)context;
    return test_ranks_check(ranks, err);
}

static void test_table(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 5; ++n) {
        gbs_error err = {GBS_OK, ""};
        if (test_on_ranks(n, check, NULL, &err) != GBS_OK) {
            fail_msg("%u ranks: %s", n, err.message);
        }
    }
}

/* Rank 1 fails: the others, who wait for it in many ways, get to know. */
static gbs_status wait_in_vain(const gbs_ranks *ranks, void *context, gbs_error *err)
{
    unsigned char byte = 0;
    const gbs_message in = {1, &byte, 1};
    (void)context;
    switch (ranks->rank) {
    case 0:
        return ranks->broadcast(ranks->context, 1, &byte, 1, err);
    case 1:
        return gbsi_fail(err, GBS_ERR_FORMAT, "rank 1 does not like it");
    default:
        break;
    }
    const gbs_status status = ranks->begin(ranks->context, NULL, 0, &in, 1, err);
    return status < 0 ? status : ranks->finish(ranks->context, err);
}

static void test_a_failure_ends_all(void **state)
{
    (void)state;
    gbs_error err = {GBS_OK, ""};
    assert_int_equal(test_on_ranks(3, wait_in_vain, NULL, &err), GBS_ERR_FORMAT);
    assert_string_equal(err.message, "rank 1 does not like it");
}

/* A message of another length, and one that is changed on its way. */
static gbs_status send_wrongly(const gbs_ranks *ranks, void *context, gbs_error *err)
{
    const size_t expected = *(const size_t *)context;
    uint64_t sent = 7;
    uint64_t got = 0;
    const gbs_message out = {1 - ranks->rank, &sent, sizeof sent};
    const gbs_message in = {1 - ranks->rank, &got, expected};
    const gbs_status status = ranks->begin(ranks->context, &out, 1, &in, 1, err);
    sent = expected == sizeof sent ? 8 : sent;
    return status < 0 ? status : ranks->finish(ranks->context, err);
}

static void test_wrong_use_is_told(void **state)
{
    (void)state;
    gbs_error err = {GBS_OK, ""};
    size_t expected = 4;
    assert_int_equal(test_on_ranks(2, send_wrongly, &expected, &err), GBS_ERR_STATE);
    assert_non_null(strstr(err.message, "expects 4 bytes of rank"));
    expected = sizeof(uint64_t);
    assert_int_equal(test_on_ranks(2, send_wrongly, &expected, &err), GBS_ERR_STATE);
    assert_non_null(strstr(err.message, "before it had arrived"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_a_failure_ends_all),
        cmocka_unit_test(test_wrong_use_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
