/* SPDX-License-Identifier: Apache-2.0 */
/* Function with which tests of clause files compare the log-weights of a model. */
#ifndef GBSI_MODELS_TEST_CLAUSES_H
#define GBSI_MODELS_TEST_CLAUSES_H

#include "text/test_models.h"

/* Asserts the logarithm of the weight of every state, which is a sum over clauses.
 * @param expected [n] logarithms computed by hand from tables. */
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

#endif
