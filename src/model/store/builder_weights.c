/* SPDX-License-Identifier: Apache-2.0 */
/* Makes factors from probabilities and weights that are not logarithms. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "simd/math.h"
#include "store/builder.h"

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

/* Checks that each column of a conditional table sums to 1. @param arity arity of the child. */
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

/* Adds a table of logarithms and its factor. If the factor is refused, the table is removed again.
 * @param weight not negative. */
static gbs_status add_logs(gbs_builder *b, uint32_t n, const uint32_t *scope, size_t n_entries,
                           const double *weight, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n_tables = b->model.factors.n_tables;
    uint32_t table = 0;
    double *logw = gbsi_alloc_array(n_entries, sizeof *logw);
    GBSI_PASS(GBSI_HAVE(err, "table", logw));
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
    GBSI_NEED(builder, weight);
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
    GBSI_NEED(builder, p);
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
    GBSI_PASS(GBSI_HAVE(err, "table", scope));
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

/* ---- noisy factors --------------------------------------------------------------------------- */

static gbs_status check_inhibitions(uint32_t child, size_t n, const double *inhibition, double leak,
                                    gbs_error *err)
{
    if (!(leak >= 0.0 && leak <= 1.0)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "noisy factor of variable %u: leak %g, expected a probability from 0 to 1",
                         (unsigned)child, leak);
    }
    for (size_t i = 0; i < n; ++i) {
        if (!(inhibition[i] >= 0.0 && inhibition[i] <= 1.0)) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "noisy factor of variable %u: inhibition %zu is %g, expected a "
                             "probability from 0 to 1",
                             (unsigned)child, i, inhibition[i]);
        }
    }
    return GBS_OK;
}

/* Adds a noisy factor. @param pairs whether `inhibition` has one value per parent. If so, each
 * value becomes two entries; the entry of the state that has no effect is ln 1. */
static gbs_status add_noisy(gbs_builder *b, gbs_factor_kind kind, uint32_t child,
                            uint32_t n_parents, const uint32_t *parent, size_t n,
                            const double *inhibition, double leak, bool pairs, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n_tables = b->model.factors.n_tables;
    const size_t n_entries = 1 + (pairs ? 2 * n : n);
    const uint32_t acts = kind == GBS_FACTOR_NOISY_AND ? 0 : 1;
    uint32_t table = 0;
    double *log_q = NULL;
    uint32_t *scope = NULL;
    GBSI_TRY(check_inhibitions(child, n, inhibition, leak, err));
    log_q = gbsi_alloc_array(n_entries, sizeof *log_q);
    scope = gbsi_alloc_array((size_t)n_parents + 1, sizeof *scope);
    GBSI_TRY(GBSI_HAVE(err, "noisy factor", log_q, scope));
    if (n_parents > 0) {
        memcpy(scope, parent, n_parents * sizeof *scope);
    }
    scope[n_parents] = child;
    log_q[0] = gbsi_log1p(-leak);
    for (size_t e = 1; e < n_entries; ++e) {
        log_q[e] = !pairs                ? gbsi_log(inhibition[e - 1])
                   : (e - 1) % 2 == acts ? gbsi_log(inhibition[(e - 1) / 2])
                                         : 0.0;
    }
    GBSI_TRY(gbs_builder_add_table(b, n_entries, log_q, &table, err));
    GBSI_TRY(gbsi_builder_add_tabled(b, kind, n_parents + 1, scope, table, err));

cleanup:
    if (status < 0) {
        b->model.factors.n_tables = n_tables;
    }
    GBSI_FREE(scope, log_q);
    return status;
}

/* Adds a noisy factor whose parents have two states each. */
static gbs_status add_binary_noisy(gbs_builder *b, gbs_factor_kind kind, uint32_t child,
                                   uint32_t n_parents, const uint32_t *parent,
                                   const double *inhibition, double leak, gbs_error *err)
{
    GBSI_NEED(b);
    if (n_parents > 0) {
        GBSI_NEED(parent, inhibition);
    }
    for (uint32_t i = 0; i < n_parents; ++i) {
        if (parent[i] < b->model.n_variables && b->model.arity[parent[i]] != 2) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "noisy factor of variable %u: parent %u has %u states, expected 2 "
                             "(gbs_builder_add_noisy() takes others)",
                             (unsigned)child, (unsigned)parent[i],
                             (unsigned)b->model.arity[parent[i]]);
        }
    }
    return add_noisy(b, kind, child, n_parents, parent, n_parents, inhibition, leak, true, err);
}

gbs_status gbs_builder_add_noisy_or(gbs_builder *builder, uint32_t child, uint32_t n_parents,
                                    const uint32_t *parent, const double *inhibition, double leak,
                                    gbs_error *err)
{
    return add_binary_noisy(builder, GBS_FACTOR_NOISY_OR, child, n_parents, parent, inhibition,
                            leak, err);
}

gbs_status gbs_builder_add_noisy_and(gbs_builder *builder, uint32_t child, uint32_t n_parents,
                                     const uint32_t *parent, const double *inhibition, double leak,
                                     gbs_error *err)
{
    return add_binary_noisy(builder, GBS_FACTOR_NOISY_AND, child, n_parents, parent, inhibition,
                            leak, err);
}

/* ---- noisy maxima ---------------------------------------------------------------------------- */

/* Writes ln P(effect < k | effect <= k) for k = 1 .. arity - 1, to every `step`-th element of
 * log_q.
 * @param p [arity] distribution of the effect; for a noisy-min its states are read in descending
 * order. */
static void add_levels(uint32_t arity, const double *p, bool falling, size_t step, double *log_q)
{
    double below = p[falling ? arity - 1 : 0];
    for (uint32_t k = 1; k < arity; ++k, log_q += step) {
        const double own = p[falling ? arity - 1 - k : k];
        const double sum = below + own;
        /* ln(1 - own / sum), computed without loss of precision; if sum is 0, any value is right */
        *log_q = sum == 0.0 ? 0.0 : below < own ? gbsi_log(below / sum) : gbsi_log1p(-own / sum);
        below = sum;
    }
}

static gbs_status add_maximum(gbs_builder *b, gbs_factor_kind kind, uint32_t n, uint32_t *scope,
                              size_t n_columns, const double *effect, const double *leak,
                              gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t arity = b->model.arity[scope[n - 1]];
    const size_t n_tables = b->model.factors.n_tables;
    const size_t n_level = n_columns + 1;
    const bool falling = kind == GBS_FACTOR_NOISY_MIN;
    uint32_t table = 0;
    double *log_q = gbsi_alloc_array_zero(n_level * arity, sizeof *log_q);
    GBSI_PASS(GBSI_HAVE(err, "noisy factor", log_q));
    if (leak != NULL) {
        GBSI_TRY(check_columns(scope[n - 1], arity, arity, leak, err));
        add_levels(arity, leak, falling, n_level, log_q);
    }
    GBSI_TRY(check_columns(scope[n - 1], arity, n_columns * arity, effect, err));
    for (size_t i = 0; i < n_columns; ++i) {
        add_levels(arity, effect + i * arity, falling, n_level, log_q + 1 + i);
    }
    GBSI_TRY(gbs_builder_add_table(b, n_level * (arity - 1), log_q, &table, err));
    GBSI_TRY(gbsi_builder_add_tabled(b, kind, n, scope, table, err));

cleanup:
    if (status < 0) {
        b->model.factors.n_tables = n_tables;
    }
    gbsi_free(log_q);
    return status;
}

gbs_status gbs_builder_add_noisy_max(gbs_builder *builder, gbs_factor_kind kind, uint32_t child,
                                     uint32_t n_parents, const uint32_t *parent, size_t n_entries,
                                     const double *effect, const double *leak, gbs_error *err)
{
    GBSI_NEED(builder);
    if (n_parents > 0) {
        GBSI_NEED(parent, effect);
    }
    const gbs_model *m = &builder->model;
    if (kind != GBS_FACTOR_NOISY_MAX && kind != GBS_FACTOR_NOISY_MIN) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "kind %d is no noisy maximum or minimum",
                         (int)kind);
    }
    if (child >= m->n_variables || m->arity[child] < 2) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "noisy factor of variable %u: expected a variable of 2 states or more",
                         (unsigned)child);
    }
    if (n_entries % m->arity[child] != 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "noisy factor of variable %u: %zu entries, expected a multiple of its %u "
                         "states",
                         (unsigned)child, n_entries, (unsigned)m->arity[child]);
    }
    uint32_t *scope = gbsi_alloc_array((size_t)n_parents + 1, sizeof *scope);
    GBSI_PASS(GBSI_HAVE(err, "noisy factor", scope));
    if (n_parents > 0) {
        memcpy(scope, parent, n_parents * sizeof *scope);
    }
    scope[n_parents] = child;
    const gbs_status status = add_maximum(builder, kind, n_parents + 1, scope,
                                          n_entries / m->arity[child], effect, leak, err);
    gbsi_free(scope);
    return status;
}

gbs_status gbs_builder_add_noisy(gbs_builder *builder, gbs_factor_kind kind, uint32_t child,
                                 uint32_t n_parents, const uint32_t *parent, size_t n_entries,
                                 const double *inhibition, double leak, gbs_error *err)
{
    GBSI_NEED(builder);
    if (n_parents > 0) {
        GBSI_NEED(parent);
    }
    if (n_entries > 0) {
        GBSI_NEED(inhibition);
    }
    if (kind != GBS_FACTOR_NOISY_OR && kind != GBS_FACTOR_NOISY_AND) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "kind %d is no noisy factor", (int)kind);
    }
    return add_noisy(builder, kind, child, n_parents, parent, n_entries, inhibition, leak, false,
                     err);
}
