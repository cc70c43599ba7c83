/* SPDX-License-Identifier: Apache-2.0 */
#include "models/clauses.h"

#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "decimal/decimal.h"

gbs_status gbsi_clauses_begin(gbsi_clauses *c, const gbsi_text *text, gbs_error *err)
{
    const double scale = text->options->weight_scale;
    c->scale = scale == 0 ? 1.0 : scale;
    return gbs_builder_new(&c->builder, err);
}

void gbsi_clauses_free(gbsi_clauses *c)
{
    gbs_builder_free(c->builder);
    GBSI_FREE(c->scope, c->state, c->mark);
    *c = (gbsi_clauses){0};
}

gbs_status gbsi_clauses_need(gbsi_clauses *c, uint32_t n, gbs_error *err)
{
    enum { SOME = 64 };
    uint32_t two[SOME];
    if (n <= c->n_variables) {
        return GBS_OK;
    }
    for (uint32_t i = 0; i < SOME; i++) {
        two[i] = 2;
    }
    GBSI_PASS(gbsi_reserve(&c->mark, &c->mark_capacity, n, sizeof(size_t), "clauses", err));
    memset((size_t *)c->mark + c->n_variables, 0, (n - c->n_variables) * sizeof(size_t));
    while (c->n_variables < n) {
        uint32_t more = n - c->n_variables < SOME ? n - c->n_variables : SOME;
        GBSI_PASS(gbs_builder_add_variables(c->builder, more, two, NULL, err));
        c->n_variables += more;
    }
    return GBS_OK;
}

gbs_status gbsi_clauses_literal(gbsi_clauses *c, uint32_t variable, bool positive, gbs_error *err)
{
    size_t *mark = &((size_t *)c->mark)[variable];
    const size_t now = 2 * (1 + c->n_clauses);
    if (*mark >> 1 == now >> 1) {
        bool same = (*mark & 1) == positive;
        c->repeated = true;
        c->n_repeated += same;
        c->tautology = c->tautology || !same;
        return GBS_OK;
    }
    GBSI_PASS(gbsi_reserve(&c->scope, &c->scope_capacity, (size_t)c->n + 1, sizeof(uint32_t),
                           "clauses", err));
    GBSI_PASS(gbsi_reserve(&c->state, &c->state_capacity, (size_t)c->n + 1, sizeof(uint32_t),
                           "clauses", err));
    *mark = now + positive;
    ((uint32_t *)c->scope)[c->n] = variable;
    ((uint32_t *)c->state)[c->n] = positive;
    c->n++;
    return GBS_OK;
}

static gbs_status scale_weight(const gbsi_clauses *c, const gbsi_text *text, gbsi_token place,
                               double *weight, gbs_error *err)
{
    if (*weight == GBSI_HARD) {
        return GBS_OK;
    }
    *weight *= c->scale;
    if (!isfinite(*weight)) {
        char scale[32];
        (void)gbsi_format_double(c->scale, scale);
        return gbsi_text_fail(text, place, err,
                              "found a weight that times %s is beyond the largest double, expected "
                              "a smaller --weight-scale",
                              scale);
    }
    return GBS_OK;
}

/* Ends a clause that holds in all states, or in none. Such a clause becomes no factor. */
static gbs_status end_constant(gbsi_clauses *c, const gbsi_text *text, gbsi_token place, bool holds,
                               double weight, gbs_error *err)
{
    if (holds) {
        c->n_always++;
        c->constant += weight == GBSI_HARD ? 0 : weight;
    } else if (weight == GBSI_HARD) {
        return gbsi_text_fail(text, place, err,
                              "found a hard parity or cardinality that cannot hold, expected one "
                              "that can");
    } else {
        c->n_never++;
    }
    return GBS_OK;
}

/* Ends a parity or a cardinality constraint. */
static gbs_status end_counting(gbsi_clauses *c, const gbsi_text *text, gbsi_token place,
                               double weight, gbs_error *err)
{
    const bool parity = c->function == GBS_LOGICAL_PARITY;
    const bool least = c->function == GBS_LOGICAL_AT_LEAST;
    const bool most = c->function == GBS_LOGICAL_AT_MOST;
    gbs_status status = GBS_OK;
    if (c->repeated) {
        return gbsi_text_fail(text, place, err,
                              "found a variable twice in a parity or cardinality, expected each of "
                              "them once");
    }
    if (parity ? c->n == 0 : !most && c->k > c->n) {
        return end_constant(c, text, place, false, weight, err);
    }
    if (!parity && ((least && c->k == 0) || (most && c->k >= c->n) || c->n == 0)) {
        return end_constant(c, text, place, true, weight, err);
    }
    if (weight != 0) {
        status = parity ? gbs_builder_add_logical(c->builder, c->function, c->n, c->scope, c->state,
                                                  weight, err)
                        : gbs_builder_add_cardinality(c->builder, c->function, c->k, c->n, c->scope,
                                                      c->state, weight, err);
    }
    return gbsi_text_blame(text, place, status, err);
}

gbs_status gbsi_clauses_end(gbsi_clauses *c, const gbsi_text *text, gbsi_token place, double weight,
                            gbs_error *err)
{
    gbs_status status = GBS_OK;
    const bool hard = weight == GBSI_HARD;
    GBSI_TRY(scale_weight(c, text, place, &weight, err));
    if (c->function != 0) {
        GBSI_TRY(end_counting(c, text, place, weight, err));
    } else if (c->tautology) {
        c->n_tautologies++;
        c->constant += hard ? 0 : weight;
    } else if (c->n == 0 && hard) {
        return gbsi_text_fail(text, place, err,
                              "found a hard clause without literals, expected one that can hold");
    } else if (c->n == 0) {
        c->n_empty++;
    } else if (weight != 0) {
        status = gbs_builder_add_logical(c->builder, GBS_LOGICAL_CLAUSE, c->n, c->scope, c->state,
                                         weight, err);
        GBSI_TRY(gbsi_text_blame(text, place, status, err));
    }
    c->n = 0;
    c->tautology = false;
    c->repeated = false;
    c->function = 0;
    c->n_clauses++;

cleanup:
    return status;
}

static void warn_reduced(const gbsi_clauses *c, const gbsi_text *text)
{
    if (c->n_tautologies != 0) {
        gbsi_text_warn(text, "%zu clause%s a literal and its negation and became constant",
                       c->n_tautologies, gbsi_plural_of(c->n_tautologies, " holds", "s hold"));
    }
    if (c->n_repeated != 0) {
        gbsi_text_warn(text, "%zu literal%s another of the clause and %s left out", c->n_repeated,
                       gbsi_plural_of(c->n_repeated, " repeats", "s repeat"),
                       gbsi_plural_of(c->n_repeated, "was", "were"));
    }
    if (c->n_empty != 0) {
        gbsi_text_warn(
            text, "%zu clause%s never true: left out", c->n_empty,
            gbsi_plural_of(c->n_empty, " has no literals and is", "s have no literals and are"));
    }
    if (c->n_always != 0) {
        gbsi_text_warn(text, "%zu cardinalit%s and became constant", c->n_always,
                       gbsi_plural_of(c->n_always, "y always holds", "ies always hold"));
    }
    if (c->n_never != 0) {
        gbsi_text_warn(text, "%zu %s left out", c->n_never,
                       gbsi_plural_of(c->n_never, "parity or cardinality never holds and was",
                                      "parities or cardinalities never hold and were"));
    }
    if (c->n_underflow != 0) {
        gbsi_text_warn(text, "%zu weight%s too small for a double and became zero", c->n_underflow,
                       gbsi_plural_of(c->n_underflow, " is", "s are"));
    }
}

gbs_status gbsi_clauses_build(gbsi_clauses *c, const gbsi_text *text, gbs_model **model,
                              gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_token whole = {text->begin, 1};
    if (c->constant != 0) {
        uint32_t table = 0;
        status = gbs_builder_add_table(c->builder, 1, &c->constant, &table, err);
        GBSI_TRY(gbsi_text_blame(text, whole, status, err));
        GBSI_TRY(gbs_builder_add_table_factor(c->builder, 0, NULL, table, err));
    }
    status = gbsi_text_blame(text, whole, gbs_builder_build(c->builder, model, err), err);
    if (status == GBS_OK) {
        warn_reduced(c, text);
    }

cleanup:
    return status;
}
