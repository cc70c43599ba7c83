/* SPDX-License-Identifier: Apache-2.0 */
/* Adding factors: what each kind asks of its scope and its weight, and the growing store. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "model/builder.h"
#include "model/logical.h"

enum {
    SHORT_SCOPE = 8, /* up to here comparing every pair beats stamping variables */
    MAX_SHOWN_SIZES = 12,
};

/* ---- scopes -------------------------------------------------------------------------------- */

static gbs_status refuse_repeated(const gbs_builder *b, uint32_t variable, gbs_error *err)
{
    return gbsi_fail(err, GBS_ERR_ARGUMENT, "factor %zu: variable %u is twice in its scope",
                     b->model.factors.n_factors, (unsigned)variable);
}

/* O(n): the last scope in which a variable was met is stamped on it. */
static gbs_status check_long_distinct(gbs_builder *b, uint32_t n, const uint32_t *scope,
                                      gbs_error *err)
{
    gbs_status status = GBSI_GROW(b, stamp, stamp, b->model.n_variables, err);
    if (status < 0) {
        return status;
    }
    if (b->stamp_now == UINT32_MAX) {
        b->n_stamps = 0;
        b->stamp_now = 0;
    }
    if (b->n_stamps < b->model.n_variables) {
        memset(b->stamp + b->n_stamps, 0, (b->model.n_variables - b->n_stamps) * sizeof *b->stamp);
        b->n_stamps = b->model.n_variables;
    }
    ++b->stamp_now;
    for (uint32_t i = 0; i < n; ++i) {
        if (b->stamp[scope[i]] == b->stamp_now) {
            return refuse_repeated(b, scope[i], err);
        }
        b->stamp[scope[i]] = b->stamp_now;
    }
    return GBS_OK;
}

static gbs_status check_scope(gbs_builder *b, uint32_t n, const uint32_t *scope, gbs_error *err)
{
    for (uint32_t i = 0; i < n; ++i) {
        if (scope[i] >= b->model.n_variables) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "factor %zu: variable %u in its scope, there are %u variables so far",
                             b->model.factors.n_factors, (unsigned)scope[i],
                             (unsigned)b->model.n_variables);
        }
    }
    if (n > SHORT_SCOPE) {
        return check_long_distinct(b, n, scope, err);
    }
    for (uint32_t i = 1; i < n; ++i) {
        for (uint32_t j = 0; j < i; ++j) {
            if (scope[i] == scope[j]) {
                return refuse_repeated(b, scope[i], err);
            }
        }
    }
    return GBS_OK;
}

static gbs_status check_binary(const gbs_builder *b, uint32_t n, const uint32_t *scope,
                               const char *kind, gbs_error *err)
{
    for (uint32_t i = 0; i < n; ++i) {
        if (b->model.arity[scope[i]] != 2) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "factor %zu: variable %u has %u states, %s needs 2",
                             b->model.factors.n_factors, (unsigned)scope[i],
                             (unsigned)b->model.arity[scope[i]], kind);
        }
    }
    return GBS_OK;
}

static gbs_status check_size(const gbs_builder *b, double logw, const char *what, gbs_error *err)
{
    if (isfinite(logw) && fabs(logw) > GBS_MAX_LOG_WEIGHT) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "factor %zu: %s %g, expected at most %g in size",
                         b->model.factors.n_factors, what, logw, GBS_MAX_LOG_WEIGHT);
    }
    return GBS_OK;
}

static gbs_status check_finite(const gbs_builder *b, double weight, const char *what,
                               gbs_error *err)
{
    if (!isfinite(weight)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "factor %zu: %s %g, expected a finite one",
                         b->model.factors.n_factors, what, weight);
    }
    return check_size(b, weight, what, err);
}

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

static void append(gbs_builder *b, gbs_factor_kind kind, uint32_t n, const uint32_t *scope,
                   const uint32_t *literal, double weight, uint32_t aux)
{
    gbsi_factors *f = &b->model.factors;
    const size_t used = f->n_factors == 0 ? 0 : f->scope_start[f->n_factors];
    if (n > 0) {
        memcpy(f->scope + used, scope, n * sizeof *scope);
    }
    if (f->literal != NULL) {
        for (uint32_t i = 0; i < n; ++i) {
            f->literal[used + i] = literal == NULL ? 0 : literal[i];
        }
    }
    f->kind[f->n_factors] = (uint8_t)kind;
    f->scope_start[0] = 0;
    f->scope_start[f->n_factors + 1] = used + n;
    f->weight[f->n_factors] = weight;
    f->aux[f->n_factors] = aux;
    ++f->n_factors;
}

/* ---- kinds --------------------------------------------------------------------------------- */

/* "(2 x 2 x 2)" */
static void sizes_text(const gbs_builder *b, uint32_t n, const uint32_t *scope, char text[128])
{
    size_t used = (size_t)snprintf(text, 128, "(");
    for (uint32_t i = 0; i < n && i < MAX_SHOWN_SIZES; ++i) {
        used += (size_t)snprintf(text + used, 128 - used, "%s%u", i == 0 ? "" : " x ",
                                 (unsigned)b->model.arity[scope[i]]);
    }
    (void)snprintf(text + used, 128 - used, n > MAX_SHOWN_SIZES ? " x ...)" : ")");
}

static gbs_status check_table_size(const gbs_builder *b, uint32_t n, const uint32_t *scope,
                                   uint32_t table, gbs_error *err)
{
    const gbsi_factors *f = &b->model.factors;
    if (table >= f->n_tables) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "factor %zu: table %u, there are %zu tables so far",
                         f->n_factors, (unsigned)table, f->n_tables);
    }
    const size_t has = f->table_start[table + 1] - f->table_start[table];
    char sizes[128];
    size_t needs = 1;
    for (uint32_t i = 0; i < n; ++i) {
        if (!gbsi_mul_size(needs, b->model.arity[scope[i]], &needs)) {
            sizes_text(b, n, scope, sizes);
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "factor %zu has %zu entries, its scope %s needs more than memory has "
                             "bytes",
                             f->n_factors, has, sizes);
        }
    }
    if (needs != has) {
        sizes_text(b, n, scope, sizes);
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "factor %zu has %zu entries, its scope %s needs %zu", f->n_factors, has,
                         sizes, needs);
    }
    return GBS_OK;
}

gbs_status gbs_builder_add_table_factor(gbs_builder *builder, uint32_t n, const uint32_t *scope,
                                        uint32_t table, gbs_error *err)
{
    gbs_status status = GBS_OK;
    GBSI_TRY(check_scope(builder, n, scope, err));
    GBSI_TRY(check_table_size(builder, n, scope, table, err));
    GBSI_TRY(reserve_factor(builder, n, false, err));
    append(builder, GBS_FACTOR_TABLE, n, scope, NULL, 0.0, table);

cleanup:
    return status;
}

static gbs_status add_spins(gbs_builder *b, gbs_factor_kind kind, const char *text, uint32_t n,
                            const uint32_t *scope, double weight, gbs_error *err)
{
    gbs_status status = GBS_OK;
    GBSI_TRY(check_scope(b, n, scope, err));
    GBSI_TRY(check_binary(b, n, scope, text, err));
    GBSI_TRY(check_finite(b, weight, kind == GBS_FACTOR_FIELD ? "field" : "coupling", err));
    GBSI_TRY(reserve_factor(b, n, false, err));
    append(b, kind, n, scope, NULL, weight, 0);

cleanup:
    return status;
}

gbs_status gbs_builder_add_field(gbs_builder *builder, uint32_t i, double h, gbs_error *err)
{
    return add_spins(builder, GBS_FACTOR_FIELD, "a field", 1, &i, h, err);
}

gbs_status gbs_builder_add_ising(gbs_builder *builder, uint32_t i, uint32_t j, double coupling,
                                 gbs_error *err)
{
    const uint32_t scope[2] = {i, j};
    return add_spins(builder, GBS_FACTOR_ISING, "an Ising coupling", 2, scope, coupling, err);
}

gbs_status gbs_builder_add_spin(gbs_builder *builder, uint32_t n, const uint32_t *scope,
                                double coupling, gbs_error *err)
{
    if (n == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "factor %zu: a product of spins needs 1 variable or more",
                         builder->model.factors.n_factors);
    }
    return add_spins(builder, GBS_FACTOR_SPIN, "a product of spins", n, scope, coupling, err);
}

gbs_status gbs_builder_add_potts(gbs_builder *builder, uint32_t i, uint32_t j, double coupling,
                                 gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t scope[2] = {i, j};
    const uint32_t *arity = NULL;
    GBSI_TRY(check_scope(builder, 2, scope, err));
    arity = builder->model.arity;
    if (arity[i] != arity[j]) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "factor %zu: variables %u and %u have %u and %u states, a Potts coupling "
                         "needs equal numbers",
                         builder->model.factors.n_factors, (unsigned)i, (unsigned)j,
                         (unsigned)arity[i], (unsigned)arity[j]);
    }
    if (isnan(coupling) || coupling == INFINITY) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "factor %zu: coupling %g, expected a finite one or minus infinity",
                         builder->model.factors.n_factors, coupling);
    }
    GBSI_TRY(check_size(builder, coupling, "coupling", err));
    GBSI_TRY(reserve_factor(builder, 2, false, err));
    append(builder, GBS_FACTOR_POTTS, 2, scope, NULL, coupling, 0);

cleanup:
    return status;
}

static gbs_status check_logical_weight(const gbs_builder *b, gbs_logical_function function,
                                       uint32_t n, double weight, gbs_error *err)
{
    const size_t f = b->model.factors.n_factors;
    if (weight == INFINITY) {
        return gbsi_logical_may_be_hard(function)
                   ? GBS_OK
                   : gbsi_fail(err, GBS_ERR_ARGUMENT,
                               "factor %zu: function %d cannot be hard, its weight must be finite",
                               f, (int)function);
    }
    /* |phi| <= max(1, n - 1): finite log-weights only */
    const double largest = n > 2 ? (double)(n - 1) : 1.0;
    if (!isfinite(weight) || !isfinite(weight * largest)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "factor %zu: weight %g, expected a finite log-weight or, for functions "
                         "that may be hard, plus infinity",
                         f, weight);
    }
    return check_size(b, weight * largest, "log-weight", err);
}

static gbs_status check_logical(gbs_builder *b, gbs_logical_function function, uint32_t n,
                                const uint32_t *scope, const uint32_t *state, double weight,
                                gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t f = b->model.factors.n_factors;
    if (!gbsi_logical_known((unsigned)function)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "factor %zu: no logical function has number %d", f,
                         (int)function);
    }
    if (n == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "factor %zu: a logical factor needs a literal", f);
    }
    GBSI_TRY(check_scope(b, n, scope, err));
    for (uint32_t i = 0; i < n; ++i) {
        if (state[i] >= b->model.arity[scope[i]]) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "factor %zu: literal %u is variable %u in state %u, it has %u states",
                             f, (unsigned)i, (unsigned)scope[i], (unsigned)state[i],
                             (unsigned)b->model.arity[scope[i]]);
        }
    }
    GBSI_TRY(check_logical_weight(b, function, n, weight, err));

cleanup:
    return status;
}

gbs_status gbs_builder_add_logical(gbs_builder *builder, gbs_logical_function function, uint32_t n,
                                   const uint32_t *scope, const uint32_t *state, double weight,
                                   gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_factors *f = &builder->model.factors;
    const gbsi_logical wanted = {
        .function = (uint8_t)function, .head = GBSI_HEAD_FREE, .n_body = n - 1, .n_body_true = 0};
    GBSI_TRY(check_logical(builder, function, n, scope, state, weight, err));
    /* runs of like factors share one description */
    const bool same = f->n_logical > 0 &&
                      f->logical[f->n_logical - 1].function == wanted.function &&
                      f->logical[f->n_logical - 1].n_body == wanted.n_body;
    if (!same && f->n_logical >= GBSI_NONE) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "more logical factors than can be numbered");
    }
    GBSI_TRY(GBSI_GROW(builder, model.factors.logical, logical, f->n_logical + 1, err));
    GBSI_TRY(reserve_factor(builder, n, true, err));
    if (!same) {
        f->logical[f->n_logical++] = wanted;
    }
    append(builder, GBS_FACTOR_LOGICAL, n, scope, state, weight, (uint32_t)(f->n_logical - 1));

cleanup:
    return status;
}
