/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/test_row.h"
#include "gibbsite/options.h"
#include "options/needs.h"

static void counts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {{"0", 0},
                {"7", 7},
                {"007", 7},
                {"10000", 10000},
                {"1e4", 10000},
                {"1E+4", 10000},
                {"10k", 10000},
                {"10K", 10000},
                {"2M", 2000000},
                {"1.5M", 1500000},
                {".5k", 500},
                {"3.", 3},
                {"2.0", 2},
                {"1e3k", 1000000},
                {"0e999999999", 0},
                {"0.000", 0},
                {"1G", 1000000000},
                {"18446744073709551615", UINT64_MAX},
                {"1.8446744073709551615e19", UINT64_MAX}};
    static const char *const bad[] = {"",
                                      "k",
                                      "-1",
                                      "+1",
                                      "1 ",
                                      " 1",
                                      "1e",
                                      "e4",
                                      ".",
                                      "1.5",
                                      "1e-1",
                                      "1kk",
                                      "1km",
                                      "0x10",
                                      "inf",
                                      "nan",
                                      "1,000",
                                      "1.23456k",
                                      "18446744073709551616",
                                      "1e20",
                                      "99999999999999999999e9"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; ++i) {
        uint64_t value = 99;
        test_row("%s", good[i].text);
        assert_true(gbsi_count_read(good[i].text, &value));
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        uint64_t value = 99;
        test_row("'%s'", bad[i]);
        if (gbsi_count_read(bad[i], &value)) {
            fail_msg("'%s' was read as %llu", bad[i], (unsigned long long)value);
        }
        assert_int_equal(value, 99);
    }
    test_no_row();
}

static void options_take_them(void **state)
{
    (void)state;
    gbs_run_options options = gbs_run_options_default();
    assert_int_equal(gbs_option_set(&options, "sweeps", "20k", NULL), GBS_OK);
    assert_true(options.sweeps == 20000);
    assert_int_equal(gbs_option_set(&options, "max-updates", "1e9", NULL), GBS_OK);
    assert_true(options.max_updates == 1000000000);
    assert_int_equal(gbs_option_set(&options, "memory-limit", "2M", NULL), GBS_OK);
    assert_true(options.memory_limit == UINT64_C(2) << 20); /* sizes have powers of 1024 */
    assert_int_equal(gbs_option_set(&options, "target-error", "5%", NULL), GBS_OK);
    assert_true(options.target_error == 0.05);
    assert_int_equal(gbs_option_set(&options, "target-error", "%", NULL), GBS_ERR_ARGUMENT);
    assert_int_equal(gbs_option_set(&options, "sweeps", "1.5", NULL), GBS_ERR_ARGUMENT);
    assert_int_equal(gbs_option_set(&options, "time", "1%", NULL), GBS_ERR_ARGUMENT);
    assert_true(options.sweeps == 20000 && options.target_error == 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts),
                                       cmocka_unit_test(options_take_them)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
