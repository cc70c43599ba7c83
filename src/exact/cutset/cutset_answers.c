/* SPDX-License-Identifier: Apache-2.0 */
/* Answers one case after the other. For each case, computes the entries of the factors that contain
 * variables of the cutset, and then solves the junction tree of the remaining variables. The
 * weights of cases are added in the order of the cases, in units of the largest weight so far. The
 * bits of a result therefore depend only on the cutset. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "cutset/cutset.h"
#include "simd/math.h"

typedef struct answering {
    const gbsi_cutset *cutset;
    const gbsi_conditioned *whole;
    gbsi_tables *tables;
    uint32_t
        *home; /* [rest variables] home clique of each variable; NULL: no marginals are wanted */
    double
        *p; /* [states of the rest] marginals of the current case; NULL: no marginals are wanted */
    uint32_t *x; /* [rest variables] a most probable state of the case; NULL: no state is wanted */
} answering;

static void answering_free(answering *a)
{
    gbsi_tables_free(a->tables);
    GBSI_FREE(a->home, a->p, a->x);
}

static gbs_status begin(answering *a, const gbsi_cutset *cutset, gbsi_pool *pool, gbsi_watch *watch,
                        bool marginals, bool state, gbs_error *err)
{
    const size_t n = cutset->rest->n_variables;
    const size_t n_states = cutset->rest->state_offset[n];
    *a = (answering){.cutset = cutset, .whole = cutset->components->model};
    GBSI_PASS(gbsi_tables_new(cutset->tree, cutset->keep, pool, &a->tables, err));
    a->tables->watch = watch;
    a->home = marginals ? gbsi_alloc_array(n, sizeof *a->home) : NULL;
    a->p = marginals ? gbsi_alloc_array(n_states, sizeof *a->p) : NULL;
    a->x = state ? gbsi_alloc_array(n, sizeof *a->x) : NULL;
    if ((marginals && (a->home == NULL || a->p == NULL)) || (state && a->x == NULL)) {
        return gbsi_no_memory(err, "cutset", n_states * sizeof *a->p);
    }
    if (marginals) {
        gbsi_tree_homes(cutset->tree, a->home);
    }
    return GBS_OK;
}

/* ---- one case ------------------------------------------------------------------------------ */

static const uint32_t *state_of_case(const gbsi_cutset *c, size_t at)
{
    return c->cases.state + at * c->cases.n_variables;
}

/* Writes to x the state of each variable of a scope in a case; 0 for variables outside the cutset.
 * @return the number of variables outside the cutset. */
static uint32_t fix_scope(const gbsi_cutset *c, const uint32_t *state, uint32_t n,
                          const uint32_t *scope, uint32_t *x)
{
    uint32_t n_rest = 0;
    assert(n <= GBSI_CUT_SCOPE);
    for (uint32_t q = 0; q < n; ++q) {
        x[q] = 0;
        n_rest += c->local[scope[q]] != GBSI_NONE;
        for (uint32_t k = 0; k < c->cases.n_variables && c->local[scope[q]] == GBSI_NONE; ++k) {
            x[q] = c->cases.variable[k] == scope[q] ? state[k] : x[q];
        }
    }
    return n_rest;
}

/* Writes the log-weights that factor f has in a case, for all joint states of its variables outside
 * the cutset. @param x [n] states of the factor's variables in the case; overwritten. */
static void slice(const gbsi_cutset *c, size_t f, uint32_t n, const uint32_t *scope, uint32_t *x,
                  double *value)
{
    const gbsi_conditioned *whole = c->components->model;
    size_t entry = 0;
    uint32_t k = n;
    while (k > 0) {
        value[entry++] = gbsi_factor_value_at(&whole->factors, whole->arity, f, x);
        for (k = n; k > 0; --k) {
            if (c->local[scope[k - 1]] == GBSI_NONE) {
                continue;
            }
            if (++x[k - 1] < whole->arity[scope[k - 1]]) {
                break;
            }
            x[k - 1] = 0;
        }
    }
}

/* Fills the factors of `rest` with the log-weights that they have in a case. @return the logarithm
 * of the weight of the factors that have only variables of the cutset. */
static double enter_case(const answering *a, size_t at)
{
    const gbsi_cutset *c = a->cutset;
    const gbsi_components *of = c->components;
    const gbsi_factors *from = &a->whole->factors;
    const gbsi_factors *to = &c->rest->factors;
    double constant = 0.0;
    size_t i = 0; /* number of the factor in `rest` */
    for (size_t k = of->factor_start[c->component]; k < of->factor_start[c->component + 1]; ++k) {
        const size_t f = of->factor[k];
        const uint32_t *scope = from->scope + from->scope_start[f];
        const uint32_t n = (uint32_t)(from->scope_start[f + 1] - from->scope_start[f]);
        uint32_t x[GBSI_CUT_SCOPE];
        if (n > GBSI_CUT_SCOPE) { /* a factor of more variables has no variable in the cutset and
                                     does not change */
            ++i;
            continue;
        }
        const uint32_t n_rest = fix_scope(c, state_of_case(c, at), n, scope, x);
        if (n_rest == 0) {
            constant += gbsi_factor_value_at(from, a->whole->arity, f, x);
        } else if (n_rest < n) {
            slice(c, f, n, scope, x, to->table + to->table_start[to->aux[i]]);
        }
        i += n_rest > 0;
    }
    assert(i == to->n_factors); /* every factor of `rest` was filled */
    return constant;
}

/* Answers one case: computes marginals (or a most probable state) of the variables outside the
 * cutset. @return ln of the sum (or maximum) over these variables; minus infinity, with undefined
 * marginals, if no state has positive weight. */
static double answer_case(answering *a, size_t at)
{
    const gbsi_tree *tree = a->cutset->tree;
    double log_z = enter_case(a, at);
    for (uint32_t t = 0; t < tree->n_trees && log_z > -INFINITY; ++t) {
        double part = 0.0;
        gbsi_tree_up(a->tables, t, &part);
        log_z += part;
        if (log_z > -INFINITY && a->p != NULL && !gbsi_watch_stopped(a->tables->watch)) {
            gbsi_tree_down(a->tables, t, a->home, a->p);
        }
        if (log_z > -INFINITY && a->x != NULL) {
            gbsi_tree_trace(a->tables, t, a->x);
        }
    }
    return log_z;
}

/* ---- all cases ------------------------------------------------------------------------------ */

/* Adds to p the marginals of case `at`, times a weight. */
static void add_marginals(const answering *a, size_t at, double weight, double *p)
{
    const gbsi_cutset *c = a->cutset;
    const gbsi_components *of = c->components;
    for (size_t i = of->variable_start[c->component]; i < of->variable_start[c->component + 1];
         ++i) {
        const uint32_t v = of->variable[i];
        const uint32_t u = c->local[v];
        for (uint32_t s = 0; u != GBSI_NONE && s < a->whole->arity[v]; ++s) {
            p[a->whole->state_offset[v] + s] += weight * a->p[c->rest->state_offset[u] + s];
        }
    }
    for (uint32_t k = 0; k < c->cases.n_variables; ++k) {
        const uint32_t v = c->cases.variable[k];
        assert(c->local[v] == GBSI_NONE && state_of_case(c, at)[k] < a->whole->arity[v]);
        p[a->whole->state_offset[v] + state_of_case(c, at)[k]] += weight;
    }
}

/* Multiplies the marginals of the component by a factor. A factor of 0 sets them to 0, even if they
 * were undefined. */
static void scale_marginals(const answering *a, double factor, double *p)
{
    const gbsi_components *of = a->cutset->components;
    const uint32_t component = a->cutset->component;
    for (size_t i = of->variable_start[component]; i < of->variable_start[component + 1]; ++i) {
        const uint32_t v = of->variable[i];
        double *q = p + a->whole->state_offset[v];
        for (uint32_t s = 0; s < a->whole->arity[v]; ++s) {
            q[s] = factor == 0.0 ? 0.0 : q[s] * factor;
        }
    }
}

gbs_status gbsi_cutset_sum(const gbsi_cutset *cutset, gbsi_pool *pool, gbsi_watch *watch, double *p,
                           double *log_z, gbs_error *err)
{
    gbs_status status = GBS_OK;
    answering a = {0};
    double unit = -INFINITY; /* ln of the unit in which `total` is kept */
    double total = 0.0;
    GBSI_TRY(begin(&a, cutset, pool, watch, p != NULL, false, err));
    if (p != NULL) {
        scale_marginals(&a, 0.0, p);
    }
    for (size_t i = 0; i < cutset->cases.n && !gbsi_watch_stopped(watch); ++i) {
        const double log_case = answer_case(&a, i);
        if (log_case == -INFINITY || gbsi_watch_stopped(watch)) {
            continue; /* the case has no weight, or the work was stopped */
        }
        const double scale = log_case > unit ? gbsi_exp(unit - log_case) : 1.0;
        unit = log_case > unit ? log_case : unit;
        const double weight = gbsi_exp(log_case - unit);
        assert(weight <= 1.0 && scale <= 1.0);
        total = total * scale + weight;
        if (p != NULL && scale < 1.0) {
            scale_marginals(&a, scale, p);
        }
        if (p != NULL) {
            add_marginals(&a, i, weight, p);
        }
    }
    *log_z = unit + gbsi_log(total);
    if (p != NULL) {
        scale_marginals(&a, 1.0 / total, p);
    }

cleanup:
    answering_free(&a);
    return status;
}

gbs_status gbsi_cutset_maximise(const gbsi_cutset *cutset, gbsi_pool *pool, gbsi_watch *watch,
                                uint32_t *x, double *log_weight, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_components *of = cutset->components;
    answering a = {0};
    *log_weight = -INFINITY;
    GBSI_TRY(begin(&a, cutset, pool, watch, false, true, err));
    for (size_t i = 0; i < cutset->cases.n && !gbsi_watch_stopped(watch); ++i) {
        const double found = answer_case(&a, i);
        if (!(found > *log_weight) || gbsi_watch_stopped(watch)) {
            continue;
        }
        *log_weight = found;
        for (size_t k = of->variable_start[cutset->component];
             k < of->variable_start[cutset->component + 1]; ++k) {
            const uint32_t u = cutset->local[of->variable[k]];
            x[of->variable[k]] = u == GBSI_NONE ? 0 : a.x[u];
        }
        for (uint32_t k = 0; k < cutset->cases.n_variables; ++k) {
            x[cutset->cases.variable[k]] = state_of_case(cutset, i)[k];
        }
    }

cleanup:
    answering_free(&a);
    return status;
}
