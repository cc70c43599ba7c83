/* SPDX-License-Identifier: Apache-2.0 */
/* Models that evidence and propagation leave as they are: the factors are the user's, not a copy,
 * which on a large model would be most of what conditioning takes. */
#include "base/memory.h"
#include "model/condition_factor.h"

/* What gbsi_reduce_factor() would give back unchanged. */
static bool stays(const gbsi_factors *factors, size_t f)
{
    const size_t n = factors->scope_start[f + 1] - factors->scope_start[f];
    switch (factors->kind[f]) {
    case GBS_FACTOR_SPIN:
        return n > 2; /* else a field or an Ising coupling */
    case GBS_FACTOR_LOGICAL:
        return n > 1; /* else maybe a constant */
    default:
        return n > 0;
    }
}

bool gbsi_stays_whole(const gbs_model *model, const gbs_evidence *evidence,
                      const gbsi_propagator *domain)
{
    if (evidence != NULL && evidence->log_likelihood != NULL) {
        return false;
    }
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        if (domain->size[v] != model->arity[v] || model->arity[v] < 2) {
            return false;
        }
    }
    for (size_t f = 0; f < model->factors.n_factors; ++f) {
        if (!stays(&model->factors, f)) {
            return false;
        }
    }
    return model->factors.n_factors > 0;
}

gbs_status gbsi_borrow_factors(const gbs_model *model, const gbsi_propagation *hard,
                               gbsi_conditioned *conditioned, gbs_error *err)
{
    const size_t n = model->factors.n_factors;
    conditioned->has_zeros = gbsi_alloc_array_zero(n, sizeof *conditioned->has_zeros);
    if (conditioned->has_zeros == NULL) {
        return gbsi_no_memory(err, "conditioned model", n);
    }
    for (size_t h = 0; h < hard->n_hard; ++h) {
        conditioned->has_zeros[hard->hard[h]] = 1;
    }
    conditioned->factors = model->factors;
    conditioned->borrows = true;
    return GBS_OK;
}
