/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbours of every slot, from the scopes of the graph. */
#include "plan/context.h"

#include <stdlib.h>

#include "base/memory.h"

void gbsi_context_free(gbsi_context *context)
{
    gbsi_free(context->start);
    gbsi_free(context->neighbour);
    gbsi_free(context->n_codes);
    *context = (gbsi_context){0};
}

/* The neighbours of one variable, each once, into out (NULL: counted only).
 * @param seen [n_variables] 1 + the variable last asked for that saw it. */
static size_t find_neighbours(const gbsi_graph *graph, uint32_t v, uint32_t *seen, uint32_t *out)
{
    size_t n = 0;
    seen[v] = v + 1;
    const size_t end = gbsi_graph_ends(graph, (size_t)v + 1);
    for (size_t i = gbsi_graph_ends(graph, v); i < end; ++i) {
        const gbsi_members members = gbsi_graph_members(graph, i);
        for (size_t e = 0; e < members.n; ++e) {
            const uint32_t other = members.variable[e];
            if (seen[other] != v + 1) {
                seen[other] = v + 1;
                if (out != NULL) {
                    out[n] = other;
                }
                ++n;
            }
        }
    }
    return n;
}

static int ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
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

/* Slots are not in the order of variables: rows are found by variable, then moved. */
static void fill(const gbsi_plan *plan, gbsi_context *c, uint32_t *seen)
{
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        uint32_t *row = c->neighbour + c->start[slot];
        const size_t n = find_neighbours(plan->graph, plan->variable_of[slot], seen, row);
        if (n > 1) {
            qsort(row, n, sizeof *row, ascending);
        }
        for (size_t i = 0; i < n; ++i) {
            row[i] = plan->slot_of[row[i]];
        }
        c->n_codes[slot] = count_codes(plan, row, n);
        c->start[slot + 1] = c->start[slot] + n;
    }
}

gbs_status gbsi_context_new(const gbsi_plan *plan, gbsi_context *context, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = plan->n_slots;
    gbsi_context c = {0};
    uint32_t *seen = gbsi_alloc_array_zero(n, sizeof *seen);
    c.start = gbsi_alloc_array_zero(n + 1, sizeof *c.start);
    c.n_codes = gbsi_alloc_array(n, sizeof *c.n_codes);
    if (seen == NULL || c.start == NULL || c.n_codes == NULL) {
        status = gbsi_no_memory(err, "neighbours", n * (sizeof *c.start + sizeof *c.n_codes));
        goto cleanup;
    }
    size_t n_links = 0;
    for (uint32_t v = 0; v < plan->n_slots; ++v) {
        n_links += find_neighbours(plan->graph, v, seen, NULL);
    }
    memset(seen, 0, n * sizeof *seen);
    c.neighbour = gbsi_alloc_array(n_links, sizeof *c.neighbour);
    if (c.neighbour == NULL) {
        status = gbsi_no_memory(err, "neighbours", n_links * sizeof *c.neighbour);
        goto cleanup;
    }
    fill(plan, &c, seen);
    *context = c;
    c = (gbsi_context){0};
cleanup:
    gbsi_free(seen);
    gbsi_context_free(&c);
    return status;
}
