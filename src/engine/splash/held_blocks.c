/* SPDX-License-Identifier: Apache-2.0 */
#include "splash/held_blocks.h"

#include <assert.h>

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
    uint32_t *of = gbsi_alloc_array(n, sizeof *of);
    zeros->hard = gbsi_alloc_array_zero(n, 1);
    zeros->block = gbsi_alloc_array(n, sizeof *zeros->block);
    GBSI_TRY(GBSI_HAVE(err, "splash", of, zeros->hard, zeros->block));
    GBSI_TRY(gbsi_hard_blocks(plan->model, gbsi_watch_current(), of, &zeros->n_blocks, err));
    zeros->n_hard = gbsi_alloc_array_zero(zeros->n_blocks, sizeof *zeros->n_hard);
    zeros->n_held = gbsi_alloc_array_zero(zeros->n_blocks, sizeof *zeros->n_held);
    GBSI_TRY(GBSI_HAVE(err, "splash", zeros->n_hard, zeros->n_held));
    mark_hard(zeros, plan);
    for (uint32_t s = 0; s < n; ++s) {
        zeros->block[s] = of[plan->variable_of[s]];
        zeros->n_open += zeros->hard[s] && zeros->n_hard[zeros->block[s]] == 0;
        zeros->n_hard[zeros->block[s]] += zeros->hard[s];
    }
cleanup:
    gbsi_free(of);
    return status;
}

void gbsi_zeros_free(gbsi_zeros *zeros)
{
    GBSI_FREE(zeros->hard, zeros->block, zeros->n_hard, zeros->n_held);
    *zeros = (gbsi_zeros){0};
}

void gbsi_zeros_note(gbsi_zeros *zeros, const gbsi_growth *growth)
{
    for (uint32_t i = 0; i < growth->n; ++i) {
        const uint32_t slot = growth->clique[i].slot;
        const uint32_t b = zeros->block[slot];
        zeros->n_held[b] += zeros->hard[slot];
        if (zeros->hard[slot] && zeros->n_held[b] == zeros->n_hard[b]) {
            assert(zeros->n_open > 0);
            zeros->n_hard[b] = 0;
            --zeros->n_open;
        }
    }
    for (uint32_t i = 0; i < growth->n; ++i) {
        zeros->n_held[zeros->block[growth->clique[i].slot]] = 0;
    }
}

/* ---- components ------------------------------------------------------------------------------ */

gbs_status gbsi_wholes_init(gbsi_wholes *wholes, const gbsi_plan *plan, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n = plan->n_slots;
    uint32_t *of = gbsi_alloc_array(n, sizeof *of);
    wholes->of = gbsi_alloc_array(n, sizeof *wholes->of);
    GBSI_TRY(GBSI_HAVE(err, "splash", of, wholes->of));
    GBSI_TRY(gbsi_factor_blocks(plan->model, gbsi_watch_current(), of, &wholes->n, err));
    wholes->size = gbsi_alloc_array_zero(wholes->n, sizeof *wholes->size);
    wholes->n_times = gbsi_alloc_array_zero(wholes->n, 1);
    GBSI_TRY(GBSI_HAVE(err, "splash", wholes->size, wholes->n_times));
    for (uint32_t s = 0; s < n; ++s) {
        wholes->of[s] = of[plan->variable_of[s]];
        ++wholes->size[wholes->of[s]];
    }
cleanup:
    gbsi_free(of);
    return status;
}

void gbsi_wholes_free(gbsi_wholes *wholes)
{
    GBSI_FREE(wholes->of, wholes->size, wholes->n_times);
    *wholes = (gbsi_wholes){0};
}

/* A splash grows along factors, so that all its variables belong to one component. The first
 * variable therefore determines the component. */
void gbsi_wholes_note(gbsi_wholes *wholes, const gbsi_growth *growth)
{
    const uint32_t whole = wholes->of[growth->clique[0].slot];
    if (growth->n == wholes->size[whole] && wholes->n_times[whole] < GBSI_HELD_OFTEN) {
        ++wholes->n_times[whole];
    }
}
