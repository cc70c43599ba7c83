/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

#include <locale.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* Where no locale with a decimal comma is installed, this says no more than that texts are made. */
static void messages_have_a_decimal_point(void **unused)
{
    (void)unused;
    static const char *const comma[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ru_RU.UTF-8", "pt_BR.UTF-8"};
    gbs_error err;
    char text[32];
    for (size_t i = 0; i < sizeof comma / sizeof comma[0]; i++) {
        (void)setlocale(LC_ALL, comma[i]);
        assert_int_equal(gbsi_fail(&err, GBS_ERR_LIMIT, "%.1f of %d", 0.5, 2), GBS_ERR_LIMIT);
        assert_string_equal(err.message, "0.5 of 2");
        gbsi_say(text, sizeof text, "%g", 2.25);
        assert_string_equal(text, "2.25");
        (void)snprintf(text, sizeof text, "%.1f", 0.5);
        assert_string_equal(localeconv()->decimal_point[0] == ',' ? "0,5" : "0.5", text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(messages_have_a_decimal_point)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
