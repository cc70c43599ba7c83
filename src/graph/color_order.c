/* SPDX-License-Identifier: Apache-2.0 */
/* Vertex orders by counting sort and by buckets of equal degree. */
#include "graph/color_order.h"

#include "base/memory.h"

size_t gbsi_graph_degrees(const gbsi_graph *graph, size_t *degree)
{
    size_t most = 0;
    for (size_t v = 0; v < graph->n_variables; v++) {
        size_t sum = 0;
        for (size_t i = graph->incident_start[v]; i < graph->incident_start[v + 1]; i++) {
            const size_t s = graph->incident[i];
            sum += graph->scope_start[s + 1] - graph->scope_start[s] - 1;
        }
        degree[v] = sum;
        most = sum > most ? sum : most;
    }
    return most;
}

gbs_status gbsi_order_largest_first(const gbsi_graph *graph, uint32_t *order, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = graph->n_variables;
    size_t *start = NULL;
    size_t *degree = gbsi_alloc_array(n, sizeof *degree);
    if (degree == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "colouring", n * sizeof *degree));
    }
    const size_t most = gbsi_graph_degrees(graph, degree);
    start = gbsi_alloc_array_zero(most + 2, sizeof *start);
    if (start == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "colouring", (most + 2) * sizeof *start));
    }
    /* Rank 0 is the largest degree. */
    for (size_t v = 0; v < n; v++) {
        start[most - degree[v] + 1]++;
    }
    for (size_t rank = 1; rank <= most; rank++) {
        start[rank] += start[rank - 1];
    }
    for (uint32_t v = 0; v < n; v++) {
        order[start[most - degree[v]]++] = v;
    }

cleanup:
    gbsi_free(degree);
    gbsi_free(start);
    return status;
}

/* The variables not yet placed, in doubly linked lists by degree, and what is left of each scope.
 */
typedef struct peeling {
    const gbsi_graph *graph;
    size_t *degree;   /* [n_variables] as the lists know it */
    uint32_t *head;   /* [most + 1] first variable of a degree, GBSI_NONE: none */
    uint32_t *next;   /* [n_variables] */
    uint32_t *before; /* [n_variables] */
    uint8_t *placed;  /* [n_variables] */
    uint32_t *member; /* the scopes' variables; the told[s] first ones of s include all left */
    size_t *left;     /* [n_scopes] members not placed */
    size_t *told;     /* [n_scopes] members as the degrees know it */
    size_t least;     /* no list below this has a variable */
} peeling;

static void push(peeling *p, uint32_t v)
{
    const uint32_t first = p->head[p->degree[v]];
    p->before[v] = GBSI_NONE;
    p->next[v] = first;
    if (first != GBSI_NONE) {
        p->before[first] = v;
    }
    p->head[p->degree[v]] = v;
    p->least = p->degree[v] < p->least ? p->degree[v] : p->least;
}

static void unlink_variable(peeling *p, uint32_t v)
{
    if (p->before[v] == GBSI_NONE) {
        p->head[p->degree[v]] = p->next[v];
    } else {
        p->next[p->before[v]] = p->next[v];
    }
    if (p->next[v] != GBSI_NONE) {
        p->before[p->next[v]] = p->before[v];
    }
}

/* Takes what scope s has lost from the degrees of those left, and forgets the placed ones. */
static void tell(peeling *p, size_t s)
{
    uint32_t *member = p->member + p->graph->scope_start[s];
    const size_t lost = p->told[s] - p->left[s];
    size_t kept = 0;
    for (size_t i = 0; i < p->told[s]; i++) {
        const uint32_t v = member[i];
        if (p->placed[v]) {
            continue;
        }
        member[kept++] = v;
        unlink_variable(p, v);
        p->degree[v] -= lost;
        push(p, v);
    }
    p->told[s] = kept;
}

static void place(peeling *p, uint32_t v)
{
    const gbsi_graph *graph = p->graph;
    unlink_variable(p, v);
    p->placed[v] = 1;
    for (size_t i = graph->incident_start[v]; i < graph->incident_start[v + 1]; i++) {
        const size_t s = graph->incident[i];
        p->left[s]--;
        const size_t patience = p->told[s] / 64;
        if (p->told[s] - p->left[s] >= (patience > 1 ? patience : 1)) {
            tell(p, s);
        }
    }
}

static gbs_status peeling_init(peeling *p, const gbsi_graph *graph, gbs_error *err)
{
    const size_t n = graph->n_variables;
    const size_t n_entries = graph->scope_start[graph->n_scopes];
    p->graph = graph;
    p->degree = gbsi_alloc_array(n, sizeof *p->degree);
    p->next = gbsi_alloc_array(n, sizeof *p->next);
    p->before = gbsi_alloc_array(n, sizeof *p->before);
    p->placed = gbsi_alloc_array_zero(n, sizeof *p->placed);
    p->member = gbsi_alloc_array(n_entries, sizeof *p->member);
    p->left = gbsi_alloc_array(graph->n_scopes, sizeof *p->left);
    p->told = gbsi_alloc_array(graph->n_scopes, sizeof *p->told);
    if (p->degree == NULL || p->next == NULL || p->before == NULL || p->placed == NULL ||
        p->member == NULL || p->left == NULL || p->told == NULL) {
        return gbsi_no_memory(err, "colouring", n * 17 + n_entries * 4 + graph->n_scopes * 16);
    }
    const size_t most = gbsi_graph_degrees(graph, p->degree);
    p->head = gbsi_alloc_array(most + 1, sizeof *p->head);
    if (p->head == NULL) {
        return gbsi_no_memory(err, "colouring", (most + 1) * sizeof *p->head);
    }
    for (size_t d = 0; d <= most; d++) {
        p->head[d] = GBSI_NONE;
    }
    if (n_entries > 0) {
        memcpy(p->member, graph->scope, n_entries * sizeof *p->member);
    }
    for (size_t s = 0; s < graph->n_scopes; s++) {
        p->left[s] = graph->scope_start[s + 1] - graph->scope_start[s];
        p->told[s] = p->left[s];
    }
    p->least = most;
    for (size_t v = n; v > 0; v--) { /* downwards: the lowest comes to stand first */
        push(p, (uint32_t)(v - 1));
    }
    return GBS_OK;
}

static void peeling_clear(peeling *p)
{
    gbsi_free(p->degree);
    gbsi_free(p->head);
    gbsi_free(p->next);
    gbsi_free(p->before);
    gbsi_free(p->placed);
    gbsi_free(p->member);
    gbsi_free(p->left);
    gbsi_free(p->told);
}

gbs_status gbsi_order_smallest_last(const gbsi_graph *graph, uint32_t *order, gbs_error *err)
{
    gbs_status status = GBS_OK;
    peeling p = {0};
    GBSI_TRY(peeling_init(&p, graph, err));
    for (size_t end = graph->n_variables; end > 0; end--) {
        while (p.head[p.least] == GBSI_NONE) {
            p.least++;
        }
        order[end - 1] = p.head[p.least];
        place(&p, order[end - 1]);
    }

cleanup:
    peeling_clear(&p);
    return status;
}
