/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

#include <locale.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static char folder[] = "/tmp/gibbsite-locale-XXXXXX";

/* Makes a locale whose decimal point is a comma, and sets it; no installed locale is needed.
 * @return whether localedef, a program of glibc, could make the locale. */
static bool use_comma(void)
{
    char path[64];
    char command[256];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/source", folder);
    FILE *source = fopen(path, "w");
    assert_non_null(source);
    (void)fputs("LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \"\"\ngrouping -1\n"
                "END LC_NUMERIC\n",
                source);
    assert_int_equal(fclose(source), 0);
    /* localedef warns about the other categories, which are those of C, and then ends with
     * status 1. */
    (void)snprintf(command, sizeof command, "localedef -c -i %s %s/comma > /dev/null 2>&1", path,
                   folder);
    const bool ran = system(command) != -1; // NOLINT(cert-env33-c): a folder of our own
    assert_int_equal(setenv("LOCPATH", folder, 1), 0);
    return ran && setlocale(LC_NUMERIC, "comma") != NULL && localeconv()->decimal_point[0] == ',';
}

static void messages_have_a_decimal_point(void **unused)
{
    (void)unused;
    gbs_error err;
    char text[32];
    if (!use_comma()) {
        print_message("skipped: localedef made no locale with a decimal comma\n");
        skip();
    }
    (void)snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0,5");
    assert_int_equal(gbsi_fail(&err, GBS_ERR_LIMIT, "%.1f of %d", 0.5, 2), GBS_ERR_LIMIT);
    assert_string_equal(err.message, "0.5 of 2");
    gbsi_say(text, sizeof text, "%g", 2.25);
    assert_string_equal(text, "2.25");
    (void)snprintf(text, sizeof text, "%.1f", 0.5); /* the caller's locale is unchanged */
    assert_string_equal(text, "0,5");
}

static int remove_folder(void **unused)
{
    (void)unused;
    char command[64];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command); // NOLINT(cert-env33-c): a folder of our own
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(messages_have_a_decimal_point, remove_folder)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
