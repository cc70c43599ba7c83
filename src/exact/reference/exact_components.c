/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/exact_components.h"

#include <assert.h>
#include <string.h>

#include "base/machine.h"
#include "base/memory.h"
#include "reference/enumerate.h"

void gbsi_components_free(gbsi_components *components)
{
    if (components == NULL) {
        return;
    }
    GBSI_FREE(components->of, components->variable_start, components->variable,
              components->factor_start, components->factor, components->n_states,
              components->has_zeros, components);
}

static uint32_t component_of_factor(const gbsi_components *c, size_t f)
{
    const gbsi_factors *factors = &c->model->factors;
    return c->of[factors->scope[factors->scope_start[f]]];
}

/* Fills the arrays of the list of components. @param hard whether only factors with hard zeros are
 * listed.
 * @return GBS_ERR_STOPPED if the watch stopped; the arrays are then incomplete. */
static gbs_status fill(gbsi_components *c, bool hard, gbsi_watch *watch, gbs_error *err)
{
    const gbsi_conditioned *model = c->model;
    for (uint32_t i = 0; i < c->n; ++i) {
        c->n_states[i] = 1;
    }
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        uint64_t *n = &c->n_states[c->of[v]];
        *n = *n > UINT64_MAX / model->arity[v] ? UINT64_MAX : *n * model->arity[v];
        ++c->variable_start[c->of[v] + 1];
    }
    for (size_t f = 0; f < model->factors.n_factors; ++f) {
        uint32_t i = component_of_factor(c, f);
        GBSI_PASS(gbsi_watch_work(watch, 8, "finding components", err));
        c->factor_start[i + 1] += !hard || model->has_zeros[f];
        c->has_zeros[i] |= model->has_zeros[f];
    }
    for (uint32_t i = 0; i < c->n; ++i) {
        uint32_t size = (uint32_t)c->variable_start[i + 1];
        c->largest = size > c->largest ? size : c->largest;
        c->variable_start[i + 1] += c->variable_start[i];
        c->factor_start[i + 1] += c->factor_start[i];
    }
    /* The loops below use the starts as write positions, so that the starts must be shifted back
     * afterwards. */
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        c->variable[c->variable_start[c->of[v]]++] = v;
    }
    for (size_t f = 0; f < model->factors.n_factors; ++f) {
        GBSI_PASS(gbsi_watch_work(watch, 8, "finding components", err));
        if (!hard || model->has_zeros[f]) {
            c->factor[c->factor_start[component_of_factor(c, f)]++] = f;
        }
    }
    memmove(c->variable_start + 1, c->variable_start, c->n * sizeof *c->variable_start);
    memmove(c->factor_start + 1, c->factor_start, c->n * sizeof *c->factor_start);
    c->variable_start[0] = 0;
    c->factor_start[0] = 0;
    assert(c->variable_start[c->n] == model->n_variables); /* each variable is in one component */
    assert(hard || c->factor_start[c->n] == model->factors.n_factors);
    return GBS_OK;
}

/* @param graph graph of the model; its connected components are listed. If graph is NULL, blocks of
 * variables that share factors with hard zeros are listed instead. */
static gbs_status make(const gbsi_conditioned *model, const gbsi_graph *graph, gbsi_watch *watch,
                       gbsi_components **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_components *c = gbsi_alloc_zero(sizeof *c);
    GBSI_PASS(GBSI_HAVE(err, "components", c));
    c->model = model;
    c->of = gbsi_alloc_array(model->n_variables, sizeof *c->of);
    GBSI_TRY(GBSI_HAVE(err, "components", c->of));
    GBSI_TRY(graph == NULL ? gbsi_hard_blocks(model, watch, c->of, &c->n, err)
                           : gbsi_graph_components(graph, c->of, &c->n, err));
    c->variable_start = gbsi_alloc_array_zero((size_t)c->n + 1, sizeof *c->variable_start);
    c->factor_start = gbsi_alloc_array_zero((size_t)c->n + 1, sizeof *c->factor_start);
    c->variable = gbsi_alloc_array(model->n_variables, sizeof *c->variable);
    c->factor = gbsi_alloc_array(model->factors.n_factors, sizeof *c->factor);
    c->n_states = gbsi_alloc_array(c->n, sizeof *c->n_states);
    c->has_zeros = gbsi_alloc_array_zero(c->n, 1);
    GBSI_TRY(GBSI_HAVE(err, "components", c->variable_start, c->factor_start, c->variable,
                       c->factor, c->n_states, c->has_zeros));
    GBSI_TRY(fill(c, graph == NULL, watch, err));
    *out = c;
    c = NULL;
cleanup:
    gbsi_components_free(c);
    return status;
}

gbs_status gbsi_components_new(const gbsi_graph *graph, gbsi_components **out, gbs_error *err)
{
    return make(graph->model, graph, gbsi_watch_current(), out, err);
}

uint64_t gbsi_components_standing(const gbsi_components *c, const gbsi_graph *graph)
{
    const uint64_t n = c->model->n_variables;
    const uint64_t bytes = n * (sizeof *c->of + sizeof *c->variable) +
                           c->model->factors.n_factors * sizeof *c->factor +
                           (uint64_t)c->n * (2 * sizeof(size_t) + sizeof *c->n_states + 2);
    return gbsi_program_bytes() + gbs_model_bytes(c->model->model) +
           gbsi_conditioned_bytes(c->model) + gbsi_graph_bytes(graph) + bytes;
}

/* ---- answers --------------------------------------------------------------------------------- */

static gbs_status enumerate_one(const gbsi_components *c, uint32_t i, uint32_t *local,
                                gbsi_watch *watch, double *p, double *log_z, gbs_error *err)
{
    gbsi_conditioned *part = NULL;
    double *own = NULL;
    double found = 0.0;
    gbs_status status = GBS_OK;
    GBSI_TRY(gbsi_components_extract(c, i, NULL, local, &part, err));
    const size_t n = part->state_offset[part->n_variables];
    own = gbsi_alloc_array(n, sizeof *own);
    GBSI_TRY(GBSI_HAVE(err, "component", own));
    GBSI_TRY(gbsi_enumerate(part, watch, own, &found, err));
    for (uint32_t q = 0; q < part->n_variables; ++q) {
        const uint32_t v = c->variable[c->variable_start[i] + q];
        memcpy(p + c->model->state_offset[v], own + part->state_offset[q],
               part->arity[q] * sizeof *p);
    }
    if (log_z != NULL) {
        *log_z += found - part->log_constant;
    }
cleanup:
    gbsi_conditioned_free(part);
    gbsi_free(own);
    return status;
}

gbs_status gbsi_components_enumerate(const gbsi_components *c, const uint8_t *exact,
                                     gbsi_watch *watch, double *p, double *log_z, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t *local = gbsi_alloc_array(c->model->n_variables, sizeof *local);
    GBSI_PASS(GBSI_HAVE(err, "component", local));
    for (uint32_t i = 0; i < c->n; ++i) {
        if (exact[i]) {
            GBSI_TRY(enumerate_one(c, i, local, watch, p, log_z, err));
        }
    }
cleanup:
    gbsi_free(local);
    return status;
}

/* The support is the product of the supports of the blocks of variables that share factors with
 * hard zeros, and an update changes only one block. The support is therefore connected if and only
 * if the support of every block is connected. */
gbs_status gbsi_components_support(const gbsi_components *c, const uint8_t *exact,
                                   gbsi_watch *watch, uint64_t max_states, gbsi_support *support,
                                   gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_components *blocks = NULL;
    gbsi_conditioned *part = NULL;
    gbsi_support found = GBSI_SUPPORT_CONNECTED;
    uint32_t *local = gbsi_alloc_array(c->model->n_variables, sizeof *local);
    GBSI_PASS(GBSI_HAVE(err, "component", local));
    status = make(c->model, NULL, watch, &blocks, err);
    if (status == GBS_ERR_STOPPED) { /* after a stop nothing is known about the support */
        *support = GBSI_SUPPORT_UNKNOWN;
        status = GBS_OK;
    }
    if (blocks == NULL) {
        goto cleanup;
    }
    for (uint32_t i = 0; found != GBSI_SUPPORT_DISCONNECTED && i < blocks->n; ++i) {
        const uint32_t first = blocks->variable[blocks->variable_start[i]];
        if (exact[c->of[first]] || !blocks->has_zeros[i]) {
            continue;
        }
        if (blocks->n_states[i] > max_states) {
            found = GBSI_SUPPORT_UNKNOWN;
            continue;
        }
        bool connected = false;
        GBSI_TRY(gbsi_components_extract(blocks, i, NULL, local, &part, err));
        status = gbsi_support_connected(part, watch, &connected, err);
        if (gbsi_watch_stopped(watch)) {
            found = GBSI_SUPPORT_UNKNOWN;
            status = GBS_OK;
            break;
        }
        GBSI_TRY(status);
        found = connected ? found : GBSI_SUPPORT_DISCONNECTED;
        gbsi_conditioned_free(part);
        part = NULL;
    }
    *support = found;
cleanup:
    gbsi_conditioned_free(part);
    gbsi_components_free(blocks);
    gbsi_free(local);
    return status;
}
