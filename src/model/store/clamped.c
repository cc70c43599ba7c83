/* SPDX-License-Identifier: Apache-2.0 */
#include "store/factors.h"

#include <math.h>

#include "store/model.h"

/* Finds evidence that is stored in the model itself, as a hard factor of a single variable.
 *
 * @return the only state that factor f does not forbid. GBSI_NONE if f allows several states or
 * has more than one variable in its scope. Takes O(arity), and O(1) for logical factors that are
 * not hard. */
static uint32_t clamped_by(const gbsi_factors *factors, const uint32_t *arity, size_t f)
{
    const size_t start = factors->scope_start[f];
    uint32_t only = GBSI_NONE;
    if (factors->scope_start[f + 1] - start != 1 || !gbsi_factor_has_zeros(factors, f)) {
        return GBSI_NONE;
    }
    for (uint32_t a = 0; a < arity[factors->scope[start]]; ++a) {
        if (gbsi_factor_value_at(factors, arity, f, &a) > -INFINITY) {
            if (only != GBSI_NONE) {
                return GBSI_NONE;
            }
            only = a;
        }
    }
    return only;
}

void gbs_model_clamped(const gbs_model *model, uint32_t *state)
{
    if (model == NULL || state == NULL) {
        return;
    }
    const gbsi_factors *factors = &model->factors;
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        state[v] = GBSI_NONE;
    }
    for (size_t f = 0; f < factors->n_factors; ++f) {
        const uint32_t only = clamped_by(factors, model->arity, f);
        if (only != GBSI_NONE) {
            state[factors->scope[factors->scope_start[f]]] = only;
        }
    }
}
