/* SPDX-License-Identifier: Apache-2.0 */
#include "splash/support.h"

#include "base/memory.h"

static void mark_hard(gbsi_zeros *zeros, const gbsi_plan *plan)
{
    const gbsi_conditioned *model = plan->model;
    for (size_t f = 0; f < model->factors.n_factors; ++f) {
        const size_t end = model->factors.scope_start[f + 1];
        for (size_t e = model->factors.scope_start[f]; model->has_zeros[f] && e < end; ++e) {
            zeros->hard[plan->slot_of[model->factors.scope[e]]] = 1;
        }
    }
}

gbs_status gbsi_zeros_init(gbsi_zeros *zeros, const gbsi_plan *plan, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n = plan->n_slots;
    uint32_t n_components = 0;
    uint32_t *of = gbsi_alloc_array(n, sizeof *of);
    zeros->hard = gbsi_alloc_array_zero(n, 1);
    zeros->component = gbsi_alloc_array(n, sizeof *zeros->component);
    if (of == NULL || zeros->hard == NULL || zeros->component == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "splash", n * (2 * sizeof *of + 1)));
    }
    GBSI_TRY(gbsi_graph_components(plan->graph, of, &n_components, err));
    zeros->n_hard = gbsi_alloc_array_zero(n_components, sizeof *zeros->n_hard);
    if (zeros->n_hard == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "splash", n_components * sizeof *zeros->n_hard));
    }
    mark_hard(zeros, plan);
    for (uint32_t s = 0; s < n; ++s) {
        zeros->component[s] = of[plan->variable_of[s]];
        zeros->n_open += zeros->hard[s] && zeros->n_hard[zeros->component[s]] == 0;
        zeros->n_hard[zeros->component[s]] += zeros->hard[s];
    }
cleanup:
    gbsi_free(of);
    return status;
}

void gbsi_zeros_free(gbsi_zeros *zeros)
{
    gbsi_free(zeros->hard);
    gbsi_free(zeros->component);
    gbsi_free(zeros->n_hard);
    *zeros = (gbsi_zeros){0};
}

void gbsi_zeros_note(gbsi_zeros *zeros, const gbsi_growth *growth)
{
    uint32_t n = 0;
    uint32_t *wanted = &zeros->n_hard[zeros->component[growth->clique[0].slot]];
    for (uint32_t i = 0; *wanted > 0 && i < growth->n; ++i) {
        n += zeros->hard[growth->clique[i].slot];
    }
    if (*wanted > 0 && n == *wanted) {
        *wanted = 0;
        --zeros->n_open;
    }
}
