/* SPDX-License-Identifier: Apache-2.0 */
/* A format that is only read is added by a file and a row. Linked here are the library and the
 * program and, from tests/door, such a format: the tables that are made from formats.def are
 * compiled with its row, and nothing else knows of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "gibbsite/gibbsite.h"
#include "models/format_names.h"
#include "options/arguments.h"
#include "text/test_models.h"

static const char text[] = "3 0.5 -1 0\n";

static gbs_model *read_levels(void)
{
    gbs_error err = {0};
    gbs_model *model = NULL;
    if (gbs_model_read(scratch_file("a.levels", text), NULL, &model, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    return model;
}

/* By the extension, by name, from memory. */
static void it_is_read(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_model *named = NULL;
    gbs_model *model = read_levels();
    const gbs_read_options options = {.format = "Levels"};
    assert_int_equal(gbs_model_n_variables(model), 3);
    assert_int_equal(gbs_model_n_factors(model), 3);
    assert_string_equal(gbsi_model_format_of("x.levels.gz"), "levels");
    assert_int_equal(gbs_model_read_memory("m", text, sizeof text - 1, &options, &named, &err),
                     GBS_OK);
    assert_string_equal(gbs_model_digest(named), gbs_model_digest(model));
    gbs_model_free(named);
    gbs_model_free(model);
    assert_int_equal(gbs_model_read(scratch_file("b.levels", "3 0.5"), NULL, &model, &err),
                     GBS_ERR_FORMAT);
    assert_non_null(strstr(err.message, "b.levels:1:"));
}

/* Neither by the extension nor by name, and no file is left. */
static void it_is_not_written(void **state)
{
    (void)state;
    gbs_model *model = read_levels();
    static const gbs_write_options named = {.format = "levels"};
    static const struct {
        const char *name;
        const gbs_write_options *options;
    } cases[] = {{"c.levels", NULL}, {"c.levels", &named}, {"c.uai", &named}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        gbs_error err = {0};
        const char *path = scratch_path(cases[i].name);
        assert_int_equal(gbs_model_write(model, path, cases[i].options, &err), GBS_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.message, ": levels models can be read, not written"));
        assert_int_not_equal(access(path, F_OK), 0);
    }
    gbs_model_free(model);
}

/* It is among the formats that may be read, and not among those that may be written; a drawing is
 * the other way round. */
static void lists(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_model *model = NULL;
    assert_non_null(strstr(gbs_model_formats(), "levels|"));
    assert_int_equal(gbs_model_read(scratch_file("a.xyz", text), NULL, &model, &err),
                     GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "one of levels (.levels), uai (.uai)"));
    assert_null(strstr(err.message, "dot (.dot .gv)"));
    model = read_levels();
    assert_int_equal(gbs_model_write(model, scratch_path("b.xyz"), NULL, &err), GBS_ERR_ARGUMENT);
    assert_null(strstr(err.message, "levels"));
    assert_non_null(strstr(err.message, "one of uai (.uai)"));
    assert_non_null(strstr(err.message, "dot (.dot .gv)"));
    gbs_model_free(model);
    assert_non_null(strstr(cli_source_formats, "|levels|uai|"));
    assert_null(strstr(cli_model_formats, "|levels"));
    assert_null(strstr(cli_source_formats, "|dot"));
    assert_non_null(strstr(cli_model_formats, "|dot"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_read),
        cmocka_unit_test(it_is_not_written),
        cmocka_unit_test(lists),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_scratch();
    return failed;
}
