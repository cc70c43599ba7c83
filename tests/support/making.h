/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that make small models by hand: a failure in them is a failure of the test. */
#ifndef GBSI_TESTS_MAKING_H
#define GBSI_TESTS_MAKING_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/small_models.h"

static inline void must(gbs_status status, const gbs_error *err)
{
    if (status < 0) {
        (void)fprintf(stderr, "test model: %s\n", err->message);
        abort();
    }
}

static inline gbs_builder *begin(uint32_t n, const uint32_t *arity)
{
    gbs_error err = {0};
    gbs_builder *b = NULL;
    must(gbs_builder_new(&b, &err), &err);
    must(gbs_builder_add_variables(b, n, arity, NULL, &err), &err);
    return b;
}

static inline gbs_builder *begin_equal(uint32_t n, uint32_t arity)
{
    uint32_t *all = calloc((size_t)n + 1, sizeof *all);
    for (uint32_t v = 0; v < n; ++v) {
        all[v] = arity;
    }
    gbs_builder *b = begin(n, all);
    free(all);
    return b;
}

static inline gbs_model *finish(gbs_builder *b)
{
    gbs_error err = {0};
    gbs_model *model = NULL;
    must(gbs_builder_build(b, &model, &err), &err);
    gbs_builder_free(b);
    return model;
}

static inline void ising(gbs_builder *b, uint32_t i, uint32_t j, double w)
{
    gbs_error err = {0};
    must(gbs_builder_add_ising(b, i, j, w, &err), &err);
}

static inline void field(gbs_builder *b, uint32_t i, double h)
{
    gbs_error err = {0};
    must(gbs_builder_add_field(b, i, h, &err), &err);
}

static inline void potts(gbs_builder *b, uint32_t i, uint32_t j, double w)
{
    gbs_error err = {0};
    must(gbs_builder_add_potts(b, i, j, w, &err), &err);
}

static inline void table(gbs_builder *b, uint32_t n, const uint32_t *scope, size_t n_entries,
                         const double *logw)
{
    gbs_error err = {0};
    uint32_t id = 0;
    must(gbs_builder_add_table(b, n_entries, logw, &id, &err), &err);
    must(gbs_builder_add_table_factor(b, n, scope, id, &err), &err);
}

/* Makes a table of uniform log-weights of the given spread; each entry is a hard zero with the
 * probability `zeros`. */
static inline void random_table(gbs_builder *b, test_stream *s, uint32_t n, const uint32_t *scope,
                                const uint32_t *arity, double spread, double zeros)
{
    size_t n_entries = 1;
    for (uint32_t q = 0; q < n; ++q) {
        n_entries *= arity[scope[q]];
    }
    double *logw = malloc(n_entries * sizeof *logw);
    for (size_t i = 0; i < n_entries; ++i) {
        const double w = test_uniform(s, -spread, spread);
        logw[i] = test_uniform(s, 0.0, 1.0) < zeros ? -INFINITY : w;
    }
    table(b, n, scope, n_entries, logw);
    free(logw);
}

/* ---- literal_models.c: what sees its variables through literals ------------------------------ */

gbs_model *test_parities(void);
gbs_model *test_long_parities(void);
gbs_model *test_hard_parity(void);
gbs_model *test_cardinalities(void);
gbs_model *test_long_cardinalities(void);
gbs_model *test_hard_cardinalities(void);
gbs_model *test_noisy(void);
gbs_model *test_long_noisy(void);
gbs_model *test_hard_noisy(void);
gbs_model *test_maxima(void);
gbs_model *test_hard_maxima(void);
gbs_model *test_counts(void);

#endif
