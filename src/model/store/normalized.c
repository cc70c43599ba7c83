/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether the tables of a Bayesian network are probabilities; if they are, Z without
 * evidence is 1. */
#include "simd/math.h"
#include "store/model.h"

static bool is_normalized(const gbs_model *m, size_t f)
{
    if (gbsi_is_noisy(m->factors.kind[f])) {
        return true;
    }
    const size_t end = m->factors.scope_start[f + 1];
    const size_t arity = m->arity[m->factors.scope[end - 1]]; /* arity of the child, which is the
                                                                 last variable of the scope */
    const size_t table = m->factors.aux[f];
    for (size_t i = m->factors.table_start[table]; i < m->factors.table_start[table + 1];
         i += arity) {
        double sum = 0.0;
        for (size_t a = 0; a < arity; ++a) {
            sum += gbsi_exp(m->factors.table[i + a]);
        }
        if (!(sum > 1.0 - GBSI_COLUMN_TOLERANCE && sum < 1.0 + GBSI_COLUMN_TOLERANCE)) {
            return false;
        }
    }
    return true;
}

int gbs_model_is_normalized(const gbs_model *model)
{
    if (model == NULL || !model->directed) {
        return 0;
    }
    for (size_t f = 0; f < model->factors.n_factors; ++f) {
        if (!is_normalized(model, f)) {
            return 0;
        }
    }
    return 1;
}
