/* SPDX-License-Identifier: Apache-2.0 */
/* Functions with which tests of writers assert the text of a written model, or a part of the
 * message with which the model is refused. */
#ifndef GBSI_MODELS_TEST_WRITTEN_H
#define GBSI_MODELS_TEST_WRITTEN_H

#include "text/test_models.h"

static inline void expect_written(const gbs_model *m, const char *name,
                                  const gbs_write_options *options, const char *expected)
{
    char text[1024];
    gbs_error err;
    const char *path = scratch_path(name);
    if (gbs_model_write(m, path, options, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    (void)read_file(path, text, sizeof text);
    assert_string_equal(text, expected);
}

static inline void refuse_write(const gbs_model *m, const char *name,
                                const gbs_write_options *options, const char *part)
{
    gbs_error err;
    assert_int_equal(gbs_model_write(m, scratch_path(name), options, &err), GBS_ERR_UNSUPPORTED);
    if (strstr(err.message, part) == NULL) {
        fail_msg("\"%s\" lacks \"%s\"", err.message, part);
    }
    assert_int_not_equal(access(scratch_path(name), F_OK), 0);
}

#endif
