/* SPDX-License-Identifier: Apache-2.0 */
/* Factors from plain numbers: weights, and conditional probability tables. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model/builder.h"
#include "simd/math.h"

/* ---- what is refused ------------------------------------------------------------------------- */

static gbs_status check_weights(size_t factor, size_t n, const double *weight, gbs_error *err)
{
    for (size_t i = 0; i < n; ++i) {
        if (!(weight[i] >= 0.0) || isinf(weight[i])) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "factor %zu: entry %zu is %g, expected a finite weight of 0 or more",
                             factor, i, weight[i]);
        }
    }
    return GBS_OK;
}

/* @param arity of the child. */
static gbs_status check_columns(uint32_t child, uint32_t arity, size_t n, const double *p,
                                gbs_error *err)
{
    for (size_t column = 0; column * arity < n; ++column) {
        double sum = 0.0;
        for (size_t i = column * arity; i < (column + 1) * arity; ++i) {
            if (!(p[i] >= 0.0 && p[i] <= 1.0)) {
                return gbsi_fail(err, GBS_ERR_ARGUMENT,
                                 "table of variable %u: entry %zu is %g, expected a probability "
                                 "from 0 to 1",
                                 (unsigned)child, i, p[i]);
            }
            sum += p[i];
        }
        if (!(fabs(sum - 1.0) <= GBSI_COLUMN_TOLERANCE)) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "table of variable %u: the %u entries from %zu on sum to %.9g, "
                             "expected 1 within %g (the states of the child vary fastest)",
                             (unsigned)child, (unsigned)arity, column * arity, sum,
                             GBSI_COLUMN_TOLERANCE);
        }
    }
    return GBS_OK;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* The last table goes with its factor if that is refused. @param weight not negative. */
static gbs_status add_logs(gbs_builder *b, uint32_t n, const uint32_t *scope, size_t n_entries,
                           const double *weight, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n_tables = b->model.factors.n_tables;
    uint32_t table = 0;
    double *logw = gbsi_alloc_array(n_entries, sizeof *logw);
    if (logw == NULL) {
        return gbsi_no_memory(err, "table", n_entries * sizeof *logw);
    }
    for (size_t i = 0; i < n_entries; ++i) {
        logw[i] = gbsi_log(weight[i]);
    }
    GBSI_TRY(gbs_builder_add_table(b, n_entries, logw, &table, err));
    GBSI_TRY(gbs_builder_add_table_factor(b, n, scope, table, err));

cleanup:
    if (status < 0) {
        b->model.factors.n_tables = n_tables;
    }
    gbsi_free(logw);
    return status;
}

gbs_status gbs_builder_add_potential(gbs_builder *builder, uint32_t n, const uint32_t *scope,
                                     size_t n_entries, const double *weight, gbs_error *err)
{
    GBSI_NEED(builder);
    GBSI_NEED(weight);
    if (n > 0) {
        GBSI_NEED(scope);
    }
    const gbs_status status =
        check_weights(builder->model.factors.n_factors, n_entries, weight, err);
    return status < 0 ? status : add_logs(builder, n, scope, n_entries, weight, err);
}

gbs_status gbs_builder_add_cpt(gbs_builder *builder, uint32_t child, uint32_t n_parents,
                               const uint32_t *parent, size_t n_entries, const double *p,
                               gbs_error *err)
{
    GBSI_NEED(builder);
    GBSI_NEED(p);
    if (n_parents > 0) {
        GBSI_NEED(parent);
    }
    if (child >= builder->model.n_variables || n_parents >= builder->model.n_variables) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "table of variable %u with %u parents: there are %u variables so far",
                         (unsigned)child, (unsigned)n_parents,
                         (unsigned)builder->model.n_variables);
    }
    gbs_status status = GBS_OK;
    const uint32_t arity = builder->model.arity[child];
    uint32_t *scope = gbsi_alloc_array((size_t)n_parents + 1, sizeof *scope);
    if (scope == NULL) {
        return gbsi_no_memory(err, "table", ((size_t)n_parents + 1) * sizeof *scope);
    }
    if (n_parents > 0) {
        memcpy(scope, parent, n_parents * sizeof *scope);
    }
    scope[n_parents] = child;
    if (n_entries % arity != 0) {
        status =
            gbsi_fail(err, GBS_ERR_ARGUMENT,
                      "table of variable %u: %zu entries, expected a multiple of its %u states",
                      (unsigned)child, n_entries, (unsigned)arity);
        goto cleanup;
    }
    GBSI_TRY(check_columns(child, arity, n_entries, p, err));
    status = add_logs(builder, n_parents + 1, scope, n_entries, p, err);

cleanup:
    gbsi_free(scope);
    return status;
}
