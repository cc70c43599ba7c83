/* SPDX-License-Identifier: Apache-2.0 */
/* Connected components, breadth first over scopes: every scope is opened once, so a long one costs
 * its length, not its square. */
#include "graph/graph.h"

#include "base/memory.h"

typedef struct search {
    const gbsi_graph *graph;
    uint32_t *component;
    uint32_t *queue; /* [n_variables] */
    uint8_t *opened; /* [n_scopes] */
} search;

/* Everything reachable from first gets the number. */
static void flood(search *s, uint32_t first, uint32_t number)
{
    const gbsi_graph *graph = s->graph;
    size_t head = 0;
    size_t tail = 0;
    s->queue[tail++] = first;
    s->component[first] = number;
    while (head < tail) {
        const size_t v = s->queue[head++];
        for (size_t i = graph->incident_start[v]; i < graph->incident_start[v + 1]; i++) {
            const size_t scope = graph->incident[i];
            if (s->opened[scope]) {
                continue;
            }
            s->opened[scope] = 1;
            for (size_t j = graph->scope_start[scope]; j < graph->scope_start[scope + 1]; j++) {
                const uint32_t u = graph->scope[j];
                if (s->component[u] == GBSI_NONE) {
                    s->component[u] = number;
                    s->queue[tail++] = u;
                }
            }
        }
    }
}

gbs_status gbsi_graph_components(const gbsi_graph *graph, uint32_t *component,
                                 uint32_t *n_components, gbs_error *err)
{
    gbs_status status = GBS_OK;
    search s = {.graph = graph, .component = component};
    s.queue = gbsi_alloc_array(graph->n_variables, sizeof *s.queue);
    s.opened = gbsi_alloc_array_zero(graph->n_scopes, sizeof *s.opened);
    if (s.queue == NULL || s.opened == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "components",
                                graph->n_variables * sizeof *s.queue + graph->n_scopes));
    }
    for (uint32_t v = 0; v < graph->n_variables; v++) {
        component[v] = GBSI_NONE;
    }
    uint32_t number = 0;
    for (uint32_t v = 0; v < graph->n_variables; v++) {
        if (component[v] == GBSI_NONE) {
            flood(&s, v, number++);
        }
    }
    *n_components = number;

cleanup:
    gbsi_free(s.queue);
    gbsi_free(s.opened);
    return status;
}
