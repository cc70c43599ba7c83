/* SPDX-License-Identifier: Apache-2.0 */
/* Turns factors into clauses. [c] is 1 if clause c holds, and 0 otherwise:
 *     OR:    w on [c], -w elsewhere   = -w + 2 w [c]
 *     field: h s                      = -|h| + 2 |h| [s has the sign of h]
 * An implication is a clause of the negated literals of its body and the literal of its head. */
#include "base/plural.h"
#include "models/clauses.h"
#include "store/builder.h"
#include "store/model.h"

static gbs_status unsupported(const gbs_model *model, size_t f, const char *format,
                              const char *what, gbs_error *err)
{
    char scope[200];
    return gbsi_fail(err, GBS_ERR_UNSUPPORTED, "factor %zu %s %s, which %s files cannot hold", f,
                     gbsi_scope_text(model, f, scope, sizeof scope), what, format);
}

/* Reads a factor as a clause. @return false if the factor is not a clause. */
static bool logical_clause(const gbsi_factors *factors, size_t f, gbsi_clause *clause)
{
    const double w = factors->weight[f];
    const unsigned function = factors->logical[factors->aux[f]].function;
    /* for one literal, "all literals hold" and "any literal holds" are equivalent */
    const bool one = clause->n == 1;
    clause->weight = w;
    switch (function) {
    case GBS_LOGICAL_AND:
    case GBS_LOGICAL_IS_TRUE:
    case GBS_LOGICAL_OR:
        if (w != GBSI_HARD) {
            clause->weight = 2 * w;
            clause->constant = -w;
        }
        return one || function == GBS_LOGICAL_OR;
    case GBS_LOGICAL_AND_CATEGORICAL:
        return one;
    case GBS_LOGICAL_PARITY:
        clause->function = one ? GBS_LOGICAL_CLAUSE : GBS_LOGICAL_PARITY;
        return true;
    case GBS_LOGICAL_AT_LEAST:
    case GBS_LOGICAL_AT_MOST:
    case GBS_LOGICAL_EXACTLY:
        clause->function = (gbs_logical_function)function;
        clause->k = factors->logical[factors->aux[f]].k;
        return true;
    case GBS_LOGICAL_LOGICAL:
    case GBS_LOGICAL_IMPLY_MLN:
        clause->n_negated = clause->n - 1;
        return true;
    default:
        return function == GBS_LOGICAL_CLAUSE;
    }
}

gbs_status gbsi_clause_of(const gbs_model *model, size_t factor, const char *format, bool counts,
                          gbsi_clause *clause, gbs_error *err)
{
    const gbsi_factors *factors = &model->factors;
    const size_t start = factors->scope_start[factor];
    const uint8_t kind = factors->kind[factor];
    *clause = (gbsi_clause){.function = GBS_LOGICAL_CLAUSE,
                            .n = (uint32_t)(factors->scope_start[factor + 1] - start),
                            .scope = factors->scope + start};
    for (uint32_t k = 0; k < clause->n; k++) {
        if (model->arity[clause->scope[k]] != 2) {
            return unsupported(model, factor, format, "has a variable without two states", err);
        }
    }
    if (kind == GBS_FACTOR_TABLE && clause->n == 0) {
        clause->constant = gbsi_factor_value_at(factors, model->arity, factor, NULL);
        return isfinite(clause->constant)
                   ? GBS_OK
                   : unsupported(model, factor, format, "is a constant zero", err);
    }
    if (kind == GBS_FACTOR_FIELD) {
        const double h = factors->weight[factor];
        clause->weight = h < 0 ? -2 * h : 2 * h;
        clause->constant = h < 0 ? h : -h;
        clause->n_negated = h < 0;
    } else if (kind == GBS_FACTOR_LOGICAL) {
        clause->literal = factors->literal + start;
    }
    if (kind != GBS_FACTOR_FIELD &&
        (kind != GBS_FACTOR_LOGICAL || !logical_clause(factors, factor, clause) ||
         (clause->function != GBS_LOGICAL_CLAUSE && !counts))) {
        return unsupported(model, factor, format, "is no clause", err);
    }
    if (isfinite(clause->weight) && fabs(clause->weight) > GBS_MAX_LOG_WEIGHT) {
        /* doubling made the weight too large */
        return unsupported(model, factor, format, "would be a clause of a weight beyond 1e+280",
                           err);
    }
    return GBS_OK;
}

bool gbsi_clause_positive(const gbsi_clause *clause, uint32_t k)
{
    bool positive = clause->literal == NULL || clause->literal[k] == 1;
    return positive != (k < clause->n_negated);
}

gbs_status gbsi_clauses_check(const gbs_model *model, const char *format, gbs_error *err)
{
    if (model->n_variables == 0) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "the model has no variables, and %s files need at least one", format);
    }
    for (uint32_t v = 0; v < model->n_variables; v++) {
        if (model->arity[v] != 2) {
            char name[100];
            return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                             "variable %s has %u state%s, but variables of %s files have 2",
                             gbsi_variable_text(model, v, name, sizeof name), model->arity[v],
                             gbsi_plural(model->arity[v]), format);
        }
    }
    return GBS_OK;
}
