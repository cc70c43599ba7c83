/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: builds small models by hand, and checks that the message of a refusal contains
 * given words. */
#ifndef GBSI_STORE_TEST_BUILDER_H
#define GBSI_STORE_TEST_BUILDER_H

#include <string.h>

#include "generate/random_models.h"

static inline gbs_builder *new_builder(uint32_t n, const uint32_t *arity)
{
    gbs_builder *b = NULL;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, n, arity, NULL, NULL), GBS_OK);
    return b;
}

static inline gbs_model *build(gbs_builder *b)
{
    gbs_model *m = NULL;
    assert_int_equal(gbs_builder_build(b, &m, NULL), GBS_OK);
    return m;
}

static const uint32_t mixed[5] = {2, 2, 2, 3, 1};

#define REFUSED(code, call, text)                               \
    do {                                                        \
        gbs_error err = {0};                                    \
        assert_int_equal(call, code);                           \
        assert_int_equal(err.status, code);                     \
        if (strstr(err.message, text) == NULL) {                \
            fail_msg("\"%s\" lacks \"%s\"", err.message, text); \
        }                                                       \
    } while (0)

static inline void add_arc_table(gbs_builder *b, uint32_t n, const uint32_t *scope,
                                 size_t n_entries)
{
    const double logw[8] = {0};
    uint32_t table = 0;
    assert_int_equal(gbs_builder_add_table(b, n_entries, logw, &table, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(b, n, scope, table, NULL), GBS_OK);
}

#endif
