/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the whole matrix. Rows are written one after the other into one list, and then C_ji is
 * stored beside every C_ij. The rows i are visited in ascending order, so that the places of each
 * row j are also filled in ascending order. */
#include "dobrushin/matrix.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

/* Limits on the work of enumeration. The first limit holds for the rule `auto`, which does not
 * enumerate if enumeration would take more than a fraction of a second. The second limit holds
 * for every rule. */
#define AUTO_WORK  ((uint64_t)1 << 27)
#define EXACT_WORK ((uint64_t)1 << 36)

#define ROW_WORK  64u /* operations of a row of bounds, without its entries */
#define PAIR_WORK 16u /* operations that computing one entry of a long row takes */

#define ENTRY_BYTES (sizeof(uint32_t) + 2 * sizeof(double))

void gbsi_influences_free(gbsi_influences *c)
{
    if (c == NULL) {
        return;
    }
    gbsi_offsets_free(&c->start);
    GBSI_FREE(c->j, c->on, c->of, c);
}

static const char doing[] = "finding influences";

/* A matrix during its construction. */
typedef struct growing {
    gbsi_influences *c;
    uint32_t *size; /* [n + 1] number of entries of each row */
    size_t n_entries, j_capacity, on_capacity;
    uint64_t room;
    gbsi_watch *watch;
} growing;

static gbs_status add_row(growing *g, uint32_t i, const gbsi_influence_row *row, gbs_error *err)
{
    const size_t n = g->n_entries + row->n;
    if (n > g->room / ENTRY_BYTES) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "influences: the first %u of %u variables already have %zu influences "
                         "(%.3g MiB), more than the memory limit leaves",
                         i + 1, g->c->n, n, (double)n * ENTRY_BYTES / 1048576.0);
    }
    void *pointer = g->c->j;
    GBSI_PASS(gbsi_reserve(&pointer, &g->j_capacity, n, sizeof *g->c->j, "influences", err));
    g->c->j = pointer;
    pointer = g->c->on;
    GBSI_PASS(gbsi_reserve(&pointer, &g->on_capacity, n, sizeof *g->c->on, "influences", err));
    g->c->on = pointer;
    if (row->n > 0) {
        memcpy(g->c->j + g->n_entries, row->j, row->n * sizeof *row->j);
        memcpy(g->c->on + g->n_entries, row->bound, row->n * sizeof *row->bound);
    }
    g->n_entries = n;
    g->size[i] = row->n;
    return GBS_OK;
}

static gbs_status add_rows(growing *g, const gbsi_graph *graph, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_influence *bounds = NULL;
    const gbsi_influence_limits limits = gbsi_influence_affordable(&graph->model->factors);
    GBSI_TRY(gbsi_influence_new(graph, &limits, &bounds, err));
    for (uint32_t i = 0; i < g->c->n; ++i) {
        gbsi_influence_row row;
        GBSI_TRY(gbsi_influence_row_of(bounds, i, &row, err));
        GBSI_TRY(add_row(g, i, &row, err));
        if (gbsi_watch_spend(g->watch, ROW_WORK + (uint64_t)PAIR_WORK * row.n)) {
            GBSI_TRY(gbsi_watch_fail(err, doing));
        }
    }

cleanup:
    gbsi_influence_free(bounds);
    return status;
}

gbs_status gbsi_influences_transpose(gbsi_influences *c, gbs_error *err)
{
    const size_t n_entries = gbsi_influences_row(c, c->n);
    uint32_t *used = gbsi_alloc_array_zero(c->n, sizeof *used);
    c->of = gbsi_alloc_array(n_entries, sizeof *c->of);
    if (used == NULL || c->of == NULL) {
        gbsi_free(used);
        return gbsi_no_memory(err, "influences", n_entries * sizeof *c->of);
    }
    for (uint32_t i = 0; i < c->n; ++i) {
        for (size_t e = gbsi_influences_row(c, i); e < gbsi_influences_row(c, i + (size_t)1); ++e) {
            const uint32_t j = c->j[e];
            const size_t twin = gbsi_influences_row(c, j) + used[j]++;
            assert(c->j[twin] == i);
            c->of[twin] = c->on[e];
        }
    }
    gbsi_free(used);
    return GBS_OK;
}

static uint64_t cost_of(const gbsi_influences *c, const gbsi_enumerator *e, uint32_t i)
{
    const size_t first = gbsi_influences_row(c, i);
    const size_t end = gbsi_influences_row(c, i + (size_t)1);
    return gbsi_enumerator_cost(e, i, (uint32_t)(end - first), c->j + first);
}

/* Returns the cost of enumerating all rows; a cost above UINT64_MAX / 2 is not computed exactly. */
static uint64_t cost_of_all(const gbsi_influences *c, const gbsi_enumerator *e)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->n && sum < UINT64_MAX / 2; ++i) {
        const uint64_t cost = cost_of(c, e, i);
        sum += cost == UINT64_MAX ? 0 : cost;
    }
    return sum;
}

/* Replaces rows of bounds by exact rows, which are computed by enumeration, as long as the limit on
 * work allows. With the rule `auto`, no row is enumerated if all rows together cost more than
 * AUTO_WORK. */
static gbs_status enumerate(gbsi_influences *c, const gbsi_conditioned *model,
                            gbs_influence_rule rule, gbsi_watch *watch, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_enumerator *e = NULL;
    uint64_t left = EXACT_WORK;
    GBSI_TRY(gbsi_enumerator_new(model, watch, &e, err));
    if (rule == GBS_INFLUENCE_AUTO && cost_of_all(c, e) > AUTO_WORK) {
        goto cleanup;
    }
    for (uint32_t i = 0; i < c->n; ++i) {
        const size_t first = gbsi_influences_row(c, i);
        const size_t end = gbsi_influences_row(c, i + (size_t)1);
        const uint64_t cost = cost_of(c, e, i);
        if (cost > left) {
            ++c->n_refused;
            continue;
        }
        left -= cost;
        ++c->n_exact;
        GBSI_TRY(
            gbsi_enumerator_row(e, i, (uint32_t)(end - first), c->j + first, c->on + first, err));
        if (gbsi_watch_stopped(watch)) {
            GBSI_TRY(gbsi_watch_fail(err, doing));
        }
    }

cleanup:
    gbsi_enumerator_free(e);
    return status;
}

gbs_status gbsi_influences_new(const gbsi_graph *graph, gbs_influence_rule rule, uint64_t room,
                               gbsi_watch *watch, gbsi_influences **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n = graph->n_variables;
    growing g = {.room = room, .watch = watch};
    g.c = gbsi_alloc_zero(sizeof *g.c);
    g.size = gbsi_alloc_array_zero((size_t)n + 1, sizeof *g.size);
    GBSI_TRY(GBSI_HAVE(err, "influences", g.c, g.size));
    g.c->n = n;
    GBSI_TRY(add_rows(&g, graph, err));
    uint32_t *size = g.size;
    g.size = NULL;
    GBSI_TRY(gbsi_offsets_take(size, n, &g.c->start, "influences", err));
    if (rule != GBS_INFLUENCE_BOUND) {
        GBSI_TRY(enumerate(g.c, graph->model, rule, watch, err));
    }
    GBSI_TRY(gbsi_influences_transpose(g.c, err));
    *out = g.c;
    g.c = NULL;

cleanup:
    gbsi_free(g.size);
    gbsi_influences_free(g.c);
    return status;
}
