/* SPDX-License-Identifier: Apache-2.0 */
/* For tests that call public functions wrongly; include cmocka.h first. */
#ifndef GBSI_TESTS_MISUSE_H
#define GBSI_TESTS_MISUSE_H

#include <string.h>

#include "gibbsite/generate.h"
#include "gibbsite/gibbsite.h"

/* Asserts that the call fails for its arguments, and says so. */
#define REFUSED(call)                                   \
    do {                                                \
        gbs_error err = {GBS_OK, ""};                   \
        assert_int_equal((call), GBS_ERR_ARGUMENT);     \
        assert_int_equal(err.status, GBS_ERR_ARGUMENT); \
        assert_true(err.message[0] != '\0');            \
    } while (0)
#define FINE(call)                       \
    do {                                 \
        gbs_error err = {GBS_OK, ""};    \
        if ((call) < 0) {                \
            fail_msg("%s", err.message); \
        }                                \
    } while (0)

/* Asserts that gbs_run_new_with() refuses a setup, and that its message contains `part`. */
static inline void refuse_setup(gbs_run_setup setup, const char *part)
{
    gbs_run *run = NULL;
    gbs_error err = {GBS_OK, ""};
    assert_int_equal(gbs_run_new_with(&setup, &run, &err), GBS_ERR_ARGUMENT);
    assert_null(run);
    if (strstr(err.message, part) == NULL) {
        fail_msg("\"%s\" does not contain \"%s\"", err.message, part);
    }
}

static inline gbs_model *two_spins(void)
{
    gbs_model *model = NULL;
    const gbs_generate_ring_options options = {.variables = 2, .coupling = 0.3};
    FINE(gbs_generate_ring(&options, &model, &err));
    return model;
}

#endif
