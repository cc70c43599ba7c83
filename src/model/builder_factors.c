/* SPDX-License-Identifier: Apache-2.0 */
/* Adding factors to the growing store. */
#include <string.h>

#include "base/memory.h"
#include "model/builder.h"

/* ---- the store ----------------------------------------------------------------------------- */

/* Room for one more factor with n variables, so that append() cannot fail. */
static gbs_status reserve_factor(gbs_builder *b, uint32_t n, bool literals, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_factors *f = &b->model.factors;
    const size_t used = f->n_factors == 0 ? 0 : f->scope_start[f->n_factors];
    if (f->n_factors > SIZE_MAX - 2 || used > SIZE_MAX - n - 1) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "more factors than memory has bytes");
    }
    GBSI_TRY(GBSI_GROW(b, model.factors.kind, kind, f->n_factors + 1, err));
    GBSI_TRY(GBSI_GROW(b, model.factors.scope_start, scope_start, f->n_factors + 2, err));
    GBSI_TRY(GBSI_GROW(b, model.factors.weight, weight, f->n_factors + 1, err));
    GBSI_TRY(GBSI_GROW(b, model.factors.aux, aux, f->n_factors + 1, err));
    GBSI_TRY(GBSI_GROW(b, model.factors.scope, scope, used + n + 1, err));
    if (literals && f->literal == NULL) {
        GBSI_TRY(GBSI_GROW(b, model.factors.literal, literal, used + n + 1, err));
        memset(f->literal, 0, used * sizeof *f->literal);
    } else if (f->literal != NULL) {
        GBSI_TRY(GBSI_GROW(b, model.factors.literal, literal, used + n + 1, err));
    }

cleanup:
    return status;
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

/* Whatever is not logical. */
static gbs_status add(gbs_builder *b, gbsi_candidate c, gbs_error *err)
{
    gbs_status status = GBS_OK;
    c.factor = b->model.factors.n_factors;
    GBSI_TRY(gbsi_check_factor(&b->model, &b->stamps, &c, err));
    GBSI_TRY(reserve_factor(b, c.n, false, err));
    append(b, &c, c.table);

cleanup:
    return status;
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

/* @param k of functions that take a number. */
static gbs_status add_logical(gbs_builder *builder, gbs_logical_function function, uint32_t k,
                              uint32_t n, const uint32_t *scope, const uint32_t *state,
                              double weight, gbs_error *err)
{
    GBSI_NEED(builder);
    if (n > 0) {
        GBSI_NEED(scope);
        GBSI_NEED(state);
    }
    gbs_status status = GBS_OK;
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
    GBSI_TRY(gbsi_check_factor(&builder->model, &builder->stamps, &c, err));
    /* runs of like factors share one description */
    const bool same = f->n_logical > 0 && gbsi_logical_same(&f->logical[f->n_logical - 1], &wanted);
    if (!same && f->n_logical >= GBSI_NONE) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "more logical factors than can be numbered");
    }
    GBSI_TRY(GBSI_GROW(builder, model.factors.logical, logical, f->n_logical + 1, err));
    GBSI_TRY(reserve_factor(builder, n, true, err));
    if (!same) {
        f->logical[f->n_logical++] = wanted;
    }
    append(builder, &c, (uint32_t)(f->n_logical - 1));

cleanup:
    return status;
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
