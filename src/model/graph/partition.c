/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/partition.h"

#include <string.h>

#include "base/memory.h"

#define MOST_ENDS (UINT64_C(1) << 20)
/* largest number of other variables of a scope that count as work of an update */
#define LONG_SCOPE 16u

const char *gbsi_partition_name(gbsi_partition_kind kind)
{
    static const char *const name[GBSI_N_PARTITION_KINDS] = {"auto", "metis", "bisection",
                                                             "breadth", "intervals"};
    return name[kind];
}

uint32_t gbsi_partition_work(const gbsi_graph *graph, uint32_t v)
{
    const size_t first = gbsi_graph_ends(graph, v);
    const size_t end = gbsi_graph_ends(graph, v + (size_t)1);
    uint64_t work = 1;
    if (graph->neighbour != NULL) {
        work += end - first;
    } else {
        for (size_t i = first; i < end; i++) {
            const size_t n = gbsi_graph_n_others(graph, i);
            work += n < LONG_SCOPE ? n : LONG_SCOPE;
        }
    }
    return work < UINT32_MAX ? (uint32_t)work : UINT32_MAX;
}

/* Makes parts that are intervals of an order and have nearly equal work. Each part in turn takes
 * variables until its work is the remaining work divided by the number of remaining parts. The last
 * variable goes to this part if more than half of the variable's work still fits, otherwise to the
 * next part. Every remaining part gets a variable if the model has enough variables.
 * @param order [n] the variables in this order; NULL if this is the order of their numbers. @param
 * work [n_variables]. */
static void cut(const uint32_t *order, const uint32_t *work, uint32_t n, uint32_t n_parts,
                uint32_t *part)
{
    uint64_t left = 0;
    for (uint32_t i = 0; i < n; i++) {
        left += work[i];
    }
    uint32_t at = 0;
    for (uint32_t p = 0; p < n_parts && at < n; p++) {
        const uint32_t n_after = n_parts - p - 1;
        const uint64_t share = left / (n_after + 1);
        uint64_t taken = 0;
        for (uint32_t i = 0; at < n && (i == 0 || n - at > n_after); i++, at++) {
            const uint32_t v = order == NULL ? at : order[at];
            if (i > 0 && n_after > 0 && 2 * taken + work[v] > 2 * share) {
                break;
            }
            taken += work[v];
            part[v] = p;
        }
        left -= taken;
    }
}

/* A variable goes to the side that has room for more than half of its work. */
uint32_t gbsi_partition_share(const uint32_t *variable, const uint32_t *work, uint32_t n,
                              uint32_t n_first, uint32_t n_parts)
{
    uint64_t total = 0;
    if (n <= n_parts) {
        return n < n_first ? n : n_first;
    }
    for (uint32_t i = 0; i < n; i++) {
        total += work[variable[i]];
    }
    const uint64_t share = total / n_parts * n_first + total % n_parts * n_first / n_parts;
    uint64_t taken = 0;
    uint32_t at = 0;
    while (n - at > n_parts - n_first) {
        const uint32_t more = work[variable[at]];
        if (at >= n_first && 2 * taken + more > 2 * share) {
            break;
        }
        taken += more;
        at++;
    }
    return at;
}

/* ---- kinds --------------------------------------------------------------------------------- */

typedef struct task {
    const gbsi_graph *graph;
    uint32_t n_parts;
    uint32_t *work;  /* [n_variables] work of an update of each variable */
    uint32_t *order; /* [n_variables] order in which batches take the variables; NULL if this is the
                        order of their numbers */
    gbsi_watch *watch;
} task;

/* Computes the work of each variable, and the order in which batches take the variables. */
static gbs_status task_init(task *t, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n = t->graph->n_variables;
    bool found = false;
    uint32_t *rank = gbsi_alloc_array(n, sizeof *rank);
    t->work = gbsi_alloc_array(n, sizeof *t->work);
    t->order = gbsi_alloc_array(n, sizeof *t->order);
    GBSI_TRY(GBSI_HAVE(err, "partition", rank, t->work, t->order));
    for (uint32_t v = 0; v < n; v++) {
        t->work[v] = gbsi_partition_work(t->graph, v);
        if (gbsi_watch_spend(t->watch, 1 + t->work[v] / LONG_SCOPE)) {
            GBSI_TRY(gbsi_watch_fail(err, "dividing the model"));
        }
    }
    GBSI_TRY(gbsi_graph_local_order(t->graph, rank, t->order, &found, err));
    if (!found) {
        gbsi_free(t->order);
        t->order = NULL;
    }

cleanup:
    gbsi_free(rank);
    return status;
}

static void task_free(task *t)
{
    GBSI_FREE(t->work, t->order);
}

/* Makes parts of one kind. @param reason out: the reason why this kind is not possible; NULL if it
 * is possible for this graph. */
static gbs_status make(const task *t, gbsi_partition_kind kind, uint32_t *part, const char **reason,
                       gbs_error *err)
{
    const uint32_t n = t->graph->n_variables;
    gbsi_grid_shape shape;
    bool found = false;
    *reason = NULL;
    if (kind == GBSI_PARTITION_METIS) {
        return gbsi_partition_metis(t->graph, t->work, t->n_parts, part, reason, err);
    }
    if (kind == GBSI_PARTITION_BREADTH) {
        return gbsi_partition_breadth(t->graph, t->work, t->n_parts, t->watch, part, err);
    }
    if (kind == GBSI_PARTITION_INTERVALS) {
        cut(t->order, t->work, n, t->n_parts, part);
        return GBS_OK;
    }
    GBSI_PASS(gbsi_partition_find_grid(t->graph, t->watch, &shape, &found, err));
    if (!found) {
        *reason = "the variables are not numbered row by row on a grid of neighbours";
        return GBS_OK;
    }
    return gbsi_partition_bisect(&shape, t->work, n, t->n_parts, t->watch, part, err);
}

/* Returns whether AUTO tries a kind. It does not try METIS if a bisection is as good or if METIS
 * would take minutes; the user can still choose METIS. */
static bool pays(const task *t, gbsi_partition_kind kind, bool bisected)
{
    const size_t n_ends = gbsi_graph_ends(t->graph, t->graph->n_variables);
    return kind != GBSI_PARTITION_METIS || (!bisected && n_ends <= MOST_ENDS);
}

/* Counts the variables whose owner differs from the owner of the previous variable in the order. */
static uint64_t count_breaks(const uint32_t *order, const uint32_t *part, uint32_t n)
{
    uint64_t breaks = 0;
    for (uint32_t at = 1; at < n; at++) {
        breaks += order == NULL ? part[at] != part[at - 1] : part[order[at]] != part[order[at - 1]];
    }
    return breaks;
}

/* Chooses the kind with the lowest cost, which is the number of values sent plus the number of
 * breaks; each takes about the same time. If costs are equal, the later kind is chosen. */
static gbs_status make_best(const task *t, uint32_t *part, gbsi_partition_kind *used,
                            gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n = t->graph->n_variables;
    uint64_t least = UINT64_MAX - 1;
    const char *reason = NULL;
    bool bisected = false;
    uint32_t *next = gbsi_alloc_array(n, sizeof *next);
    GBSI_TRY(GBSI_HAVE(err, "partition", next));
    for (int kind = GBSI_N_PARTITION_KINDS - 1; kind > GBSI_PARTITION_AUTO && least > 0; kind--) {
        uint64_t cost = 0;
        if (!pays(t, (gbsi_partition_kind)kind, bisected)) {
            continue;
        }
        GBSI_TRY(make(t, (gbsi_partition_kind)kind, next, &reason, err));
        if (reason != NULL) {
            continue;
        }
        bisected |= kind == GBSI_PARTITION_BISECTION;
        GBSI_TRY(gbsi_partition_values(t->graph, next, t->n_parts, least, t->watch, &cost, err));
        cost += count_breaks(t->order, next, n);
        if (cost < least) {
            least = cost;
            *used = (gbsi_partition_kind)kind;
            memcpy(part, next, n * sizeof *part);
        }
    }

cleanup:
    gbsi_free(next);
    return status;
}

gbs_status gbsi_partition(const gbsi_graph *graph, uint32_t n_parts, gbsi_partition_kind kind,
                          gbsi_watch *watch, uint32_t *part, gbsi_partition_kind *used,
                          gbs_error *err)
{
    gbs_status status = GBS_OK;
    const char *reason = NULL;
    gbsi_partition_kind chosen = kind;
    task t = {.graph = graph, .n_parts = n_parts, .watch = watch};
    if (n_parts == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "a partition into 0 parts, expected 1 or more");
    }
    GBSI_TRY(task_init(&t, err));
    if (kind == GBSI_PARTITION_AUTO) {
        GBSI_TRY(make_best(&t, part, &chosen, err));
    } else {
        GBSI_TRY(make(&t, kind, part, &reason, err));
    }
    if (reason != NULL) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_UNSUPPORTED, "partition %s: %s", gbsi_partition_name(kind),
                           reason));
    }
    if (used != NULL) {
        *used = chosen;
    }

cleanup:
    task_free(&t);
    return status;
}
