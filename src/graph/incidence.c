/* SPDX-License-Identifier: Apache-2.0 */
/* Variable-factor incidence both ways, as compressed rows made by one counting sort. */
#include "graph/graph.h"

#include <assert.h>

#include "base/memory.h"

/* Scopes that couple something, and how many variables they name together. */
static void count_scopes(const gbsi_factors *factors, size_t *n_scopes, size_t *n_entries)
{
    *n_scopes = 0;
    *n_entries = 0;
    for (size_t f = 0; f < factors->n_factors; f++) {
        const size_t n = factors->scope_start[f + 1] - factors->scope_start[f];
        if (n >= 2) {
            *n_scopes += 1;
            *n_entries += n;
        }
    }
}

static gbs_status take_scopes(gbsi_graph *graph, size_t n_scopes, size_t n_entries, gbs_error *err)
{
    graph->n_scopes = n_scopes;
    graph->scope_start = gbsi_alloc_array(n_scopes + 1, sizeof *graph->scope_start);
    graph->scope = gbsi_alloc_array(n_entries, sizeof *graph->scope);
    graph->incident = gbsi_alloc_array(n_entries, sizeof *graph->incident);
    /* One more than needed: the sort below counts two places ahead. */
    graph->incident_start =
        gbsi_alloc_array_zero((size_t)graph->n_variables + 2, sizeof *graph->incident_start);
    if (graph->scope_start == NULL || graph->scope == NULL || graph->incident == NULL ||
        graph->incident_start == NULL) {
        return gbsi_no_memory(err, "graph", n_entries * (sizeof(uint32_t) + sizeof(size_t)));
    }
    return GBS_OK;
}

static void fill_scopes(gbsi_graph *graph, const gbsi_edges *extra)
{
    const gbsi_factors *factors = &graph->model->factors;
    size_t s = 0;
    size_t at = 0;
    for (size_t f = 0; f < factors->n_factors; f++) {
        const size_t n = factors->scope_start[f + 1] - factors->scope_start[f];
        if (n >= 2) {
            graph->scope_start[s++] = at;
            memcpy(graph->scope + at, factors->scope + factors->scope_start[f],
                   n * sizeof *graph->scope);
            at += n;
        }
    }
    for (size_t e = 0; extra != NULL && e < extra->n; e++) {
        assert(extra->pair[2 * e] != extra->pair[2 * e + 1]);
        graph->scope_start[s++] = at;
        graph->scope[at++] = extra->pair[2 * e];
        graph->scope[at++] = extra->pair[2 * e + 1];
    }
    assert(s == graph->n_scopes);
    graph->scope_start[s] = at;
}

/* Counting sort of the (variable, scope) pairs by variable. The counts of v stand at v + 2 until
 * the running sums are made; then start[v + 1] is where the next scope of v goes, and ends as
 * where those of v + 1 begin. Scopes come in order, so every row is ascending. */
static void fill_incident(gbsi_graph *graph)
{
    size_t *start = graph->incident_start;
    const size_t n = graph->n_variables;
    const size_t n_entries = graph->scope_start[graph->n_scopes];
    for (size_t i = 0; i < n_entries; i++) {
        assert(graph->scope[i] < n);
        start[(size_t)graph->scope[i] + 2]++;
    }
    for (size_t v = 2; v <= n; v++) {
        start[v] += start[v - 1];
    }
    for (size_t s = 0; s < graph->n_scopes; s++) {
        for (size_t i = graph->scope_start[s]; i < graph->scope_start[s + 1]; i++) {
            graph->incident[start[(size_t)graph->scope[i] + 1]++] = s;
        }
    }
}

gbs_status gbsi_graph_new(const gbsi_conditioned *model, const gbsi_edges *extra,
                          gbsi_graph **graph, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_graph *made = gbsi_alloc_zero(sizeof *made);
    if (made == NULL) {
        return gbsi_no_memory(err, "graph", sizeof *made);
    }
    made->model = model;
    made->n_variables = model->n_variables;
    made->all = extra != NULL && extra->all;
    size_t n_scopes = 0;
    size_t n_entries = 0;
    count_scopes(&model->factors, &n_scopes, &n_entries);
    const size_t n_extra = extra == NULL ? 0 : extra->n;
    if (n_extra > (SIZE_MAX / 16 - n_entries) / 2) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_LIMIT, "graph: %zu extra edges", n_extra));
    }
    GBSI_TRY(take_scopes(made, n_scopes + n_extra, n_entries + 2 * n_extra, err));
    fill_scopes(made, extra);
    fill_incident(made);
    *graph = made;
    made = NULL;

cleanup:
    gbsi_graph_free(made);
    return status;
}

void gbsi_graph_free(gbsi_graph *graph)
{
    if (graph == NULL) {
        return;
    }
    gbsi_free(graph->scope_start);
    gbsi_free(graph->scope);
    gbsi_free(graph->incident_start);
    gbsi_free(graph->incident);
    gbsi_free(graph);
}
