/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of a partition. Computes the figures of a partition. The halo of every rank is found once;
 * it shows which other ranks send which values to this rank. */
#include <stdlib.h>

#include "base/memory.h"
#include "graph/partition.h"

/* ---- halos --------------------------------------------------------------------------------- */

typedef struct halos {
    const gbsi_graph *graph;
    const uint32_t *part;
    uint32_t n_parts;
    gbsi_watch *watch;
    size_t *start;     /* [n_parts + 1] offsets of the parts in `own` */
    uint32_t *own;     /* [n_variables] variables by part, ascending */
    uint32_t *met_by;  /* [n_variables] the last part so far whose halo contains the variable */
    uint32_t *used_by; /* [n_scopes] the last part so far that used the scope; NULL if all scopes
                          are pairs */
    /* current halo, in the order of discovery; NULL if the halo is only counted */
    uint32_t *variable;
    size_t n, capacity;
} halos;

static gbs_status halos_init(halos *h, gbs_error *err)
{
    const gbsi_graph *graph = h->graph;
    const uint32_t n = graph->n_variables;
    h->start = gbsi_alloc_array_zero((size_t)h->n_parts + 2, sizeof *h->start);
    h->own = gbsi_alloc_array(n, sizeof *h->own);
    h->met_by = gbsi_alloc_array(n, sizeof *h->met_by);
    h->used_by =
        graph->neighbour == NULL ? gbsi_alloc_array(graph->n_scopes, sizeof *h->used_by) : NULL;
    if (h->start == NULL || h->own == NULL || h->met_by == NULL ||
        (graph->neighbour == NULL && h->used_by == NULL)) {
        return gbsi_no_memory(err, "figures of a partition",
                              (h->n_parts + 2) * sizeof *h->start + 2 * n * sizeof *h->own +
                                  graph->n_scopes * sizeof *h->used_by);
    }
    memset(h->met_by, 0xff, n * sizeof *h->met_by);
    if (h->used_by != NULL) {
        memset(h->used_by, 0xff, graph->n_scopes * sizeof *h->used_by);
    }
    for (uint32_t v = 0; v < n; v++) {
        h->start[h->part[v] + 2]++;
    }
    for (uint32_t p = 0; p < h->n_parts; p++) {
        h->start[p + 2] += h->start[p + 1];
    }
    for (uint32_t v = 0; v < n; v++) {
        h->own[h->start[h->part[v] + 1]++] = v;
    }
    return GBS_OK;
}

static void halos_free(halos *h)
{
    GBSI_FREE(h->start, h->own, h->met_by, h->used_by, h->variable);
}

/* Adds the members of a scope that belong to other parts to the halo of part p. */
static gbs_status meet(halos *h, uint32_t p, gbsi_members members, bool keep, gbs_error *err)
{
    for (size_t e = 0; e < members.n; e++) {
        const uint32_t u = members.variable[e];
        if (h->part[u] == p || h->met_by[u] == p) {
            continue;
        }
        h->met_by[u] = p;
        h->n++;
        if (keep) {
            void *pointer = h->variable;
            GBSI_PASS(gbsi_reserve(&pointer, &h->capacity, h->n, sizeof(uint32_t),
                                   "figures of a partition", err));
            h->variable = pointer;
            h->variable[h->n - 1] = u;
        }
    }
    return GBS_OK;
}

/* Finds the halo of a part: its size h->n, and its variables h->variable if `keep`. */
static gbs_status find_halo(halos *h, uint32_t p, bool keep, gbs_error *err)
{
    const gbsi_graph *graph = h->graph;
    h->n = 0;
    for (size_t k = h->start[p]; k < h->start[p + 1]; k++) {
        const uint32_t v = h->own[k];
        const size_t end = gbsi_graph_ends(graph, v + (size_t)1);
        uint64_t spent = 1;
        for (size_t i = gbsi_graph_ends(graph, v); i < end; i++) {
            if (h->used_by != NULL) {
                if (h->used_by[graph->incident[i]] == p) {
                    continue;
                }
                h->used_by[graph->incident[i]] = p;
            }
            const gbsi_members members = gbsi_graph_members(graph, i);
            GBSI_PASS(meet(h, p, members, keep, err));
            spent += members.n;
        }
        if (gbsi_watch_spend(h->watch, spent)) {
            GBSI_PASS(gbsi_watch_fail(err, "counting what a partition sends"));
        }
    }
    return GBS_OK;
}

gbs_status gbsi_partition_values(const gbsi_graph *graph, const uint32_t *part, uint32_t n_parts,
                                 uint64_t most, gbsi_watch *watch, uint64_t *values, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint64_t sum = 0;
    halos h = {.graph = graph, .part = part, .n_parts = n_parts, .watch = watch};
    GBSI_TRY(halos_init(&h, err));
    for (uint32_t p = 0; p < n_parts && sum <= most; p++) {
        GBSI_TRY(find_halo(&h, p, false, err));
        sum += h.n;
    }
    *values = sum <= most ? sum : most + 1;

cleanup:
    halos_free(&h);
    return status;
}

/* ---- figures ------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Counts the ranks that send values to part p, and the messages that part p receives for each
 * batch. @param key [h->n] scratch. */
static void count_senders(const halos *h, uint32_t p, const uint32_t *batch, uint64_t *key,
                          gbsi_partition_rank *rank)
{
    for (size_t i = 0; i < h->n; i++) {
        const uint32_t v = h->variable[i];
        key[i] = (uint64_t)h->part[v] << 32 | batch[v];
        rank[h->part[v]].values++;
    }
    if (h->n > 0) {
        qsort(key, h->n, sizeof *key, ascending);
    }
    rank[p].halo = h->n;
    for (size_t i = 0; i < h->n; i++) {
        if (i == 0 || key[i] != key[i - 1]) {
            rank[key[i] >> 32].messages++;
            rank[p].received++;
        }
        rank[p].neighbours += i == 0 || key[i] >> 32 != key[i - 1] >> 32;
    }
}

static gbs_status count_runs(const uint32_t *batch, uint32_t n_batches, const uint32_t *order,
                             const uint32_t *part, uint32_t n, gbsi_partition_rank *rank,
                             gbs_error *err)
{
    /* the part of the last variable of each batch so far */
    uint32_t *last = gbsi_alloc_array(n_batches, sizeof *last);
    GBSI_PASS(GBSI_HAVE(err, "figures of a partition", last));
    memset(last, 0xff, n_batches * sizeof *last);
    for (uint32_t at = 0; at < n; at++) {
        const uint32_t v = order == NULL ? at : order[at];
        rank[part[v]].runs += last[batch[v]] != part[v];
        last[batch[v]] = part[v];
    }
    gbsi_free(last);
    return GBS_OK;
}

gbs_status gbsi_partition_figures_of(const gbsi_graph *graph, const uint32_t *batch,
                                     uint32_t n_batches, const uint32_t *order,
                                     const uint32_t *part, uint32_t n_parts, gbsi_watch *watch,
                                     gbsi_partition_figures *figures, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n = graph->n_variables;
    gbsi_partition_figures found = {0};
    halos h = {.graph = graph, .part = part, .n_parts = n_parts, .watch = watch};
    uint64_t *key = NULL;
    size_t key_capacity = 0;
    uint8_t *sent = gbsi_alloc_array_zero(n, sizeof *sent);
    GBSI_TRY(GBSI_HAVE(err, "figures of a partition", sent));
    GBSI_TRY(halos_init(&h, err));
    GBSI_TRY(gbsi_partition_figures_init(n_parts, n_batches, &found, err));
    for (uint32_t p = 0; p < n_parts; p++) {
        GBSI_TRY(find_halo(&h, p, true, err));
        void *pointer = key;
        GBSI_TRY(
            gbsi_reserve(&pointer, &key_capacity, h.n, sizeof *key, "figures of a partition", err));
        key = pointer;
        count_senders(&h, p, batch, key, found.rank);
        for (size_t i = 0; i < h.n; i++) {
            sent[h.variable[i]] = 1;
        }
    }
    for (uint32_t v = 0; v < n; v++) {
        gbsi_partition_rank *rank = &found.rank[part[v]];
        rank->own++;
        rank->work += gbsi_partition_work(graph, v);
        rank->boundary += sent[v];
    }
    GBSI_TRY(count_runs(batch, n_batches, order, part, n, found.rank, err));
    gbsi_partition_figures_sum(&found);
    *figures = found;

cleanup:
    if (status < 0) {
        gbsi_partition_figures_free(&found);
    }
    GBSI_FREE(key, sent);
    halos_free(&h);
    return status;
}

gbs_status gbsi_partition_figures_init(uint32_t n_parts, uint32_t n_batches,
                                       gbsi_partition_figures *figures, gbs_error *err)
{
    *figures = (gbsi_partition_figures){.n_parts = n_parts, .n_batches = n_batches};
    figures->rank = gbsi_alloc_array_zero(n_parts, sizeof *figures->rank);
    return GBSI_HAVE(err, "figures of a partition", figures->rank);
}

void gbsi_partition_figures_free(gbsi_partition_figures *figures)
{
    gbsi_free(figures->rank);
    *figures = (gbsi_partition_figures){0};
}

void gbsi_partition_figures_sum(gbsi_partition_figures *figures)
{
    enum { N_FIGURES = sizeof(gbsi_partition_rank) / sizeof(uint64_t) };
    uint64_t *total = (uint64_t *)&figures->total;
    uint64_t *most = (uint64_t *)&figures->most;
    for (uint32_t p = 0; p < figures->n_parts; p++) {
        const uint64_t *figure = (const uint64_t *)&figures->rank[p];
        for (unsigned i = 0; i < N_FIGURES; i++) {
            total[i] += figure[i];
            most[i] = figure[i] > most[i] ? figure[i] : most[i];
        }
    }
}

double gbsi_partition_mean_run(const gbsi_partition_figures *figures)
{
    const uint64_t runs = figures->total.runs;
    return runs == 0 ? 0.0 : (double)figures->total.own / (double)runs;
}
