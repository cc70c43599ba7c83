/* SPDX-License-Identifier: Apache-2.0 */
#include "search/quench.h"

#include "base/forest.h"
#include "base/memory.h"

gbs_status gbsi_crossover_init(gbsi_crossover *crossover, const gbsi_conditioned *model,
                               gbs_error *err)
{
    const size_t n = model->n_variables;
    *crossover = (gbsi_crossover){.model = model};
    crossover->parent = gbsi_alloc_array(n, sizeof *crossover->parent);
    crossover->gain = gbsi_alloc_array(n, sizeof *crossover->gain);
    if (crossover->parent == NULL || crossover->gain == NULL) {
        gbsi_crossover_free(crossover);
        return gbsi_no_memory(err, "crossover", n * sizeof *crossover->gain);
    }
    return GBS_OK;
}

void gbsi_crossover_free(gbsi_crossover *crossover)
{
    GBSI_FREE(crossover->parent, crossover->gain);
    *crossover = (gbsi_crossover){0};
}

/* Joins in c->parent those variables of a factor's scope in which two states differ. @return one of
 * these variables; GBSI_NONE if the states do not differ in the scope. */
static uint32_t join_scope(const gbsi_crossover *c, size_t factor, const uint32_t *x,
                           const uint32_t *other)
{
    const gbsi_factors *f = &c->model->factors;
    uint32_t first = GBSI_NONE;
    for (size_t i = f->scope_start[factor]; i < f->scope_start[factor + 1]; ++i) {
        const uint32_t v = f->scope[i];
        if (x[v] == other[v]) {
            continue;
        }
        if (first != GBSI_NONE) {
            (void)gbsi_forest_join(c->parent, first, v);
        }
        first = first == GBSI_NONE ? v : first;
    }
    return first;
}

bool gbsi_crossover_take(gbsi_crossover *c, uint32_t *x, const uint32_t *other)
{
    const gbsi_conditioned *model = c->model;
    const gbsi_factors *f = &model->factors;
    bool changed = false;
    gbsi_forest_plant(c->parent, model->n_variables);
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        c->gain[v] = 0.0;
    }
    for (size_t i = 0; i < f->n_factors; ++i) {
        (void)join_scope(c, i, x, other);
    }
    for (size_t i = 0; i < f->n_factors; ++i) {
        const uint32_t v = join_scope(c, i, x, other);
        if (v != GBSI_NONE) {
            c->gain[gbsi_forest_root(c->parent, v)] +=
                gbsi_factor_value(f, model->arity, i, other) -
                gbsi_factor_value(f, model->arity, i, x);
        }
    }
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        if (x[v] != other[v] && c->gain[gbsi_forest_root(c->parent, v)] > 0.0) {
            x[v] = other[v];
            changed = true;
        }
    }
    return changed;
}
