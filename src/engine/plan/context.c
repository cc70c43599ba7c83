/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the neighbours of every slot, from the scopes of the graph. */
#include "plan/context.h"

#include <stdlib.h>

#include "base/memory.h"

#define FEW 16 /* largest number of neighbours that are sorted by insertion */

void gbsi_context_free(gbsi_context *context)
{
    GBSI_FREE(context->start, context->neighbour, context->n_codes);
    *context = (gbsi_context){0};
}

static int ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void sort(uint32_t *row, size_t n)
{
    if (n > FEW) {
        qsort(row, n, sizeof *row, ascending);
        return;
    }
    for (size_t i = 1; i < n; ++i) {
        const uint32_t v = row[i];
        size_t j = i;
        for (; j > 0 && row[j - 1] > v; --j) {
            row[j] = row[j - 1];
        }
        row[j] = v;
    }
}

/* Lists the neighbours of variable v, ascending and without repetitions. @param row out; must have
 * room for all entries of the scopes of v's factors. @return number of neighbours. */
static size_t find_neighbours(const gbsi_graph *graph, uint32_t v, uint32_t *row)
{
    size_t n = 0;
    const size_t end = gbsi_graph_ends(graph, (size_t)v + 1);
    for (size_t i = gbsi_graph_ends(graph, v); i < end; ++i) {
        const gbsi_members members = gbsi_graph_members(graph, i);
        for (size_t e = 0; e < members.n; ++e) {
            if (members.variable[e] != v) {
                row[n++] = members.variable[e];
            }
        }
    }
    sort(row, n);
    size_t n_once = 0;
    for (size_t i = 0; i < n; ++i) {
        if (i == 0 || row[i] != row[i - 1]) {
            row[n_once++] = row[i];
        }
    }
    return n_once;
}

uint64_t gbsi_context_links(const gbsi_plan *plan)
{
    const gbsi_graph *graph = plan->graph;
    if (graph->neighbour != NULL) {
        return gbsi_graph_ends(graph, graph->n_variables);
    }
    uint64_t n = 0;
    for (size_t s = 0; s < graph->n_scopes; ++s) {
        const uint64_t size = graph->scope_start[s + 1] - graph->scope_start[s];
        n += size * (size - 1);
    }
    return n;
}

static uint64_t count_codes(const gbsi_plan *plan, const uint32_t *neighbour, size_t n)
{
    uint64_t codes = 1;
    for (size_t i = 0; i < n; ++i) {
        const uint64_t k = gbsi_plan_arity(plan, neighbour[i]);
        if (codes >= GBSI_MANY_CODES / k) {
            return GBSI_MANY_CODES;
        }
        codes *= k;
    }
    return codes;
}

gbs_status gbsi_context_new(const gbsi_plan *plan, gbsi_context *context, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = plan->n_slots;
    const uint64_t n_links = gbsi_context_links(plan);
    gbsi_context c = {.start = gbsi_alloc_array_zero(n + 1, sizeof *c.start),
                      .neighbour = gbsi_alloc_array(n_links, sizeof *c.neighbour),
                      .n_codes = gbsi_alloc_array(n, sizeof *c.n_codes)};
    if (c.start == NULL || c.neighbour == NULL || c.n_codes == NULL) {
        status = gbsi_no_memory(err, "neighbours", n * 16 + n_links * sizeof *c.neighbour);
        goto cleanup;
    }
    for (uint32_t slot = 0; slot < n; ++slot) {
        uint32_t *row = c.neighbour + c.start[slot];
        const size_t n_row = find_neighbours(plan->graph, plan->variable_of[slot], row);
        for (size_t i = 0; i < n_row; ++i) {
            row[i] = plan->slot_of[row[i]];
        }
        c.n_codes[slot] = count_codes(plan, row, n_row);
        c.start[slot + 1] = c.start[slot] + n_row;
    }
    *context = c;
    c = (gbsi_context){0};
cleanup:
    gbsi_context_free(&c);
    return status;
}
