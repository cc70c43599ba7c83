/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "base/memory.h"
#include "model/builder.h"

void gbsi_model_clear(gbs_model *model)
{
    if (model->mapping.bytes != NULL) {
        gbsi_mapping_free(&model->mapping);
    } else {
        gbsi_free(model->arity);
        gbsi_free(model->state_offset);
        gbsi_free(model->text);
        gbsi_free(model->name);
        gbsi_free(model->label);
        gbsi_free(model->by_name);
        gbsi_factors_free(&model->factors);
    }
    gbsi_free(model->cpt);
    gbsi_free(model->topological);
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
    return model->n_variables;
}

size_t gbs_model_n_factors(const gbs_model *model)
{
    return model->factors.n_factors;
}

int gbs_model_is_directed(const gbs_model *model)
{
    return model->directed ? 1 : 0;
}

uint32_t gbs_model_arity(const gbs_model *model, uint32_t variable)
{
    assert(variable < model->n_variables);
    return model->arity[variable];
}

const size_t *gbs_model_state_offsets(const gbs_model *model)
{
    return model->state_offset;
}

const char *gbs_model_variable_name(const gbs_model *model, uint32_t variable)
{
    assert(variable < model->n_variables);
    if (model->name == NULL || model->name[variable] == SIZE_MAX) {
        return NULL;
    }
    return model->text + model->name[variable];
}

const char *gbs_model_state_label(const gbs_model *model, uint32_t variable, uint32_t state)
{
    assert(variable < model->n_variables && state < model->arity[variable]);
    if (model->label == NULL) {
        return NULL;
    }
    const size_t offset = model->label[model->state_offset[variable] + state];
    return offset == SIZE_MAX ? NULL : model->text + offset;
}

gbs_factor_kind gbs_model_factor(const gbs_model *model, size_t factor, uint32_t *n,
                                 const uint32_t **scope)
{
    const gbsi_factors *factors = &model->factors;
    assert(factor < factors->n_factors);
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
    for (size_t f = 0; f < model->factors.n_factors; ++f) {
        sum += gbsi_factor_value(&model->factors, model->arity, f, state);
    }
    return sum;
}

const char *gbs_model_digest(const gbs_model *model)
{
    return model->digest;
}

size_t gbs_model_bytes(const gbs_model *model)
{
    return model->bytes;
}
