/* SPDX-License-Identifier: Apache-2.0 */
/* Turns records of a DimmWitted factor graph into variables and into logical factors with the same
 * functions. Each observation becomes a hard factor of its variable, behind all other factors. The
 * evidence is thus part of the model, and conditioning finds the evidence before sampling
 * begins. */
#include "models/dimmwitted.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/factors.h"

enum { BOOLEAN = 0, CATEGORICAL = 1 };

gbs_status gbsi_dw_graph_init(gbsi_dw_graph *graph, gbs_error *err)
{
    const size_t n = graph->counts.n_variables;
    graph->arity = gbsi_alloc_array_zero(n, sizeof *graph->arity);
    graph->clamped = gbsi_alloc_array(n, sizeof *graph->clamped);
    graph->domain = gbsi_alloc_array(n, sizeof *graph->domain);
    graph->n_domain = gbsi_alloc_array_zero(n, sizeof *graph->n_domain);
    GBSI_PASS(
        GBSI_HAVE(err, "variables", graph->arity, graph->clamped, graph->domain, graph->n_domain));
    memset(graph->domain, 0xff, n * sizeof *graph->domain);
    return gbs_builder_new(&graph->builder, err);
}

gbs_status gbsi_dw_graph_init_weights(gbsi_dw_graph *graph, gbs_error *err)
{
    const size_t n = graph->counts.n_weights;
    graph->weight = gbsi_alloc_array(n, sizeof *graph->weight);
    graph->fixed = gbsi_alloc_array(n, sizeof *graph->fixed);
    graph->weighed = gbsi_alloc_array_zero(n, sizeof *graph->weighed);
    GBSI_PASS(GBSI_HAVE(err, "weights", graph->weight, graph->fixed, graph->weighed));
    return GBS_OK;
}

void gbsi_dw_graph_free(gbsi_dw_graph *graph)
{
    gbs_builder_free(graph->builder);
    GBSI_FREE(graph->arity, graph->clamped, graph->domain, graph->n_domain, graph->value,
              graph->weight, graph->fixed, graph->weighed, graph->scope, graph->state);
    *graph = (gbsi_dw_graph){0};
}

/* ---- domains ------------------------------------------------------------------------------- */

static gbs_status check_id(gbsi_dw_graph *g, size_t field, const char *what, uint64_t id,
                           uint64_t n, gbs_error *err)
{
    g->field = field;
    return id < n ? GBS_OK
                  : gbsi_fail(err, GBS_ERR_ARGUMENT,
                              "found %s %" PRIu64 ", expected less than %" PRIu64
                              ", the number in the meta file",
                              what, id, n);
}

static gbs_status check_cardinality(gbsi_dw_graph *g, size_t field, uint64_t n, gbs_error *err)
{
    g->field = field;
    return n >= 1 && n <= GBS_MAX_ARITY
               ? GBS_OK
               : gbsi_fail(err, GBS_ERR_ARGUMENT, "found cardinality %" PRIu64 ", expected 1 to %u",
                           n, GBS_MAX_ARITY);
}

static gbs_status check_truthiness(gbsi_dw_graph *g, uint64_t n, const double *truthiness,
                                   gbs_error *err)
{
    for (uint64_t i = 0; truthiness != NULL && i < n; i++) {
        if (!(truthiness[i] >= 0 && truthiness[i] <= 1)) {
            g->field = 3 + 2 * i;
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "found truthiness %g, expected a number from 0 to 1", truthiness[i]);
        }
        g->n_truthful += truthiness[i] != 0;
    }
    return GBS_OK;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

gbs_status gbsi_dw_add_domain(gbsi_dw_graph *graph, uint64_t id, uint64_t n, uint64_t *value,
                              const double *truthiness, gbs_error *err)
{
    GBSI_PASS(check_id(graph, 0, "variable", id, graph->counts.n_variables, err));
    GBSI_PASS(check_cardinality(graph, 1, n, err));
    if (graph->domain[id] != SIZE_MAX) {
        graph->field = 0;
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found variable %" PRIu64 ", which has a domain already", id);
    }
    GBSI_PASS(check_truthiness(graph, n, truthiness, err));
    qsort(value, n, sizeof *value, by_value);
    for (uint64_t i = 1; i < n; i++) {
        if (value[i] == value[i - 1]) {
            graph->field = 2;
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "found value %" PRIu64 " twice in the domain of variable %" PRIu64,
                             value[i], id);
        }
    }
    GBSI_PASS(gbsi_reserve(&graph->value, &graph->value_capacity, graph->n_values + n,
                           sizeof *value, "domains", err));
    memcpy((uint64_t *)graph->value + graph->n_values, value, n * sizeof *value);
    graph->domain[id] = graph->n_values;
    graph->n_domain[id] = (uint32_t)n;
    graph->n_values += n;
    return GBS_OK;
}

/* Finds the state of a domain value. The state is the index of the value in the ascending domain.
 * @return false if the domain does not have the value. */
static bool state_of(const gbsi_dw_graph *g, uint64_t id, uint32_t arity, uint64_t value,
                     uint32_t *state)
{
    if (g->domain[id] == SIZE_MAX) {
        *state = (uint32_t)value;
        return value < arity;
    }
    const uint64_t *domain = (const uint64_t *)g->value + g->domain[id];
    uint32_t low = 0;
    for (uint32_t n = arity; n > 1;) {
        const uint32_t half = n / 2;
        low += domain[low + half] <= value ? half : 0;
        n -= half;
    }
    *state = low;
    return domain[low] == value;
}

static gbs_status refuse_value(const gbsi_dw_graph *g, uint64_t id, uint32_t arity, uint64_t value,
                               gbs_error *err)
{
    char values[64];
    if (g->domain[id] == SIZE_MAX) {
        (void)snprintf(values, sizeof values, "0 to %u", arity - 1);
    } else {
        (void)snprintf(values, sizeof values, "one of the %u in its domain", arity);
    }
    return gbsi_fail(err, GBS_ERR_ARGUMENT,
                     "found value %" PRIu64 " of variable %" PRIu64 ", expected %s", value, id,
                     values);
}

/* ---- variables ----------------------------------------------------------------------------- */

static gbs_status check_type(gbsi_dw_graph *g, uint64_t id, uint64_t type, uint64_t cardinality,
                             gbs_error *err)
{
    g->field = 3;
    if (type != BOOLEAN && type != CATEGORICAL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found type %" PRIu64 ", expected 0 (Boolean) or 1 (categorical)", type);
    }
    if (type == BOOLEAN && g->domain[id] != SIZE_MAX) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found variable %" PRIu64 " as Boolean, which has a domain", id);
    }
    g->field = 4;
    if (type == BOOLEAN && cardinality != 2) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found cardinality %" PRIu64 " of a Boolean variable, expected 2",
                         cardinality);
    }
    if (g->domain[id] != SIZE_MAX && cardinality != g->n_domain[id]) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found cardinality %" PRIu64 ", expected the %u values of its domain",
                         cardinality, g->n_domain[id]);
    }
    return GBS_OK;
}

gbs_status gbsi_dw_add_variable(gbsi_dw_graph *graph, uint64_t id, uint64_t role, uint64_t initial,
                                uint64_t type, uint64_t cardinality, gbs_error *err)
{
    uint32_t state = UINT32_MAX;
    GBSI_PASS(check_id(graph, 0, "variable", id, graph->counts.n_variables, err));
    if (graph->arity[id] != 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found variable %" PRIu64 " again, expected each once", id);
    }
    graph->field = 1;
    if (role > 2) {
        return gbsi_fail(
            err, GBS_ERR_ARGUMENT,
            "found role %" PRIu64 ", expected 0 (query), 1 (evidence) or 2 (observation)", role);
    }
    GBSI_PASS(check_cardinality(graph, 4, cardinality, err));
    GBSI_PASS(check_type(graph, id, type, cardinality, err));
    /* the initial value of a query is not checked, because the model does not contain this value */
    if (role > 0 && !state_of(graph, id, (uint32_t)cardinality, initial, &state)) {
        graph->field = 2;
        return refuse_value(graph, id, (uint32_t)cardinality, initial, err);
    }
    graph->arity[id] = (uint32_t)cardinality;
    graph->clamped[id] = state;
    return GBS_OK;
}

/* Labels the states of a variable with the decimal numbers of its domain.
 * @param label, text room for GBS_MAX_ARITY labels and their characters. */
static gbs_status label_variable(gbsi_dw_graph *g, uint32_t id, const char **label,
                                 char (*text)[21], gbs_error *err)
{
    const uint64_t *value = (const uint64_t *)g->value + g->domain[id];
    for (uint32_t a = 0; a < g->arity[id]; a++) {
        (void)snprintf(text[a], sizeof text[a], "%" PRIu64, value[a]);
        label[a] = text[a];
    }
    return gbs_builder_label_states(g->builder, id, label, err);
}

/* Whether the k values of a domain differ from 0 .. k-1. The values are distinct and ascending, so
 * comparing the last value with k-1 is enough. */
static bool has_own_values(const gbsi_dw_graph *g, uint32_t id)
{
    return g->domain[id] != SIZE_MAX &&
           ((const uint64_t *)g->value)[g->domain[id] + g->arity[id] - 1] != g->arity[id] - 1;
}

/* Checks that the model does not need too much memory for labels. If one variable has labels, the
 * model has an array over the states of all variables. */
static gbs_status check_label_room(const gbsi_dw_graph *g, size_t n_bytes, gbs_error *err)
{
    const uint64_t always = (uint64_t)1 << 24;
    uint64_t n_states = 0;
    for (uint32_t v = 0; v < g->counts.n_variables; v++) {
        n_states += g->arity[v];
    }
    return n_states <= always + n_bytes
               ? GBS_OK
               : gbsi_fail(err, GBS_ERR_LIMIT,
                           "%" PRIu64 " states, of which some have values of their own: more than "
                           "%" PRIu64 " and the bytes of the files",
                           n_states, always);
}

static gbs_status label_all(gbsi_dw_graph *g, size_t n_bytes, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const char **label = NULL;
    char(*text)[21] = NULL; /* room for 20 digits and a 0 */
    for (uint32_t v = 0; v < g->counts.n_variables; v++) {
        if (!has_own_values(g, v)) {
            continue;
        }
        if (text == NULL) {
            GBSI_TRY(check_label_room(g, n_bytes, err));
            label = gbsi_alloc_array(GBS_MAX_ARITY, sizeof *label);
            text = gbsi_alloc_array(GBS_MAX_ARITY, sizeof *text);
            GBSI_TRY(GBSI_HAVE(err, "labels", label, text));
        }
        GBSI_TRY(label_variable(g, v, label, text, err));
    }

cleanup:
    GBSI_FREE(label, text);
    return status;
}

gbs_status gbsi_dw_finish_variables(gbsi_dw_graph *graph, size_t n_bytes, gbs_error *err)
{
    const uint32_t n = (uint32_t)graph->counts.n_variables;
    for (uint32_t v = 0; v < n; v++) {
        if (graph->arity[v] == 0) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "announces %u variables, found none with id %u",
                             n, v);
        }
    }
    GBSI_PASS(gbs_builder_add_variables(graph->builder, n, graph->arity, NULL, err));
    return label_all(graph, n_bytes, err);
}

/* ---- weights ------------------------------------------------------------------------------- */

gbs_status gbsi_dw_add_weight(gbsi_dw_graph *graph, uint64_t id, uint64_t fixed, double value,
                              gbs_error *err)
{
    GBSI_PASS(check_id(graph, 0, "weight", id, graph->counts.n_weights, err));
    if (graph->weighed[id] != 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found weight %" PRIu64 " again, expected each once", id);
    }
    graph->field = 1;
    if (fixed > 1) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "found isFixed %" PRIu64 ", expected 0 or 1",
                         fixed);
    }
    graph->field = 2;
    if (!isfinite(value)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "found a weight of %g, expected a finite one",
                         value);
    }
    graph->weighed[id] = 1;
    graph->fixed[id] = (uint8_t)fixed;
    graph->weight[id] = value;
    return GBS_OK;
}

gbs_status gbsi_dw_finish_weights(gbsi_dw_graph *graph, gbs_error *err)
{
    for (uint64_t w = 0; w < graph->counts.n_weights; w++) {
        if (graph->weighed[w] == 0) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "announces %" PRIu64 " weights, found none with id %" PRIu64,
                             graph->counts.n_weights, w);
        }
    }
    return gbs_builder_add_weights(graph->builder, (size_t)graph->counts.n_weights, graph->weight,
                                   graph->fixed, NULL, err);
}

/* ---- factors ------------------------------------------------------------------------------- */

static bool is_function(uint64_t function)
{
    return function <= GBS_LOGICAL_IMPLY_MLN && gbsi_logical_known((unsigned)function);
}

static gbs_status check_factor(gbsi_dw_graph *g, uint64_t function, uint32_t n, gbs_error *err)
{
    g->field = 0;
    if (g->n_factors == g->counts.n_factors) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found one factor more than the %" PRIu64 " of the meta file",
                         g->counts.n_factors);
    }
    if (!is_function(function)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found function %" PRIu64 ", expected one of 0 to 4, 7 to 9, 12 and 13",
                         function);
    }
    g->field = 1;
    if (n > g->counts.n_edges - g->n_edges) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found factor %" PRIu64 " of %u variables, with which arities add up to "
                         "more than the %" PRIu64 " edges of the meta file",
                         g->n_factors, n, g->counts.n_edges);
    }
    return GBS_OK;
}

static gbs_status take_literals(gbsi_dw_graph *g, uint32_t n, const uint64_t *variable,
                                const uint64_t *equal_to, gbs_error *err)
{
    GBSI_PASS(gbsi_reserve(&g->scope, &g->scope_capacity, n, sizeof(uint32_t), "factor", err));
    GBSI_PASS(gbsi_reserve(&g->state, &g->state_capacity, n, sizeof(uint32_t), "factor", err));
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t v = variable[i];
        GBSI_PASS(check_id(g, 2 + 2 * (size_t)i, "variable", v, g->counts.n_variables, err));
        if (!state_of(g, v, g->arity[v], equal_to[i], (uint32_t *)g->state + i)) {
            g->field = 3 + 2 * (size_t)i;
            return refuse_value(g, v, g->arity[v], equal_to[i], err);
        }
        ((uint32_t *)g->scope)[i] = (uint32_t)v;
    }
    return GBS_OK;
}

gbs_status gbsi_dw_add_factor(gbsi_dw_graph *graph, uint64_t function, uint32_t n,
                              const uint64_t *variable, const uint64_t *equal_to, uint64_t weight,
                              double feature, gbs_error *err)
{
    GBSI_PASS(check_factor(graph, function, n, err));
    GBSI_PASS(take_literals(graph, n, variable, equal_to, err));
    GBSI_PASS(check_id(graph, 2 + 2 * (size_t)n, "weight", weight, graph->counts.n_weights, err));
    graph->field = 3 + 2 * (size_t)n;
    /* An infinite product would make the factor hard, and is therefore refused. */
    const double w = graph->weight[weight] * feature;
    if (!isfinite(feature) || !isfinite(w)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found feature %g, with weight %g: expected a finite product", feature,
                         graph->weight[weight]);
    }
    graph->field = 2;
    GBSI_PASS(gbs_builder_add_logical(graph->builder, (gbs_logical_function)function, n,
                                      graph->scope, graph->state, w, err));
    GBSI_PASS(gbs_builder_tie_factor(graph->builder, (size_t)graph->n_factors, (uint32_t)weight,
                                     feature, err));
    graph->n_factors++;
    graph->n_edges += n;
    return GBS_OK;
}

gbs_status gbsi_dw_finish_factors(gbsi_dw_graph *graph, gbs_model **model, gbs_error *err)
{
    const gbsi_dw_counts *counts = &graph->counts;
    if (graph->n_factors != counts->n_factors) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "announces %" PRIu64 " factors, found %" PRIu64,
                         counts->n_factors, graph->n_factors);
    }
    if (graph->n_edges != counts->n_edges) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "announces %" PRIu64 " edges, found factors whose arities add up to "
                         "%" PRIu64,
                         counts->n_edges, graph->n_edges);
    }
    for (uint32_t v = 0; v < counts->n_variables; v++) {
        if (graph->clamped[v] != UINT32_MAX) {
            GBSI_PASS(gbs_builder_add_logical(graph->builder, GBS_LOGICAL_IS_TRUE, 1, &v,
                                              &graph->clamped[v], INFINITY, err));
        }
    }
    return gbs_builder_build(graph->builder, model, err);
}
