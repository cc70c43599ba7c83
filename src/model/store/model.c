/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/memory.h"
#include "store/builder.h"

void gbsi_model_clear(gbs_model *model)
{
    if (model->mapping.bytes != NULL) {
        gbsi_mapping_free(&model->mapping);
    } else {
        GBSI_FREE(model->arity, model->state_offset, model->text, model->name, model->label,
                  model->by_name);
        gbsi_factors_free(&model->factors);
        gbsi_tied_free(&model->tied);
    }
    GBSI_FREE(model->cpt, model->topological);
}

void gbs_model_free(gbs_model *model)
{
    if (model != NULL) {
        gbsi_model_clear(model);
        gbsi_free(model);
    }
}

uint32_t gbs_model_n_variables(const gbs_model *model)
{
    return model == NULL ? 0 : model->n_variables;
}

size_t gbs_model_n_factors(const gbs_model *model)
{
    return model == NULL ? 0 : model->factors.n_factors;
}

int gbs_model_is_directed(const gbs_model *model)
{
    return model != NULL && model->directed ? 1 : 0;
}

uint32_t gbs_model_arity(const gbs_model *model, uint32_t variable)
{
    return model != NULL && variable < model->n_variables ? model->arity[variable] : 0;
}

const size_t *gbs_model_state_offsets(const gbs_model *model)
{
    return model == NULL ? NULL : model->state_offset;
}

const char *gbs_model_variable_name(const gbs_model *model, uint32_t variable)
{
    if (model == NULL || variable >= model->n_variables || model->name == NULL ||
        model->name[variable] == SIZE_MAX) {
        return NULL;
    }
    return model->text + model->name[variable];
}

const char *gbs_model_state_label(const gbs_model *model, uint32_t variable, uint32_t state)
{
    if (model == NULL || model->label == NULL || state >= gbs_model_arity(model, variable)) {
        return NULL;
    }
    const size_t offset = model->label[model->state_offset[variable] + state];
    return offset == SIZE_MAX ? NULL : model->text + offset;
}

const char *gbs_factor_kind_name(gbs_factor_kind kind)
{
    static const char *const name[GBS_N_FACTOR_KINDS] = {
        "table", "field",    "ising",     "potts",     "logical",
        "spin",  "noisy-or", "noisy-and", "noisy-max", "noisy-min"};
    return (unsigned)kind < GBS_N_FACTOR_KINDS ? name[kind] : NULL;
}

gbs_factor_kind gbs_model_factor(const gbs_model *model, size_t factor, uint32_t *n,
                                 const uint32_t **scope)
{
    if (factor >= gbs_model_n_factors(model)) {
        if (n != NULL) {
            *n = 0;
        }
        if (scope != NULL) {
            *scope = NULL;
        }
        return GBS_FACTOR_NONE;
    }
    const gbsi_factors *factors = &model->factors;
    if (n != NULL) {
        *n = (uint32_t)(factors->scope_start[factor + 1] - factors->scope_start[factor]);
    }
    if (scope != NULL) {
        *scope = &factors->scope[factors->scope_start[factor]];
    }
    return (gbs_factor_kind)factors->kind[factor];
}

double gbs_model_log_density(const gbs_model *model, const uint32_t *state)
{
    double sum = 0.0;
    if (model == NULL || state == NULL) {
        return NAN;
    }
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        if (state[v] >= model->arity[v]) {
            return NAN;
        }
    }
    for (size_t f = 0; f < model->factors.n_factors; ++f) {
        sum += gbsi_factor_value(&model->factors, model->arity, f, state);
    }
    return sum;
}

const char *gbs_model_digest(const gbs_model *model)
{
    return model == NULL ? NULL : model->digest;
}

size_t gbs_model_bytes(const gbs_model *model)
{
    return model == NULL ? 0 : model->bytes;
}
