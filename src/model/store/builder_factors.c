/* SPDX-License-Identifier: Apache-2.0 */
/* Adds factors to the store of the builder. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "store/builder.h"

/* ---- the store ----------------------------------------------------------------------------- */

/* Reserves room for one more factor with n variables; afterwards append() cannot fail. */
static gbs_status reserve_factor(gbs_builder *b, uint32_t n, bool literals, gbs_error *err)
{
    gbsi_factors *f = &b->model.factors;
    const size_t used = f->n_factors == 0 ? 0 : f->scope_start[f->n_factors];
    if (f->n_factors > SIZE_MAX - 2 || used > SIZE_MAX - n - 1) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "more factors than memory has bytes");
    }
    GBSI_PASS(gbsi_watch_work(b->watch, 8 + (uint64_t)n, "reading the model", err));
    GBSI_PASS(GBSI_GROW(b, model.factors.kind, kind, f->n_factors + 1, err));
    GBSI_PASS(GBSI_GROW(b, model.factors.scope_start, scope_start, f->n_factors + 2, err));
    GBSI_PASS(GBSI_GROW(b, model.factors.weight, weight, f->n_factors + 1, err));
    GBSI_PASS(GBSI_GROW(b, model.factors.aux, aux, f->n_factors + 1, err));
    GBSI_PASS(GBSI_GROW(b, model.factors.scope, scope, used + n + 1, err));
    if (literals && f->literal == NULL) {
        GBSI_PASS(GBSI_GROW(b, model.factors.literal, literal, used + n + 1, err));
        memset(f->literal, 0, used * sizeof *f->literal);
    } else if (f->literal != NULL) {
        GBSI_PASS(GBSI_GROW(b, model.factors.literal, literal, used + n + 1, err));
    }
    return GBS_OK;
}

static void append(gbs_builder *b, const gbsi_candidate *c, uint32_t aux)
{
    gbsi_factors *f = &b->model.factors;
    const size_t used = f->n_factors == 0 ? 0 : f->scope_start[f->n_factors];
    if (c->n > 0) {
        memcpy(f->scope + used, c->scope, c->n * sizeof *c->scope);
    }
    if (f->literal != NULL) {
        for (uint32_t i = 0; i < c->n; ++i) {
            f->literal[used + i] = c->literal == NULL ? 0 : c->literal[i];
        }
    }
    f->kind[f->n_factors] = (uint8_t)c->kind;
    f->scope_start[0] = 0;
    f->scope_start[f->n_factors + 1] = used + c->n;
    f->weight[f->n_factors] = c->weight;
    f->aux[f->n_factors] = aux;
    ++f->n_factors;
}

/* Adds a factor that is not logical. */
static gbs_status add(gbs_builder *b, gbsi_candidate c, gbs_error *err)
{
    c.factor = b->model.factors.n_factors;
    GBSI_PASS(gbsi_check_factor(&b->model, &b->stamps, &c, err));
    GBSI_PASS(reserve_factor(b, c.n, false, err));
    append(b, &c, c.table);
    return GBS_OK;
}

/* ---- kinds --------------------------------------------------------------------------------- */

gbs_status gbsi_builder_add_tabled(gbs_builder *builder, gbs_factor_kind kind, uint32_t n,
                                   const uint32_t *scope, uint32_t table, gbs_error *err)
{
    return add(builder, (gbsi_candidate){.kind = kind, .n = n, .scope = scope, .table = table},
               err);
}

gbs_status gbs_builder_add_table_factor(gbs_builder *builder, uint32_t n, const uint32_t *scope,
                                        uint32_t table, gbs_error *err)
{
    GBSI_NEED(builder);
    if (n > 0) {
        GBSI_NEED(scope);
    }
    return gbsi_builder_add_tabled(builder, GBS_FACTOR_TABLE, n, scope, table, err);
}

gbs_status gbs_builder_add_field(gbs_builder *builder, uint32_t i, double h, gbs_error *err)
{
    GBSI_NEED(builder);
    return add(builder,
               (gbsi_candidate){.kind = GBS_FACTOR_FIELD, .n = 1, .scope = &i, .weight = h}, err);
}

gbs_status gbs_builder_add_ising(gbs_builder *builder, uint32_t i, uint32_t j, double coupling,
                                 gbs_error *err)
{
    GBSI_NEED(builder);
    const uint32_t scope[2] = {i, j};
    return add(
        builder,
        (gbsi_candidate){.kind = GBS_FACTOR_ISING, .n = 2, .scope = scope, .weight = coupling},
        err);
}

gbs_status gbs_builder_add_spin(gbs_builder *builder, uint32_t n, const uint32_t *scope,
                                double coupling, gbs_error *err)
{
    GBSI_NEED(builder);
    if (n > 0) {
        GBSI_NEED(scope);
    }
    return add(
        builder,
        (gbsi_candidate){.kind = GBS_FACTOR_SPIN, .n = n, .scope = scope, .weight = coupling}, err);
}

gbs_status gbs_builder_add_potts(gbs_builder *builder, uint32_t i, uint32_t j, double coupling,
                                 gbs_error *err)
{
    GBSI_NEED(builder);
    const uint32_t scope[2] = {i, j};
    return add(
        builder,
        (gbsi_candidate){.kind = GBS_FACTOR_POTTS, .n = 2, .scope = scope, .weight = coupling},
        err);
}

/* @param k parameter k of the logical function; ignored if the function has no parameter. */
static gbs_status add_logical(gbs_builder *builder, gbs_logical_function function, uint32_t k,
                              uint32_t n, const uint32_t *scope, const uint32_t *state,
                              double weight, gbs_error *err)
{
    GBSI_NEED(builder);
    if (n > 0) {
        GBSI_NEED(scope, state);
    }
    gbsi_factors *f = &builder->model.factors;
    const gbsi_candidate c = {.factor = f->n_factors,
                              .kind = GBS_FACTOR_LOGICAL,
                              .n = n,
                              .scope = scope,
                              .literal = state,
                              .weight = weight,
                              .function = (int)function,
                              .k = k};
    const gbsi_logical wanted = {.function = (uint8_t)function,
                                 .head = GBSI_HEAD_FREE,
                                 .k = (uint16_t)k,
                                 .n_body = n - 1,
                                 .n_body_true = 0};
    GBSI_PASS(gbsi_check_factor(&builder->model, &builder->stamps, &c, err));
    /* consecutive factors with equal descriptions share one description */
    const bool same = f->n_logical > 0 && gbsi_logical_same(&f->logical[f->n_logical - 1], &wanted);
    if (!same && f->n_logical >= GBSI_NONE) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "more logical factors than can be numbered");
    }
    GBSI_PASS(GBSI_GROW(builder, model.factors.logical, logical, f->n_logical + 1, err));
    GBSI_PASS(reserve_factor(builder, n, true, err));
    if (!same) {
        f->logical[f->n_logical++] = wanted;
    }
    append(builder, &c, (uint32_t)(f->n_logical - 1));
    return GBS_OK;
}

gbs_status gbs_builder_add_logical(gbs_builder *builder, gbs_logical_function function, uint32_t n,
                                   const uint32_t *scope, const uint32_t *state, double weight,
                                   gbs_error *err)
{
    if (gbsi_logical_is_cardinality((unsigned)function)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "function %d takes a number: use gbs_builder_add_cardinality()",
                         (int)function);
    }
    return add_logical(builder, function, 0, n, scope, state, weight, err);
}

gbs_status gbs_builder_add_cardinality(gbs_builder *builder, gbs_logical_function function,
                                       uint32_t k, uint32_t n, const uint32_t *scope,
                                       const uint32_t *state, double weight, gbs_error *err)
{
    if (!gbsi_logical_is_cardinality((unsigned)function)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "function %d takes no number: use gbs_builder_add_logical()",
                         (int)function);
    }
    return add_logical(builder, function, k, n, scope, state, weight, err);
}

/* ---- tables by count ------------------------------------------------------------------------- */

/* Finds the range *least to *most of the numbers of true literals that are not forbidden; refuses a
 * table in which this range has a gap. */
static gbs_status find_range(const gbs_builder *b, uint32_t n, const double *logw, uint32_t *least,
                             uint32_t *most, gbs_error *err)
{
    const size_t factor = b->model.factors.n_factors;
    *least = GBSI_NONE;
    for (uint32_t k = 0; k <= n; ++k) {
        const bool forbidden = logw[k] == -INFINITY;
        if (isnan(logw[k]) || logw[k] > GBS_MAX_LOG_WEIGHT / 2 ||
            (logw[k] < -GBS_MAX_LOG_WEIGHT / 2 && !forbidden)) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "factor %zu: log-weight %g of %u true literals, expected minus "
                             "infinity, or at most %g in size",
                             factor, logw[k], (unsigned)k, GBS_MAX_LOG_WEIGHT / 2);
        }
        if (!forbidden && *least != GBSI_NONE && *most + 1 < k) {
            return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                             "factor %zu: %u and %u true literals are possible and %u are not, "
                             "expected forbidden numbers at the ends of the table",
                             factor, (unsigned)*most, (unsigned)k, (unsigned)(k - 1));
        }
        if (!forbidden) {
            *least = *least == GBSI_NONE ? k : *least;
            *most = k;
        }
    }
    return *least == GBSI_NONE
               ? gbsi_fail(err, GBS_ERR_ARGUMENT,
                           "factor %zu: every number of true literals is forbidden", factor)
               : GBS_OK;
}

/* Splits a table t by the number of true literals into factors: a constant factor t_least and, for
 * each larger k, a factor AT_LEAST k with the weight t_k - t_(k-1). */
static gbs_status add_steps(gbs_builder *b, uint32_t n, const uint32_t *scope,
                            const uint32_t *state, const double *logw, uint32_t least,
                            uint32_t most, gbs_error *err)
{
    uint32_t table = 0;
    GBSI_PASS(gbs_builder_add_table(b, 1, logw + least, &table, err));
    GBSI_PASS(gbs_builder_add_table_factor(b, 0, NULL, table, err));
    if (least > 0) {
        GBSI_PASS(
            add_logical(b, GBS_LOGICAL_AT_LEAST, least, n, scope, state, (double)INFINITY, err));
    }
    for (uint32_t k = least + 1; k <= most; ++k) {
        const double step = logw[k] - logw[k - 1];
        if (step != 0.0) {
            GBSI_PASS(add_logical(b, GBS_LOGICAL_AT_LEAST, k, n, scope, state, step, err));
        }
    }
    if (most < n) {
        GBSI_PASS(
            add_logical(b, GBS_LOGICAL_AT_MOST, most, n, scope, state, (double)INFINITY, err));
    }
    return GBS_OK;
}

gbs_status gbs_builder_add_count_table(gbs_builder *builder, uint32_t n, const uint32_t *scope,
                                       const uint32_t *state, const double *logw, gbs_error *err)
{
    GBSI_NEED(builder, logw);
    if (n > 0) {
        GBSI_NEED(scope, state);
    }
    const size_t n_factors = builder->model.factors.n_factors;
    const size_t n_tables = builder->model.factors.n_tables;
    const size_t n_logical = builder->model.factors.n_logical;
    uint32_t least = 0;
    uint32_t most = 0;
    gbs_status status = find_range(builder, n, logw, &least, &most, err);
    if (status < 0) {
        return status;
    }
    status = add_steps(builder, n, scope, state, logw, least, most, err);
    if (status < 0) {
        builder->model.factors.n_factors = n_factors;
        builder->model.factors.n_tables = n_tables;
        builder->model.factors.n_logical = n_logical;
    }
    return status;
}
