/* SPDX-License-Identifier: Apache-2.0 */
/* For tests that walk through a table: a failure prints the row. Include this header after
 * cmocka.h, because it replaces cmocka_unit_test(), and name each row when its test begins:
 *
 *     for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
 *         test_row("%s, %u chains", rows[i].name, rows[i].chains);
 *
 * In nested loops, the name of a row also contains the names of the rows of the outer loops. A test
 * calls test_no_row() after its last row. Tests that share the state of a group cannot have rows.
 */
#ifndef GBSI_BASE_TEST_ROW_H
#define GBSI_BASE_TEST_ROW_H

#include <stdarg.h>
#include <stdio.h>

static char test_row_now[512]; /* description of the row under test; "" between rows */

static inline void test_no_row(void)
{
    test_row_now[0] = 0;
}

static inline __attribute__((format(printf, 1, 2))) void test_row(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(test_row_now, sizeof test_row_now, format, arguments);
    va_end(arguments);
}

typedef struct test_of_rows {
    CMUnitTestFunction run;
    const char *name;
} test_of_rows;

static inline void test_run_rows(void **state)
{
    void *none = NULL;
    test_no_row();
    ((const test_of_rows *)*state)->run(&none);
    test_no_row(); /* this line runs only if the test did not fail */
}

static inline int test_tell_row(void **state)
{
    if (test_row_now[0] != 0) {
        print_error("[   ROW    ] --- %s: %s\n", ((const test_of_rows *)*state)->name,
                    test_row_now);
    }
    test_no_row();
    return 0;
}

#undef cmocka_unit_test
#define cmocka_unit_test(f) /* NOLINT(readability-identifier-naming): cmocka's name */ \
    (struct CMUnitTest)                                                                \
    {                                                                                  \
#f, test_run_rows, NULL, test_tell_row, &(test_of_rows)                        \
        {                                                                              \
            f, #f                                                                      \
        }                                                                              \
    }

#endif
