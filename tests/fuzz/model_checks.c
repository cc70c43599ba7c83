/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the properties of every model, whatever file it came from: all of them are relied on
 * elsewhere without another check. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "store/factors.h"
#include "store/model.h"

static void check_variables(const gbs_model *m)
{
    FUZZ_REQUIRE(m->n_variables <= GBS_MAX_VARIABLES);
    FUZZ_REQUIRE(m->state_offset[0] == 0);
    for (uint32_t v = 0; v < m->n_variables; v++) {
        FUZZ_REQUIRE(m->arity[v] >= 1 && m->arity[v] <= GBS_MAX_ARITY);
        FUZZ_REQUIRE(m->state_offset[v + 1] - m->state_offset[v] == m->arity[v]);
    }
}

static void check_labels(const gbs_model *m, uint32_t v)
{
    bool labelled = gbs_model_state_label(m, v, 0) != NULL;
    for (uint32_t a = 0; a < m->arity[v]; a++) {
        const char *label = gbs_model_state_label(m, v, a);
        FUZZ_REQUIRE((label != NULL) == labelled);
        FUZZ_REQUIRE(label == NULL || label[0] != 0);
        for (uint32_t b = 0; labelled && b < a && a < 8; b++) {
            FUZZ_REQUIRE(strcmp(label, gbs_model_state_label(m, v, b)) != 0);
        }
    }
}

static void check_names(const gbs_model *m)
{
    uint32_t n_named = 0;
    for (uint32_t v = 0; v < m->n_variables; v++) {
        const char *name = gbs_model_variable_name(m, v);
        n_named += name != NULL;
        FUZZ_REQUIRE(name == NULL || name[0] != 0);
        if (m->label != NULL) {
            check_labels(m, v);
        }
    }
    FUZZ_REQUIRE(n_named == m->n_named);
    for (uint32_t i = 1; i < n_named; i++) {
        FUZZ_REQUIRE(strcmp(gbs_model_variable_name(m, m->by_name[i - 1]),
                            gbs_model_variable_name(m, m->by_name[i])) < 0);
    }
}

/* @param seen [n_variables] 1 + the last factor that had the variable in its scope. */
static void check_scope(const gbs_model *m, size_t f, size_t *seen)
{
    const gbsi_factors *factors = &m->factors;
    FUZZ_REQUIRE(factors->scope_start[f] <= factors->scope_start[f + 1]);
    for (size_t i = factors->scope_start[f]; i < factors->scope_start[f + 1]; i++) {
        uint32_t v = factors->scope[i];
        FUZZ_REQUIRE(v < m->n_variables);
        FUZZ_REQUIRE(seen[v] != f + 1);
        seen[v] = f + 1;
    }
}

static void check_table(const gbs_model *m, size_t f)
{
    const gbsi_factors *factors = &m->factors;
    FUZZ_REQUIRE(factors->aux[f] < factors->n_tables);
    const size_t *start = &factors->table_start[factors->aux[f]];
    size_t n = 1;
    for (size_t i = factors->scope_start[f]; i < factors->scope_start[f + 1]; i++) {
        n *= m->arity[factors->scope[i]];
    }
    FUZZ_REQUIRE(start[1] - start[0] == n);
}

static void check_literals(const gbs_model *m, size_t f)
{
    const gbsi_factors *factors = &m->factors;
    size_t n = factors->scope_start[f + 1] - factors->scope_start[f];
    FUZZ_REQUIRE(factors->aux[f] < factors->n_logical);
    const gbsi_logical *logical = &factors->logical[factors->aux[f]];
    FUZZ_REQUIRE(gbsi_logical_known(logical->function) && logical->head == GBSI_HEAD_FREE);
    FUZZ_REQUIRE(n >= 1 && logical->n_body == n - 1 && logical->n_body_true == 0);
    for (size_t i = factors->scope_start[f]; i < factors->scope_start[f + 1]; i++) {
        FUZZ_REQUIRE(factors->literal[i] < m->arity[factors->scope[i]]);
    }
    bool hard = factors->weight[f] == INFINITY && gbsi_logical_may_be_hard(logical->function);
    FUZZ_REQUIRE(hard || isfinite(factors->weight[f]));
}

static void check_noisy(const gbs_model *m, size_t f)
{
    const gbsi_factors *factors = &m->factors;
    FUZZ_REQUIRE(factors->scope_start[f + 1] > factors->scope_start[f]);
    FUZZ_REQUIRE(factors->aux[f] < factors->n_tables);
    const gbsi_noisy noisy = gbsi_noisy_of(factors, f);
    const size_t *start = factors->table_start + factors->aux[f];
    size_t n = 1;
    const bool graded = gbsi_noisy_is_graded(factors->kind[f]);
    FUZZ_REQUIRE(graded ? m->arity[noisy.child] >= 2 : m->arity[noisy.child] == 2);
    for (uint32_t i = 0; i < noisy.n_parents; i++) {
        n += m->arity[noisy.parent[i]];
    }
    n *= m->arity[noisy.child] - 1;
    FUZZ_REQUIRE(start[1] - start[0] == n);
    for (size_t i = 0; i < n; i++) {
        FUZZ_REQUIRE(noisy.log_q[i] <= 0.0);
    }
}

static void check_factor(const gbs_model *m, size_t f)
{
    const gbsi_factors *factors = &m->factors;
    const uint32_t *scope = &factors->scope[factors->scope_start[f]];
    size_t n = factors->scope_start[f + 1] - factors->scope_start[f];
    double weight = factors->weight[f];
    switch ((gbs_factor_kind)factors->kind[f]) {
    case GBS_FACTOR_TABLE:
        check_table(m, f);
        return;
    case GBS_FACTOR_LOGICAL:
        check_literals(m, f);
        return;
    case GBS_FACTOR_POTTS:
        FUZZ_REQUIRE(n == 2 && m->arity[scope[0]] == m->arity[scope[1]]);
        FUZZ_REQUIRE(weight < INFINITY); /* minus infinity forbids what is equal */
        return;
    case GBS_FACTOR_FIELD:
    case GBS_FACTOR_ISING:
    case GBS_FACTOR_SPIN:
        FUZZ_REQUIRE(factors->kind[f] == GBS_FACTOR_FIELD   ? n == 1
                     : factors->kind[f] == GBS_FACTOR_ISING ? n == 2
                                                            : n >= 1);
        for (size_t i = 0; i < n; i++) {
            FUZZ_REQUIRE(m->arity[scope[i]] == 2);
        }
        FUZZ_REQUIRE(isfinite(weight));
        return;
    case GBS_FACTOR_NOISY_OR:
    case GBS_FACTOR_NOISY_AND:
    case GBS_FACTOR_NOISY_MAX:
    case GBS_FACTOR_NOISY_MIN:
        check_noisy(m, f);
        return;
    }
    FUZZ_REQUIRE(factors->kind[f] <= GBS_FACTOR_NOISY_MIN);
}

static void check_factors(const gbs_model *m)
{
    const gbsi_factors *factors = &m->factors;
    size_t *seen = calloc((size_t)m->n_variables + 1, sizeof *seen);
    FUZZ_REQUIRE(seen != NULL);
    FUZZ_REQUIRE(factors->scope_start[0] == 0 && factors->table_start[0] == 0);
    for (size_t f = 0; f < factors->n_factors; f++) {
        check_scope(m, f, seen);
        check_factor(m, f);
    }
    for (size_t t = 0; t < factors->n_tables; t++) {
        FUZZ_REQUIRE(factors->table_start[t] < factors->table_start[t + 1]);
    }
    for (size_t i = 0; i < factors->table_start[factors->n_tables]; i++) {
        double logw = factors->table[i];
        FUZZ_REQUIRE(fabs(logw) <= GBS_MAX_LOG_WEIGHT || logw == -INFINITY);
    }
    free(seen);
}

/* The table of a variable ends in it, and parents come first. */
static void check_network(const gbs_model *m)
{
    uint32_t *place = calloc((size_t)m->n_variables + 1, sizeof *place); /* 1 + that in the order */
    FUZZ_REQUIRE(place != NULL);
    for (uint32_t i = 0; i < m->n_variables; i++) {
        uint32_t v = m->topological[i];
        FUZZ_REQUIRE(v < m->n_variables && place[v] == 0);
        place[v] = i + 1;
        FUZZ_REQUIRE(m->cpt[v] < m->factors.n_factors);
        size_t start = m->factors.scope_start[m->cpt[v]];
        size_t end = m->factors.scope_start[m->cpt[v] + 1];
        FUZZ_REQUIRE(start < end && m->factors.scope[end - 1] == v);
        for (size_t p = start; p < end - 1; p++) {
            FUZZ_REQUIRE(place[m->factors.scope[p]] != 0);
        }
    }
    free(place);
}

static void check_density(const gbs_model *m)
{
    uint32_t *x = calloc((size_t)m->n_variables + 1, sizeof *x);
    FUZZ_REQUIRE(x != NULL);
    FUZZ_REQUIRE(gbs_model_log_density(m, x) < INFINITY);
    for (uint32_t v = 0; v < m->n_variables; v++) {
        x[v] = m->arity[v] - 1;
    }
    FUZZ_REQUIRE(gbs_model_log_density(m, x) < INFINITY);
    free(x);
}

static void check_ties(const gbs_model *m)
{
    for (size_t f = 0; f < m->factors.n_factors; f++) {
        double feature = 0;
        const uint32_t weight = gbs_model_tied_weight(m, f, &feature);
        FUZZ_REQUIRE(weight == UINT32_MAX
                         ? feature == 0
                         : gbs_model_weight(m, weight, NULL) * feature == m->factors.weight[f]);
    }
}

void fuzz_check_model(const gbs_model *model)
{
    check_variables(model);
    check_names(model);
    check_factors(model);
    check_ties(model);
    FUZZ_REQUIRE((model->cpt != NULL) == model->directed);
    if (model->directed) {
        check_network(model);
    }
    check_density(model);
    FUZZ_REQUIRE(strspn(gbs_model_digest(model), "0123456789abcdef") == 32);
    FUZZ_REQUIRE(gbs_model_digest(model)[32] == 0);
    FUZZ_REQUIRE(gbs_model_bytes(model) > 0);
}
