/* SPDX-License-Identifier: Apache-2.0 */
/* Two colours where they suffice: breadth first, the lowest variable of a component gets colour 0.
 * Exact, and in time linear in the edges. */
#include "graph/graph.h"

#include "base/memory.h"

#define UNCOLORED 2u

/* A scope of three variables is a triangle. */
static bool pairs_only(const gbsi_graph *graph)
{
    for (size_t s = 0; s < graph->n_scopes; s++) {
        if (graph->scope_start[s + 1] - graph->scope_start[s] > 2) {
            return false;
        }
    }
    return true;
}

/* Colours the component of first. @return false at an edge with both ends of one colour. */
static bool color_component(const gbsi_graph *graph, uint32_t first, uint8_t *color,
                            uint32_t *queue)
{
    size_t head = 0;
    size_t tail = 0;
    color[first] = 0;
    queue[tail++] = first;
    while (head < tail) {
        const size_t v = queue[head++];
        for (size_t i = graph->incident_start[v]; i < graph->incident_start[v + 1]; i++) {
            const uint32_t *pair = graph->scope + graph->scope_start[graph->incident[i]];
            const uint32_t u = pair[0] == v ? pair[1] : pair[0];
            if (color[u] == UNCOLORED) {
                color[u] = (uint8_t)(1u - color[v]);
                queue[tail++] = u;
            } else if (color[u] == color[v]) {
                return false;
            }
        }
    }
    return true;
}

gbs_status gbsi_graph_color_two(const gbsi_graph *graph, uint32_t *color, bool *bipartite,
                                gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = graph->n_variables;
    uint8_t *found = NULL;
    uint32_t *queue = NULL;
    bool fits = pairs_only(graph);
    if (!fits) {
        *bipartite = false;
        return GBS_OK;
    }
    found = gbsi_alloc_array(n, sizeof *found);
    queue = gbsi_alloc_array(n, sizeof *queue);
    if (found == NULL || queue == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "colouring", n * (sizeof *found + sizeof *queue)));
    }
    memset(found, UNCOLORED, n);
    for (uint32_t v = 0; v < n && fits; v++) {
        fits = found[v] != UNCOLORED || color_component(graph, v, found, queue);
    }
    for (size_t v = 0; v < n && fits; v++) {
        color[v] = found[v];
    }
    *bipartite = fits;

cleanup:
    gbsi_free(found);
    gbsi_free(queue);
    return status;
}
