/* SPDX-License-Identifier: Apache-2.0 */
/* Connected components, numbered by their lowest variables. The ends are processed in stored order,
 * and each end joins trees of variables (base/forest.h). A search would access a large graph at
 * random, while this algorithm walks through the graph once. A long scope costs time proportional
 * to its length, not to its square. */
#include "graph/graph.h"

#include "base/forest.h"
#include "base/memory.h"

static void join_pairs(const gbsi_graph *graph, gbsi_watch *watch, uint32_t *parent)
{
    for (uint32_t v = 0; v < graph->n_variables; v++) {
        const size_t end = gbsi_graph_ends(graph, v + (size_t)1);
        if (gbsi_watch_spend(watch, end - gbsi_graph_ends(graph, v))) {
            return;
        }
        for (size_t i = gbsi_graph_ends(graph, v); i < end; i++) {
            if (graph->neighbour[i] < v) { /* counts each pair once */
                (void)gbsi_forest_join(parent, graph->neighbour[i], v);
            }
        }
    }
}

static void join_scopes(const gbsi_graph *graph, gbsi_watch *watch, uint32_t *parent)
{
    for (size_t s = 0; s < graph->n_scopes; s++) {
        if (gbsi_watch_spend(watch, graph->scope_start[s + 1] - graph->scope_start[s])) {
            return;
        }
        for (size_t i = graph->scope_start[s] + 1; i < graph->scope_start[s + 1]; i++) {
            (void)gbsi_forest_join(parent, graph->scope[i - 1], graph->scope[i]);
        }
    }
}

static gbs_status plant(uint32_t n, uint32_t **parent, gbs_error *err)
{
    *parent = gbsi_alloc_array(n, sizeof **parent);
    if (*parent == NULL) {
        return gbsi_no_memory(err, "components", n * sizeof **parent);
    }
    gbsi_forest_plant(*parent, n);
    return GBS_OK;
}

gbs_status gbsi_graph_components(const gbsi_graph *graph, uint32_t *component,
                                 uint32_t *n_components, gbs_error *err)
{
    uint32_t *parent = NULL;
    gbsi_watch *watch = gbsi_watch_current();
    GBSI_PASS(plant(graph->n_variables, &parent, err));
    if (graph->neighbour != NULL) {
        join_pairs(graph, watch, parent);
    } else {
        join_scopes(graph, watch, parent);
    }
    *n_components = gbsi_forest_number(parent, graph->n_variables, component);
    gbsi_free(parent);
    return gbsi_watch_stopped(watch) ? gbsi_watch_fail(err, "finding components") : GBS_OK;
}

/* Finds the sets of variables that factors connect. @param hard if true, only factors with hard
 * zeros count. */
static gbs_status join_factors(const gbsi_conditioned *model, bool hard, gbsi_watch *watch,
                               uint32_t *block, uint32_t *n_blocks, gbs_error *err)
{
    const gbsi_factors *factors = &model->factors;
    uint32_t *parent = NULL;
    GBSI_PASS(plant(model->n_variables, &parent, err));
    for (size_t f = 0; f < factors->n_factors; f++) {
        const size_t end = factors->scope_start[f + 1];
        const bool joins = !hard || model->has_zeros[f];
        for (size_t i = factors->scope_start[f] + 1; joins && i < end; i++) {
            (void)gbsi_forest_join(parent, factors->scope[i - 1], factors->scope[i]);
        }
        if (gbsi_watch_spend(watch, 8 * (end - factors->scope_start[f]))) {
            break;
        }
    }
    *n_blocks = gbsi_forest_number(parent, model->n_variables, block);
    gbsi_free(parent);
    return gbsi_watch_stopped(watch) ? gbsi_watch_fail(err, "finding components") : GBS_OK;
}

gbs_status gbsi_hard_blocks(const gbsi_conditioned *model, gbsi_watch *watch, uint32_t *block,
                            uint32_t *n_blocks, gbs_error *err)
{
    return join_factors(model, true, watch, block, n_blocks, err);
}

gbs_status gbsi_factor_blocks(const gbsi_conditioned *model, gbsi_watch *watch, uint32_t *block,
                              uint32_t *n_blocks, gbs_error *err)
{
    return join_factors(model, false, watch, block, n_blocks, err);
}
