/* SPDX-License-Identifier: Apache-2.0 */
/* Makes parts by METIS. METIS gets a graph of the variables, in which a short scope is a clique and
 * a long scope is a ring. */
#include "graph/partition.h"

#include "base/memory.h"
#include "config.h"

#ifdef GBSI_HAVE_METIS

#include <metis.h>

#define LONG_SCOPE 8u /* scopes with more variables become rings */
/* Least number of variables per part; with fewer variables METIS may leave parts empty and print
 * messages
 */
#define LEAST_OF_PART 32u
#define SEED          1

typedef struct edges {
    const gbsi_graph *graph;
    idx_t *start; /* [n + 1] offsets of the variables in `to` */
    idx_t *to;    /* neighbours; NULL while they are counted */
} edges;

static void add_edge(edges *e, uint32_t a, uint32_t b)
{
    if (e->to == NULL) {
        e->start[a + 1]++;
        e->start[b + 1]++;
    } else {
        e->to[e->start[a]++] = (idx_t)b;
        e->to[e->start[b]++] = (idx_t)a;
    }
}

static void add_scope(edges *e, const uint32_t *scope, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (n > LONG_SCOPE) {
            add_edge(e, scope[i], scope[(i + 1) % n]);
        }
        for (size_t j = 0; n <= LONG_SCOPE && j < i; j++) {
            add_edge(e, scope[i], scope[j]);
        }
    }
}

static void add_all(edges *e)
{
    const gbsi_graph *graph = e->graph;
    for (size_t s = 0; graph->neighbour == NULL && s < graph->n_scopes; s++) {
        add_scope(e, graph->scope + graph->scope_start[s],
                  graph->scope_start[s + 1] - graph->scope_start[s]);
    }
    for (uint32_t v = 0; graph->neighbour != NULL && v < graph->n_variables; v++) {
        const size_t end = gbsi_graph_ends(graph, v + (size_t)1);
        for (size_t i = gbsi_graph_ends(graph, v); i < end; i++) {
            if (graph->neighbour[i] < v) {
                add_edge(e, graph->neighbour[i], v);
            }
        }
    }
}

static uint64_t count_ends(const gbsi_graph *graph)
{
    uint64_t n_ends = gbsi_graph_ends(graph, graph->n_variables);
    for (size_t s = 0; graph->neighbour == NULL && s < graph->n_scopes; s++) {
        const uint64_t n = graph->scope_start[s + 1] - graph->scope_start[s];
        /* upper bound of the number of ends of the edges that replace the scope */
        n_ends += n > LONG_SCOPE ? n : n * (n - 1);
    }
    return n_ends;
}

/* Removes repeated neighbours, which come from several factors of the same two variables. @param
 * stamp [n] scratch. */
static void drop_repeated(edges *e, uint32_t n, idx_t *stamp)
{
    idx_t read = 0;
    idx_t kept = 0;
    for (uint32_t v = 0; v < n; v++) {
        stamp[v] = -1;
    }
    for (uint32_t v = 0; v < n; v++) {
        const idx_t end = e->start[v + 1];
        e->start[v] = kept;
        for (; read < end; read++) {
            if (stamp[e->to[read]] != (idx_t)v) {
                stamp[e->to[read]] = (idx_t)v;
                e->to[kept++] = e->to[read];
            }
        }
    }
    e->start[n] = kept;
}

/* Makes the rows of neighbours. @param stamp [n] scratch. */
static gbs_status make_edges(edges *e, uint64_t n_ends, idx_t *stamp, gbs_error *err)
{
    const uint32_t n = e->graph->n_variables;
    e->start = gbsi_alloc_array_zero((size_t)n + 1, sizeof *e->start);
    GBSI_PASS(GBSI_HAVE(err, "partition", e->start));
    add_all(e);
    for (uint32_t v = 0; v < n; v++) {
        e->start[v + 1] += e->start[v];
    }
    e->to = gbsi_alloc_array(n_ends, sizeof *e->to);
    GBSI_PASS(GBSI_HAVE(err, "partition", e->to));
    add_all(e);
    /* filling has moved the start of each list to the start of the next */
    for (uint32_t v = n; v > 0; v--) {
        e->start[v] = e->start[v - 1];
    }
    e->start[0] = 0;
    drop_repeated(e, n, stamp);
    return GBS_OK;
}

/* Scales the work of the variables to integer weights. The sum of weights must fit an idx_t, and no
 * variable may weigh more than a part. */
static void scale(const uint32_t *work, uint32_t n, uint32_t n_parts, idx_t *weight)
{
    uint64_t total = 0;
    unsigned shift = 0;
    for (uint32_t v = 0; v < n; v++) {
        total += work[v];
    }
    while (total >> shift > INT32_MAX / 4) {
        shift++;
    }
    const uint64_t most = (total / n_parts >> shift) + 1;
    for (uint32_t v = 0; v < n; v++) {
        const uint64_t w = work[v] >> shift;
        weight[v] = (idx_t)(w == 0 ? 1 : w < most ? w : most);
    }
}

/* Gives each part without variables one variable of a part that has more variables than the mean.
 * @param count [n_parts]. */
static void fill_empty(uint32_t n, uint32_t n_parts, uint32_t *part, uint32_t *count)
{
    uint32_t empty = 0;
    for (uint32_t v = 0; v < n; v++) {
        count[part[v]]++;
    }
    for (uint32_t v = n; v-- > 0;) {
        while (empty < n_parts && count[empty] > 0) {
            empty++;
        }
        if (empty < n_parts && count[part[v]] > n / n_parts) {
            count[part[v]]--;
            part[v] = empty;
            count[empty]++;
        }
    }
}

static gbs_status call_metis(edges *e, idx_t *weight, uint32_t n_parts, idx_t *part, gbs_error *err)
{
    idx_t n = (idx_t)e->graph->n_variables;
    idx_t n_constraints = 1;
    idx_t n_wanted = (idx_t)n_parts;
    idx_t cut = 0;
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = SEED;
    options[METIS_OPTION_UFACTOR] = (idx_t)(1000 * GBSI_PARTITION_IMBALANCE);
    const int result = METIS_PartGraphKway(&n, &n_constraints, e->start, e->to, weight, NULL, NULL,
                                           &n_wanted, NULL, NULL, options, &cut, part);
    if (result == METIS_OK) {
        return GBS_OK;
    }
    return result == METIS_ERROR_MEMORY
               ? gbsi_fail(err, GBS_ERR_MEMORY, "METIS: out of memory")
               : gbsi_fail(err, GBS_ERR_STOPPED, "METIS failed or was ended by a signal (%d)",
                           result);
}

gbs_status gbsi_partition_metis(const gbsi_graph *graph, const uint32_t *work, uint32_t n_parts,
                                uint32_t *part, const char **reason, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n = graph->n_variables;
    const uint64_t n_ends = count_ends(graph);
    edges e = {.graph = graph};
    idx_t *weight = NULL;
    idx_t *result =
        NULL; /* part of each variable, found by METIS; scratch before the call of METIS */
    uint32_t *count = NULL;
    if (n_parts == 1) {
        memset(part, 0, n * sizeof *part);
        return GBS_OK;
    }
    if (n / LEAST_OF_PART < n_parts) {
        *reason = "METIS needs 32 variables a part or more";
        return GBS_OK;
    }
    if (n_ends > INT32_MAX || n > INT32_MAX) {
        *reason = "more edges than the 32-bit integers of METIS can count";
        return GBS_OK;
    }
    weight = gbsi_alloc_array(n, sizeof *weight);
    result = gbsi_alloc_array(n, sizeof *result);
    count = gbsi_alloc_array_zero(n_parts, sizeof *count);
    GBSI_TRY(GBSI_HAVE(err, "partition", weight, result, count));
    GBSI_TRY(make_edges(&e, n_ends, result, err));
    scale(work, n, n_parts, weight);
    GBSI_TRY(call_metis(&e, weight, n_parts, result, err));
    for (uint32_t v = 0; v < n; v++) {
        part[v] = (uint32_t)result[v];
    }
    fill_empty(n, n_parts, part, count);

cleanup:
    GBSI_FREE(e.start, e.to, weight, result, count);
    return status;
}

#else

gbs_status gbsi_partition_metis(const gbsi_graph *graph, const uint32_t *work, uint32_t n_parts,
                                uint32_t *part, const char **reason, gbs_error *err)
{
    (void)graph;
    (void)work;
    (void)n_parts;
    (void)part;
    (void)err;
    *reason = "this build has no METIS";
    return GBS_OK;
}

#endif
