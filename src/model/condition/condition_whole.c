/* SPDX-License-Identifier: Apache-2.0 */
/* Models that are their own conditioned form, because no variable is observed and no state can
 * be ruled out. The conditioned model borrows the factors of the model. A copy of a large model
 * would take as long as reading the model, and would double the memory. */
#include <math.h>
#include <string.h>

#include "base/extremes.h"
#include "base/memory.h"
#include "condition/condition.h"
#include "condition/condition_inside.h"

/* Returns whether conditioning would leave this factor unchanged. Spin products of one or two spins
 * do change: conditioning makes them FIELD or ISING factors. */
static bool stays(const gbsi_factors *factors, size_t f)
{
    const size_t n = factors->scope_start[f + 1] - factors->scope_start[f];
    switch (factors->kind[f]) {
    case GBS_FACTOR_TABLE:
        return n > 0;
    case GBS_FACTOR_NOISY_OR: /* small noisy factors become tables */
    case GBS_FACTOR_NOISY_AND:
    case GBS_FACTOR_NOISY_MAX: /* each level becomes a separate factor */
    case GBS_FACTOR_NOISY_MIN:
    case GBS_FACTOR_LOGICAL: /* a factor of a single literal may be constant, and equal descriptions
                                must be shared */
        return false;
    case GBS_FACTOR_SPIN:
        return n > 2 && isfinite(factors->weight[f]);
    default:
        return isfinite(factors->weight[f]);
    }
}

bool gbsi_condition_is_whole(const gbs_model *model, const gbs_evidence *evidence,
                             gbsi_watch *watch)
{
    const gbsi_factors *f = &model->factors;
    if (evidence != NULL && (evidence->n_observed > 0 || evidence->log_likelihood != NULL)) {
        return false;
    }
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        if (model->arity[v] < 2) {
            return false;
        }
    }
    for (size_t i = 0; i < f->n_factors; ++i) {
        if (!stays(f, i)) {
            return false;
        }
    }
    const size_t n_entries = f->n_tables == 0 ? 0 : f->table_start[f->n_tables];
    return !gbsi_any_zero(f->table, n_entries, watch);
}

gbs_status gbsi_condition_whole(const gbs_model *model, gbsi_conditioned *c, gbsi_watch *watch,
                                gbs_error *err)
{
    const size_t n = model->n_variables;
    const uint32_t n_states = gbsi_largest(model->arity, n);
    c->borrows = true;
    c->n_variables = model->n_variables;
    c->arity = model->arity;
    c->state_offset = model->state_offset;
    c->factors = model->factors;
    c->cpt = model->cpt;
    c->topological = model->topological;
    c->has_zeros = gbsi_alloc_array_zero(model->factors.n_factors, sizeof *c->has_zeros);
    c->user_variable = gbsi_alloc_array(n, sizeof *c->user_variable);
    c->user_state = gbsi_alloc_array(n_states, sizeof *c->user_state);
    c->fixed_state = gbsi_alloc_array(n, sizeof *c->fixed_state);
    c->free_variable = c->user_variable;
    GBSI_PASS(GBSI_HAVE(err, "conditioned model", c->has_zeros, c->user_variable, c->user_state,
                        c->fixed_state));
    for (uint32_t v = 0; v < n; ++v) {
        c->user_variable[v] = v;
        if (gbsi_watch_spend(watch, 1)) {
            return gbsi_watch_fail(err, GBSI_CONDITIONING);
        }
    }
    for (uint32_t a = 0; a < n_states; ++a) {
        c->user_state[a] = a;
    }
    memset(c->fixed_state, 0xff, n * sizeof *c->fixed_state);
    return GBS_OK;
}
