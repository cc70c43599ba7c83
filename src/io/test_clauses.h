/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of files of clauses: the log-weights of what is read, and what is written. */
#ifndef GBSI_IO_TEST_CLAUSES_H
#define GBSI_IO_TEST_CLAUSES_H

#include "io/test_models.h"

/* ln of the weight of every state is the sum over clauses; the clauses as tables by hand. */
static inline void expect_logs(const gbs_model *m, const double *expected, size_t n)
{
    double w[16] = {0};
    assert_int_equal(enumerate(m, w, 16), n);
    for (size_t i = 0; i < n; i++) {
        if (expected[i] == -INFINITY) {
            assert_true(w[i] == 0);
        } else {
            expect_near(w[i], exp(expected[i]));
        }
    }
}

static inline void expect_read(const char *name, const char *text, const gbs_read_options *options,
                               const double *expected, size_t n)
{
    gbs_model *m = read_model(name, text, options);
    expect_logs(m, expected, n);
    gbs_model_free(m);
}

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

static inline void refuse_write(const gbs_model *m, const char *name, const char *part)
{
    gbs_error err;
    assert_int_equal(gbs_model_write(m, scratch_path(name), NULL, &err), GBS_ERR_UNSUPPORTED);
    if (strstr(err.message, part) == NULL) {
        fail_msg("\"%s\" lacks \"%s\"", err.message, part);
    }
    assert_int_not_equal(access(scratch_path(name), F_OK), 0);
}

#endif
