/* SPDX-License-Identifier: Apache-2.0 */
/* ln Z, MAP and marginal MAP by component: the sum over all states of a product that falls into
 * factors over disjoint variables is the product of the sums, and so is its maximum. */
#include "gibbsite/exact.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "exact/components.h"
#include "exact/local.h"
#include "exact/walk.h"
#include "simd/math.h"

typedef struct answers {
    gbsi_conditioned *whole;
    gbsi_graph *graph;
    gbsi_components *components;
    uint32_t *local; /* [n_variables] scratch of gbsi_components_extract() */
} answers;

static void answers_free(answers *a)
{
    gbsi_free(a->local);
    gbsi_components_free(a->components);
    gbsi_graph_free(a->graph);
    gbsi_conditioned_free(a->whole);
}

static gbs_status impossible(gbs_error *err)
{
    return gbsi_fail(err, GBS_ERR_IMPOSSIBLE,
                     "the evidence has probability zero: no state has positive weight");
}

static gbs_status answers_init(answers *a, const gbs_model *model, const gbs_evidence *evidence,
                               gbs_error *err)
{
    gbs_status status = GBS_OK;
    GBSI_TRY(gbsi_condition(model, evidence, &a->whole, err));
    if (a->whole->log_constant == -INFINITY) {
        return impossible(err);
    }
    GBSI_TRY(gbsi_graph_new(a->whole, NULL, &a->graph, err));
    GBSI_TRY(gbsi_components_new(a->graph, UINT64_MAX, &a->components, err));
    a->local = gbsi_alloc_array(a->whole->n_variables, sizeof *a->local);
    if (a->local == NULL) {
        status = gbsi_no_memory(err, "component", a->whole->n_variables * sizeof *a->local);
    }

cleanup:
    return status;
}

static gbs_status check_size(const answers *a, uint32_t component, gbs_error *err)
{
    const gbsi_components *c = a->components;
    const uint64_t n = c->n_states[component];
    if (n <= GBS_EXACT_MAX_STATES) {
        return GBS_OK;
    }
    const uint32_t v = gbsi_components_first(c, component);
    return gbsi_fail(err, GBS_ERR_LIMIT,
                     "the component of variable %" PRIu32 " has %s%" PRIu64
                     " states; exact enumeration holds %" PRIu64,
                     a->whole->user_variable[v], n == UINT64_MAX ? "more than " : "", n,
                     GBS_EXACT_MAX_STATES);
}

static gbs_status check_sizes(const answers *a, gbs_error *err)
{
    gbs_status status = GBS_OK;
    for (uint32_t i = 0; status >= 0 && i < a->components->n; i++) {
        status = check_size(a, i, err);
    }
    return status;
}

/* ---- ln Z -------------------------------------------------------------------------------- */

static gbs_status component_log_z(answers *a, uint32_t component, double *log_z, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_conditioned *part = NULL;
    double *p = NULL;
    GBSI_TRY(gbsi_components_extract(a->components, component, a->local, &part, err));
    const size_t n = part->state_offset[part->n_variables];
    p = gbsi_alloc_array(n, sizeof *p);
    if (p == NULL) {
        status = gbsi_no_memory(err, "component", n * sizeof *p);
        goto cleanup;
    }
    status = gbsi_enumerate(part, p, log_z, err);
    if (status == GBS_ERR_IMPOSSIBLE) {
        status = impossible(err);
    }

cleanup:
    gbsi_free(p);
    gbsi_conditioned_free(part);
    return status;
}

gbs_status gbs_exact_log_z(const gbs_model *model, const gbs_evidence *evidence, double *log_z,
                           gbs_error *err)
{
    gbs_status status = GBS_OK;
    answers a = {0};
    GBSI_TRY(answers_init(&a, model, evidence, err));
    GBSI_TRY(check_sizes(&a, err));
    gbsi_sum total = {.high = a.whole->log_constant};
    for (uint32_t i = 0; i < a.components->n; i++) {
        double part = 0.0;
        GBSI_TRY(component_log_z(&a, i, &part, err));
        total = gbsi_sum_add(total, (gbsi_sum){.high = part});
    }
    *log_z = total.high + total.low;

cleanup:
    answers_free(&a);
    return status;
}

/* ---- MAP --------------------------------------------------------------------------------- */

typedef struct best {
    double logw;
    uint64_t index;
} best;

static double visit_best(void *context, uint64_t index, double logw)
{
    best *b = context;
    if (logw > b->logw) {
        b->logw = logw;
        b->index = index;
    }
    return 0.0;
}

/* The user's states of the first n variables of a part. @param index mixed radix, variable 0
 * slowest. */
static void set_states(const gbsi_conditioned *part, uint32_t n, uint64_t index, uint32_t *state)
{
    for (uint32_t v = n; v > 0; v--) {
        const uint32_t u = v - 1;
        const uint32_t x = (uint32_t)(index % part->arity[u]);
        index /= part->arity[u];
        state[part->user_variable[u]] = part->user_state[part->state_offset[u] + x];
    }
}

static gbs_status component_map(answers *a, uint32_t component, uint32_t *state,
                                double *log_density, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_conditioned *part = NULL;
    best b = {.logw = -INFINITY};
    GBSI_TRY(gbsi_components_extract(a->components, component, a->local, &part, err));
    GBSI_TRY(gbsi_walk(part, visit_best, &b, NULL, NULL, err));
    if (b.logw == -INFINITY) {
        status = impossible(err);
        goto cleanup;
    }
    if (b.logw == INFINITY) {
        status = gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                           "enumeration: the log-weights of a state add up beyond double range");
        goto cleanup;
    }
    set_states(part, part->n_variables, b.index, state);
    *log_density = b.logw;

cleanup:
    gbsi_conditioned_free(part);
    return status;
}

static gbs_status zero_incumbent(gbs_error *err)
{
    return gbsi_fail(err, GBS_ERR_ARGUMENT, "incumbent: the state has probability zero");
}

/* The log density of the incumbent within a component. @param x [n_variables] scratch. */
static gbs_status keep_component(const answers *a, uint32_t component, const uint32_t *incumbent,
                                 uint32_t *x, double *log_density, gbs_error *err)
{
    const gbsi_components *c = a->components;
    const gbsi_conditioned *whole = a->whole;
    for (size_t i = c->variable_start[component]; i < c->variable_start[component + 1]; i++) {
        const uint32_t v = c->variable[i];
        const uint32_t *states = whole->user_state + whole->state_offset[v];
        x[v] = 0;
        while (x[v] < whole->arity[v] && states[x[v]] != incumbent[whole->user_variable[v]]) {
            x[v]++;
        }
        if (x[v] == whole->arity[v]) {
            return zero_incumbent(err);
        }
    }
    gbsi_sum sum = {0};
    for (size_t i = c->factor_start[component]; i < c->factor_start[component + 1]; i++) {
        const double value = gbsi_factor_value(&whole->factors, whole->arity, c->factor[i], x);
        if (value == -INFINITY) {
            return zero_incumbent(err);
        }
        sum = gbsi_sum_add(sum, (gbsi_sum){.high = value});
    }
    *log_density = sum.high + sum.low;
    return GBS_OK;
}

static gbs_status check_incumbent(const answers *a, const uint32_t *incumbent, gbs_error *err)
{
    const gbs_model *model = a->whole->model;
    for (uint32_t u = 0; u < model->n_variables; u++) {
        if (a->whole->fixed_state[u] != GBSI_NONE && a->whole->fixed_state[u] != incumbent[u]) {
            return zero_incumbent(err);
        }
    }
    return GBS_OK;
}

static gbs_status map_components(answers *a, const uint32_t *incumbent, uint32_t *state,
                                 double *log_density, uint32_t *n_kept, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_components *c = a->components;
    gbsi_sum total = {.high = a->whole->log_constant};
    uint32_t *x = gbsi_alloc_array(a->whole->n_variables, sizeof *x);
    if (x == NULL) {
        return gbsi_no_memory(err, "component", a->whole->n_variables * sizeof *x);
    }
    *n_kept = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        double part = 0.0;
        if (c->n_states[i] <= GBS_EXACT_MAX_STATES) {
            GBSI_TRY(component_map(a, i, state, &part, err));
        } else {
            GBSI_TRY(keep_component(a, i, incumbent, x, &part, err));
            *n_kept += (uint32_t)(c->variable_start[i + 1] - c->variable_start[i]);
        }
        total = gbsi_sum_add(total, (gbsi_sum){.high = part});
    }
    *log_density = total.high + total.low;

cleanup:
    gbsi_free(x);
    return status;
}

gbs_status gbs_exact_map(const gbs_model *model, const gbs_evidence *evidence,
                         const uint32_t *incumbent, uint32_t *state, double *log_density,
                         uint32_t *n_kept, gbs_error *err)
{
    gbs_status status = GBS_OK;
    answers a = {0};
    double found = 0.0;
    uint32_t kept = 0;
    const size_t n = model->n_variables;
    uint32_t *made = gbsi_alloc_array(n, sizeof *made);
    if (made == NULL) {
        return gbsi_no_memory(err, "state", n * sizeof *made);
    }
    GBSI_TRY(answers_init(&a, model, evidence, err));
    if (incumbent == NULL) {
        GBSI_TRY(check_sizes(&a, err));
        memcpy(made, a.whole->fixed_state, n * sizeof *made);
    } else {
        GBSI_TRY(check_incumbent(&a, incumbent, err));
        memcpy(made, incumbent, n * sizeof *made);
    }
    GBSI_TRY(map_components(&a, incumbent, made, &found, &kept, err));
    memcpy(state, made, n * sizeof *state);
    if (log_density != NULL) {
        *log_density = found;
    }
    if (n_kept != NULL) {
        *n_kept = kept;
    }

cleanup:
    answers_free(&a);
    gbsi_free(made);
    return status;
}

/* ---- marginal MAP ------------------------------------------------------------------------ */

/* Visits come with the query variables slowest, so that all states of one query state follow each
 * other. */
typedef struct marginal_best {
    double max;      /* of all log densities: weights are relative to it */
    uint64_t n_rest; /* states of the other variables */
    uint64_t at;     /* query state being summed */
    gbsi_sum sum;
    uint64_t best;
    double best_sum;
} marginal_best;

static void close_sum(marginal_best *m)
{
    const double sum = m->sum.high + m->sum.low;
    if (sum > m->best_sum) {
        m->best_sum = sum;
        m->best = m->at;
    }
    m->sum = (gbsi_sum){0};
}

static double visit_marginal(void *context, uint64_t index, double logw)
{
    marginal_best *m = context;
    const uint64_t at = index / m->n_rest;
    if (at != m->at) {
        close_sum(m);
        m->at = at;
    }
    m->sum = gbsi_sum_add(m->sum, (gbsi_sum){.high = gbsi_exp(logw - m->max)});
    return 0.0;
}

/* Query variables of a component first, the order else kept. @return how many they are.
 * @param scratch [n_variables]. */
static uint32_t query_first(const answers *a, uint32_t component, const uint8_t *is_query,
                            uint32_t *scratch)
{
    const gbsi_components *c = a->components;
    uint32_t *variable = c->variable + c->variable_start[component];
    const size_t n = c->variable_start[component + 1] - c->variable_start[component];
    uint32_t n_query = 0;
    size_t n_rest = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_query[a->whole->user_variable[variable[i]]] != 0) {
            variable[n_query++] = variable[i];
        } else {
            scratch[n_rest++] = variable[i];
        }
    }
    memcpy(variable + n_query, scratch, n_rest * sizeof *variable);
    return n_query;
}

static gbs_status component_mmap(answers *a, uint32_t component, const uint8_t *is_query,
                                 uint32_t *state, double *log_p, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_conditioned *part = NULL;
    marginal_best m = {.n_rest = 1, .best_sum = -INFINITY};
    const uint32_t n_query = query_first(a, component, is_query, a->local);
    GBSI_TRY(gbsi_components_extract(a->components, component, a->local, &part, err));
    for (uint32_t v = n_query; v < part->n_variables; v++) {
        m.n_rest *= part->arity[v];
    }
    status = gbsi_walk_max(part, &m.max, err);
    if (status == GBS_ERR_IMPOSSIBLE) {
        status = impossible(err);
    }
    GBSI_TRY(status);
    GBSI_TRY(gbsi_walk(part, visit_marginal, &m, NULL, NULL, err));
    close_sum(&m);
    set_states(part, n_query, m.best, state);
    *log_p = m.max + gbsi_log(m.best_sum);

cleanup:
    gbsi_conditioned_free(part);
    return status;
}

static gbs_status mark_query(const gbs_model *model, uint32_t n, const uint32_t *query,
                             uint8_t *is_query, gbs_error *err)
{
    for (uint32_t i = 0; i < n; i++) {
        if (query[i] >= model->n_variables) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "query: variable %" PRIu32 ", but the model has %" PRIu32, query[i],
                             model->n_variables);
        }
        if (is_query[query[i]] != 0) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "query: variable %" PRIu32 " twice", query[i]);
        }
        is_query[query[i]] = 1;
    }
    return GBS_OK;
}

gbs_status gbs_exact_mmap(const gbs_model *model, const gbs_evidence *evidence, uint32_t n,
                          const uint32_t *query, uint32_t *state, double *log_p, gbs_error *err)
{
    gbs_status status = GBS_OK;
    answers a = {0};
    const size_t n_all = model->n_variables;
    uint8_t *is_query = gbsi_alloc_array_zero(n_all, 1);
    uint32_t *made = gbsi_alloc_array(n_all, sizeof *made);
    if (is_query == NULL || made == NULL) {
        status = gbsi_no_memory(err, "query", n_all * sizeof *made);
        goto cleanup;
    }
    GBSI_TRY(mark_query(model, n, query, is_query, err));
    GBSI_TRY(answers_init(&a, model, evidence, err));
    GBSI_TRY(check_sizes(&a, err));
    memcpy(made, a.whole->fixed_state, n_all * sizeof *made);
    gbsi_sum total = {.high = a.whole->log_constant};
    for (uint32_t i = 0; i < a.components->n; i++) {
        double part = 0.0;
        GBSI_TRY(component_mmap(&a, i, is_query, made, &part, err));
        total = gbsi_sum_add(total, (gbsi_sum){.high = part});
    }
    for (uint32_t i = 0; i < n; i++) {
        state[i] = made[query[i]];
    }
    if (log_p != NULL) {
        *log_p = total.high + total.low;
    }

cleanup:
    answers_free(&a);
    gbsi_free(is_query);
    gbsi_free(made);
    return status;
}
