/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the orders in which variables are coloured, by a counting sort or by lists of variables
 * with equal degree. */
#include "graph/graph.h"

#include "base/memory.h"

/* Computes the degree of a variable by visiting each of its scopes. */
static gbs_status find_degree(const gbsi_graph *graph, gbsi_watch *watch, size_t v, size_t *degree,
                              gbs_error *err)
{
    const size_t n_ends = gbsi_graph_ends(graph, v + 1) - gbsi_graph_ends(graph, v);
    *degree = gbsi_graph_degree(graph, v);
    return gbsi_watch_work(watch, n_ends, "colouring", err);
}

gbs_status gbsi_order_largest_first(const gbsi_graph *graph, gbsi_watch *watch, uint32_t *order,
                                    gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = graph->n_variables;
    size_t most = 0;
    size_t *start = NULL;
    size_t *degree = gbsi_alloc_array(n, sizeof *degree);
    GBSI_PASS(GBSI_HAVE(err, "colouring", degree));
    for (size_t v = 0; v < n; v++) {
        GBSI_TRY(find_degree(graph, watch, v, &degree[v], err));
        most = degree[v] > most ? degree[v] : most;
    }
    start = gbsi_alloc_array_zero(most + 2, sizeof *start);
    GBSI_TRY(GBSI_HAVE(err, "colouring", start));
    /* The variable of rank 0 has the largest degree. */
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
    GBSI_FREE(start, degree);
    return status;
}

/* A variable that is not yet in the order, in a doubly linked list of variables with equal
 * degree. All data of a variable are in one struct, because on large graphs every access to a
 * variable is a cache miss. */
typedef struct waiting {
    size_t degree;   /* degree by which the lists are arranged; PLACED once the variable is in the
                        order */
    uint32_t next;   /* GBSI_NONE if the variable is the last of its list */
    uint32_t before; /* GBSI_NONE if the variable is the first of its list */
} waiting;

#define PLACED SIZE_MAX

typedef struct peeling {
    const gbsi_graph *graph;
    waiting *x;     /* [n_variables] list links */
    uint32_t *head; /* [most + 1] first variable of a degree; GBSI_NONE if there is none */
    size_t least;   /* lower bound of the degrees of variables in the lists */
    /* the variables of each scope that are not placed yet; these three arrays are NULL if all
     * scopes are pairs */
    uint32_t *member; /* variables of the scopes; the first told[s] variables of scope s include all
                         remaining ones */
    size_t *left;     /* [n_scopes] number of members that are not placed */
    size_t *told;     /* [n_scopes] number of members that the degrees count */
    gbsi_watch *watch;
} peeling;

static void push(peeling *p, uint32_t v)
{
    waiting *x = &p->x[v];
    const uint32_t first = p->head[x->degree];
    x->before = GBSI_NONE;
    x->next = first;
    if (first != GBSI_NONE) {
        p->x[first].before = v;
    }
    p->head[x->degree] = v;
    p->least = x->degree < p->least ? x->degree : p->least;
}

static void unlink_variable(peeling *p, uint32_t v)
{
    const waiting *x = &p->x[v];
    if (x->before == GBSI_NONE) {
        p->head[x->degree] = x->next;
    } else {
        p->x[x->before].next = x->next;
    }
    if (x->next != GBSI_NONE) {
        p->x[x->next].before = x->before;
    }
}

/* Reduces the degree of a variable by the number of lost neighbours. */
static void lower(peeling *p, uint32_t v, size_t lost)
{
    unlink_variable(p, v);
    p->x[v].degree -= lost;
    push(p, v);
}

/* Subtracts the members that scope s has lost from the degrees of its remaining members, and
 * removes placed members from its list. */
static void tell(peeling *p, size_t s)
{
    uint32_t *member = p->member + p->graph->scope_start[s];
    const size_t lost = p->told[s] - p->left[s];
    size_t kept = 0;
    for (size_t i = 0; i < p->told[s]; i++) {
        const uint32_t v = member[i];
        if (p->x[v].degree != PLACED) {
            member[kept++] = v;
            lower(p, v, lost);
        }
    }
    (void)gbsi_watch_spend(p->watch, p->told[s]);
    p->told[s] = kept;
}

/* Prefetches the neighbours of a row, and their places in the lists, before they are needed. On
 * a large graph each neighbour is read from main memory, and all neighbours of a row can be
 * fetched at the same time. */
static void look_ahead(const peeling *p, size_t begin, size_t end)
{
    const uint32_t *neighbour = p->graph->neighbour;
    for (size_t i = begin; i < end; i++) {
        __builtin_prefetch(&p->x[neighbour[i]], 1);
    }
    for (size_t i = begin; i < end; i++) {
        const waiting *x = &p->x[neighbour[i]];
        if (x->degree != PLACED) {
            __builtin_prefetch(&p->x[x->before == GBSI_NONE ? 0 : x->before], 1);
            __builtin_prefetch(&p->x[x->next == GBSI_NONE ? 0 : x->next], 1);
            /* the neighbour is likely to be placed next, so its row is fetched as well */
            __builtin_prefetch(neighbour + gbsi_graph_ends(p->graph, neighbour[i]));
        }
    }
}

static void place(peeling *p, uint32_t v)
{
    const gbsi_graph *graph = p->graph;
    const size_t end = gbsi_graph_ends(graph, v + (size_t)1);
    if (graph->neighbour != NULL) {
        look_ahead(p, gbsi_graph_ends(graph, v), end);
    }
    unlink_variable(p, v);
    p->x[v].degree = PLACED;
    for (size_t i = gbsi_graph_ends(graph, v); i < end; i++) {
        if (graph->neighbour != NULL) {
            if (p->x[graph->neighbour[i]].degree != PLACED) {
                lower(p, graph->neighbour[i], 1);
            }
            continue;
        }
        const size_t s = graph->incident[i];
        p->left[s]--;
        const size_t patience = p->told[s] / 64;
        if (p->told[s] - p->left[s] >= (patience > 1 ? patience : 1)) {
            tell(p, s);
        }
    }
}

static gbs_status take_scopes(peeling *p, gbs_error *err)
{
    const gbsi_graph *graph = p->graph;
    const size_t n_entries = graph->scope_start[graph->n_scopes];
    p->member = gbsi_alloc_array(n_entries, sizeof *p->member);
    p->left = gbsi_alloc_array(graph->n_scopes, sizeof *p->left);
    p->told = gbsi_alloc_array(graph->n_scopes, sizeof *p->told);
    GBSI_PASS(GBSI_HAVE(err, "colouring", p->member, p->left, p->told));
    for (size_t s = 0; s < graph->n_scopes; s++) {
        const size_t first = graph->scope_start[s];
        const size_t n = graph->scope_start[s + 1] - first;
        /* adds 32 operations, because the arrays are written for the first time */
        if (gbsi_watch_spend(p->watch, 32 + n)) {
            return gbsi_watch_fail(err, "colouring");
        }
        memcpy(p->member + first, graph->scope + first, n * sizeof *p->member);
        p->left[s] = n;
        p->told[s] = n;
    }
    return GBS_OK;
}

static gbs_status peeling_init(peeling *p, const gbsi_graph *graph, gbs_error *err)
{
    const size_t n = graph->n_variables;
    size_t most = 0;
    p->graph = graph;
    p->x = gbsi_alloc_array(n, sizeof *p->x);
    GBSI_PASS(GBSI_HAVE(err, "colouring", p->x));
    if (graph->neighbour == NULL) {
        GBSI_PASS(take_scopes(p, err));
    }
    for (size_t v = 0; v < n; v++) {
        GBSI_PASS(find_degree(graph, p->watch, v, &p->x[v].degree, err));
        most = p->x[v].degree > most ? p->x[v].degree : most;
    }
    p->head = gbsi_alloc_array(most + 1, sizeof *p->head);
    GBSI_PASS(GBSI_HAVE(err, "colouring", p->head));
    for (size_t d = 0; d <= most; d++) {
        p->head[d] = GBSI_NONE;
    }
    p->least = most;
    /* the loop goes from the last variable to the first, so that each list begins with its lowest
     * variable */
    for (size_t v = n; v > 0; v--) {
        push(p, (uint32_t)(v - 1));
    }
    return GBS_OK;
}

static void peeling_clear(peeling *p)
{
    GBSI_FREE(p->x, p->head, p->member, p->left, p->told);
}

gbs_status gbsi_order_smallest_last(const gbsi_graph *graph, gbsi_watch *watch, uint32_t *order,
                                    gbs_error *err)
{
    gbs_status status = GBS_OK;
    peeling p = {.watch = watch};
    GBSI_TRY(peeling_init(&p, graph, err));
    for (size_t end = graph->n_variables; end > 0; end--) {
        while (p.head[p.least] == GBSI_NONE) {
            p.least++;
        }
        order[end - 1] = p.head[p.least];
        place(&p, order[end - 1]);
        if (gbsi_watch_stopped(watch)) {
            GBSI_TRY(gbsi_watch_fail(err, "colouring"));
        }
    }

cleanup:
    peeling_clear(&p);
    return status;
}
